/* One connection of an operator. */
#ifndef PALE_HELPER_CONTROL_PEER_H
#define PALE_HELPER_CONTROL_PEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet {
	struct packet *next;
	size_t len;
	char bytes[];
};

struct peer {
	uint64_t serial;
	int pidfd; /* of the process that connected, open until the connection ends */
	unsigned scopes;
	bool approvals, records;      /* subscribed */
	struct packet *first, **last; /* what the socket has not taken yet */
	size_t queued;		      /* bytes */
	uint64_t stuck_ns;	      /* since when the socket takes nothing; 0: it takes data */
	uint64_t lost;		      /* records that were not sent to it */
	bool broken;		      /* to be dropped with the next tick */
};

/* Takes over pidfd; NULL where memory is out (pidfd is closed then, too). */
struct peer *peer_new(uint64_t serial, int pidfd);
/* Sends text or queues it.  0, or -errno where the peer must be dropped. */
int peer_send(struct peer *p, int fd, const char *text, size_t len);
/* The same for a JSON value, which is released. */
int peer_send_json(struct peer *p, int fd, json_t *j);
/* Tells a subscriber to records how many of them it missed (log/lost), if any.  0 or -errno. */
int peer_tell_lost(struct peer *p, int fd);
/* Sends what is queued, as far as the socket takes it.  0 or -errno. */
int peer_flush(struct peer *p, int fd);
/* True where the peer reads nothing for too long, or its socket is broken. */
bool peer_is_stuck(const struct peer *p, uint64_t now_ns);
void peer_free(struct peer *p);

#endif
