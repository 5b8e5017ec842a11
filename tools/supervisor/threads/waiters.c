/*
 * Those who wait in open(2): for the other end of a FIFO, for a lease to be given back.
 *
 * A worker stands there for each, and to the kernel it is the one who waits.  Whose caller was killed, or has
 * a signal that ends its open, must be gone as soon as the caller itself would have been: until then whoever
 * opens the other end is let through to nobody.  Two ways:
 *
 *   - a FIFO is opened for somebody only after those whose caller is gone were sent away.  Nobody can have
 *     seen a caller's end while its call still counts (NOTIF_ID_VALID): it takes the call back before it
 * exits.
 *   - who opens the other end without coming here is outrun: the main thread watches the callers' pidfds.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/tools.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/notify.h"

/* A signal that comes before the worker has reached open(2) is lost: so again, for a tenth of a second. */
#define ROUNDS	 5000
#define ROUND_NS 20000

bool worker_is_given_up(const struct worker *w)
{
	if (!listener_is_valid(w->sup, w->call.id))
		return true;
	return atomic_load(&w->opening) && task_has_signal(w->call.tid);
}

static enum slot_state send_away(struct worker *w)
{
	if (atomic_load(&w->opening) && worker_is_given_up(w)) {
		atomic_store(&w->sent_away, true);
		pthread_kill(w->thread, SIGNAL_GIVE_UP);
	}
	return SLOT_SERVING;
}

/* True while one is about to leave, or is being looked at by another thread. */
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

/* The descriptor stays the caller's until proc_put(), so what is taken out is what was put in. */
static void watch(struct caller *c, int what)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
	int pidfd = proc_pidfd(c);

	if (pidfd >= 0)
		(void)epoll_ctl(c->sup->waiters, what, pidfd, &e);
}

bool waiter_begin(struct caller *c)
{
	if (!caller_may_block(c))
		return false;
	atomic_store(&c->worker->sent_away, false);
	atomic_store(&c->worker->opening, true);
	watch(c, EPOLL_CTL_ADD);
	return true;
}

void waiter_end(struct caller *c)
{
	watch(c, EPOLL_CTL_DEL);
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
