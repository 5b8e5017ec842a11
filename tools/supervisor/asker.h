/*
 * Who asked for something that is served later, when no call of theirs waits any more: a look-up, a
 * datagram.  Private to tools/supervisor/.
 */
#ifndef PALE_ASKER_H
#define PALE_ASKER_H

#include "supervisor.h"

struct asker {
	pid_t tgid;
	uint32_t image; /* the number of what held there when the socket was made or connected */
	bool is_orphan;
};

/* Of a caller, whose image was found. */
struct asker asker_of(struct caller *c);
/*
 * A caller in their name, by which verdict_*() judges, asks, records and tells as for a call: what is read
 * of memory or descriptors through it fails with -ESRCH but for standard error; it is alive while the process
 * is.  `desk` is the worker whose scratch and memos it uses: one that serves nothing else, made by
 * desk_new().
 */
void asker_stand_in(struct caller *c, struct supervisor *s, const struct asker *who, struct worker *desk);

/* A worker without a thread, for one stand-in at a time.  NULL: no memory. */
struct worker *desk_new(struct supervisor *s);
void desk_free(struct worker *desk);

#endif
