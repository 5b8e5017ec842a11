/* Workers: started, one of them made the leader, interrupted, joined. */
#ifndef PALE_WORKERS_H
#define PALE_WORKERS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/supervisor/worker.h"

struct caller;
struct supervisor;
struct waiting;

#define BLOCKED_MAX 80 /* of WORKERS_MAX threads, those that wait for something outside */
#define OPENING_MAX 64 /* of these, so that an exec finds a thread where many opens wait */
#define IDLE_KEPT   2

/* Interrupts a system call in which a worker blocks; not used for anything else. */
#define SIGNAL_GIVE_UP (SIGRTMIN + 3)

/*
 * Memory of this thread, valid for the length of the call: not cleared, and freed automatically.  NULL when
 * more than CALLER_SCRATCH bytes are used in total, which has room for the longest command line and for
 * what five scripts, one the interpreter of the other, make of it.
 */
#define CALLER_SCRATCH (12u << 20)
void *caller_scratch(struct caller *c, size_t size);

/* What follows may block: passes the lead on.  False where too many calls block already: answer EAGAIN. */
bool caller_may_block(struct caller *c);
/* The same for what may wait as long as another process pleases. */
bool caller_may_wait(struct caller *c);

/* What the threads do; given by the module that starts them. */
struct work {
	/* Receives and serves one call; -errno where no more calls will come. */
	int (*serve)(struct worker *w);
	/* Serves a call that was received before, and consumes v. */
	void (*resume)(struct worker *w, struct waiting *v);
	/* Answers such a call with EIO without serving it, and consumes v. */
	void (*abandon)(struct supervisor *s, struct waiting *v);
};

/* Makes the first leader.  0 or -errno. */
int workers_start(struct supervisor *s, const struct work *work);
/* Makes another worker the leader in place of `index` (or LEADER_NONE).  False where no worker is
 * available. */
bool workers_replace(struct supervisor *s, int index);
/* A worker that waits for nothing else serves w's call again, and consumes w.  False: no such worker. */
bool workers_resume(struct supervisor *s, struct waiting *w);
/* w's call is over. */
void workers_unblock(struct worker *w);
/* Ends the threads and joins them, bounded in time.  Returns the number that did not end. */
size_t workers_stop(struct supervisor *s);
/* Holds w's slot if it is in state `from`: the slot does not change while `act` runs, which returns the
 * next state. */
void worker_hold(struct worker *w, enum slot_state from, enum slot_state (*act)(struct worker *w));
/* Moves w's slot to another state, and waits while it is held; false where it is not in state `from`. */
bool worker_move(struct worker *w, enum slot_state from, enum slot_state to);

#endif
