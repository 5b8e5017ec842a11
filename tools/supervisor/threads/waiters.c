/*
 * Callers that wait in open(2): for the other end of a FIFO, or for a lease to be given back.
 *
 * A worker waits in place of each caller, and to the kernel it is the worker that has the FIFO open.  When
 * the caller is killed, or has a signal that ends its open, its worker must leave the open(2) as early as
 * the caller itself would have: until then a process that opens the other end succeeds although no caller
 * is left.  Two ways:
 *
 *   - Before a FIFO is opened for a caller, the workers whose callers are gone are sent away.  No process
 *     can have seen a caller end while its call is still valid (NOTIF_ID_VALID), since the caller takes the
 *     call back before it exits.
 *
 *   - Against a process that opens the other end without coming here, the main thread watches the callers'
 *     pidfds.
 */
#include "waiters.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tools/supervisor/listener.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/procs.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/worker.h"

#include "workers.h"

/* A signal that comes before the worker has reached open(2) is lost, so it is sent again, for a tenth of a
 * second. */
#define ROUNDS	 5000
#define ROUND_NS 20000

bool worker_is_given_up(const struct worker *w)
{
	if (!listener_is_valid(w->sup, w->call.id))
		return true;
	return atomic_load(&w->opening) && task_has_signal(w->call.tid, SIGNALS_ALL);
}

static enum slot_state send_away(struct worker *w)
{
	if (atomic_load(&w->opening) && worker_is_given_up(w)) {
		atomic_store(&w->sent_away, true);
		pthread_kill(w->thread, SIGNAL_GIVE_UP);
	}
	return SLOT_SERVING;
}

/* True while a worker is about to leave, or another thread looks at it. */
static bool is_leaving(struct worker *w)
{
	if (!atomic_load(&w->opening))
		return false;
	worker_hold(w, SLOT_SERVING, send_away);
	return atomic_load(&w->opening) &&
	       (atomic_load(&w->sent_away) || atomic_load(&w->state) == SLOT_HELD);
}

void waiters_leave(struct supervisor *s, const struct worker *but)
{
	const struct timespec nap = { .tv_nsec = ROUND_NS };

	for (int i = 0; i < ROUNDS; i++) {
		bool leaving = false;

		for (size_t k = 0; k < atomic_load(&s->slots); k++)
			if (&s->workers[k] != but)
				leaving |= is_leaving(&s->workers[k]);
		if (!leaving)
			return;
		nanosleep(&nap, NULL);
	}
}

/* --- the pidfds --------------------------------------------------------------------------------------- */

/* The pidfd stays in the caller's entry until proc_put(), so the descriptor removed is the one that was
 * added. */
static void watch_caller(struct caller *c, int what)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
	int pidfd = proc_pidfd(c);

	if (pidfd >= 0)
		(void)epoll_ctl(c->sup->waiters, what, pidfd, &e);
}

bool waiter_begin(struct caller *c)
{
	if (!caller_may_wait(c))
		return false;
	atomic_store(&c->worker->sent_away, false);
	atomic_store(&c->worker->opening, true);
	watch_caller(c, EPOLL_CTL_ADD);
	return true;
}

void waiter_end(struct caller *c)
{
	watch_caller(c, EPOLL_CTL_DEL);
	atomic_store(&c->worker->opening, false);
}

bool waiter_stays(struct caller *c)
{
	return !worker_is_given_up(c->worker);
}

int supervisor_waiters(const struct supervisor *s)
{
	return s ? s->waiters : -1;
}
