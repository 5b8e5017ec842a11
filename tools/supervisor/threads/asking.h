/*
 * The supervisor's threads: workers, callers that wait in open(2), and questions that no call waits for.
 *
 * A human's word that no call waits for: asked in a process's name by a thread of its own, and heard in the
 * loop's.  Private to inquiry.c and line_verdict.c.
 */
#ifndef PALE_ASKING_H
#define PALE_ASKING_H

#include <pthread.h>

#include "tools/base/loop.h"
#include "tools/supervisor/asker.h"

/* The owner's memory, which stays where it is until the word is heard or asking_end() has said true. */
struct asking {
	struct supervisor *sup;
	struct loop *loop;
	struct asker who;
	/* In the thread: asks as the stand-in *c, and may block. */
	void (*ask)(struct asking *a, struct caller *c);
	/* In the loop's thread once ask() is over; *a is free again. */
	void (*heard)(struct asking *a);
	/* asking.c's own. */
	pthread_t thread;
	_Atomic bool over; /* the thread ends by itself from here on */
	struct loop_job job;
	struct worker *desk;
};

/* In the loop's thread.  What stands before asking.c's own is set.  0 or -errno: then nothing is heard. */
int asking_begin(struct asking *a);
/* The loop runs no more and the supervisor is stopping: ends the thread and joins it.  Bounded in time.
 * False: it would not end, and what it uses must stay. */
bool asking_end(struct asking *a);

#endif
