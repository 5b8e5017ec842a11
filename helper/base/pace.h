/* The pace of a peer: how many messages it may send in a second; more than that are read later. */
#ifndef PALE_HELPER_PACE_H
#define PALE_HELPER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_PER_S 1000u
#define PACE_BURST 2000u

struct pace {
	unsigned left;	   /* messages that may be read now; the reader takes one off for each */
	uint64_t since_ns; /* time of the last pace_allows() that added to them */
};

/* True where a message of the peer may be read now. */
bool pace_allows(struct pace *p, uint64_t now_ns);

#endif
