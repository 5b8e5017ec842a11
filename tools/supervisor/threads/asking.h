/*
 * The supervisor's threads: workers, callers that wait in open(2), and questions that no call waits for.
 *
 * A question to the operator that no call waits for: a thread of its own asks it in a process's name, and
 * the answer is handled in the loop's thread.  Private to inquiry.c and line_verdict.c.
 */
#ifndef PALE_ASKING_H
#define PALE_ASKING_H

#include <pthread.h>

#include "tools/base/loop.h"
#include "tools/supervisor/asker.h"

/* Memory of the owner, which must stay valid until heard() is called or asking_end() has returned true. */
struct asking {
	struct supervisor *sup;
	struct loop *loop;
	struct asker who;
	/* In the asking thread: asks as the stand-in *c, and may block. */
	void (*ask)(struct asking *a, struct caller *c);
	/* In the loop's thread after ask() has returned; *a may be used again. */
	void (*heard)(struct asking *a);
	/* Private to asking.c. */
	pthread_t thread;
	_Atomic bool over; /* the thread ends without further help */
	struct loop_job job;
	struct worker *desk;
};

/* In the loop's thread.  The fields before the private ones must be set.  0, or -errno: then heard() is not
 * called. */
int asking_begin(struct asking *a);
/* Called when the loop does not run any more and the supervisor stops: ends the thread and joins it,
 * bounded in time.  False: the thread did not end, and what it uses must stay allocated. */
bool asking_end(struct asking *a);

#endif
