/*
 * The process that asked for something that is served later, when its call has been answered: a look-up, a
 * datagram.  Private to tools/supervisor/.
 */
#ifndef PALE_ASKER_H
#define PALE_ASKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct caller;
struct supervisor;
struct worker;

struct asker {
	pid_t tgid;
	uint32_t image; /* the number of the image that held when the socket was made or connected */
	bool is_orphan;
};

/* The asker for a caller whose image was found. */
struct asker asker_of(struct caller *c);
/*
 * Sets up *c as a caller in the name of *who, for which verdict_*() judges, asks, records and reports as for
 * a call.  Reading its memory or descriptors fails with -ESRCH, except for standard error; it is alive while
 * the process is.  `desk` is a worker made by desk_new(), which serves no calls: its scratch memory and its
 * memos are used.
 */
void asker_stand_in(struct caller *c, struct supervisor *s, const struct asker *who, struct worker *desk);

/* A worker without a thread, for one stand-in at a time.  NULL: no memory. */
struct worker *desk_new(struct supervisor *s);
void desk_free(struct worker *desk);

#endif
