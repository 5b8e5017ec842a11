/* Runs one question in a thread of its own, and reports its answer by a descriptor. */
#include "asking.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "policy/base/util.h"

#include "tools/base/thread.h"
#include "tools/supervisor/caller.h"

#include "workers.h"

#define STACK_SIZE  (256u << 10)
#define STOP_NAP_NS 2000000
#define STOP_ROUNDS 1000

static void on_over(struct loop_job *j)
{
	struct asking *a = CONTAINER_OF(j, struct asking, job);

	pthread_join(a->thread, NULL);
	desk_free(a->desk);
	a->heard(a);
}

static void *thread_main(void *arg)
{
	struct asking *a = arg;
	struct loop *loop = a->loop;
	struct caller c;

	asker_stand_in(&c, a->sup, &a->who, a->desk);
	a->ask(a, &c);
	atomic_store(&a->over, true);
	loop_post(loop, &a->job);
	return NULL;
}

int asking_begin(struct asking *a)
{
	int r;

	a->job.run = on_over;
	atomic_store(&a->over, false);
	a->desk = desk_new(a->sup);
	if (!a->desk)
		return -ENOMEM;
	r = thread_start(&a->thread, STACK_SIZE, SIGNAL_GIVE_UP, thread_main, a);
	if (r < 0)
		desk_free(a->desk);
	return r;
}

/* The thread may wait for the operator: once interrupted, it sees that the supervisor stops
 * (caller_alive()). */
bool asking_end(struct asking *a)
{
	const struct timespec nap = { .tv_nsec = STOP_NAP_NS };

	for (int i = 0; i < STOP_ROUNDS && !atomic_load(&a->over); i++) {
		pthread_kill(a->thread, SIGNAL_GIVE_UP);
		nanosleep(&nap, NULL);
	}
	if (!atomic_load(&a->over))
		return false;
	pthread_join(a->thread, NULL);
	desk_free(a->desk);
	return true;
}
