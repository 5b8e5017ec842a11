/*
 * One thread waits for all connections that take their time, and for data (epoll(7) on the duplicates), and
 * answers, or hands the call to a worker.
 *
 * It notices what a thread that blocks in connect(2) would miss: that a signal waits for the caller (after
 * WAIT_KILLABLE_RECV, Linux 5.19, only fatal ones end the wait), or that it died.
 */
#include "waiting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "tools/base/thread.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"

#include "lobby.h"

#define STACK_SIZE (128u << 10)
#define LOOK_NS	   (50u * NS_PER_MS) /* the longest delay until a signal is noticed */
#define LOOK_MAX   128		     /* calls looked at in one round, so a thousand take a few rounds */

/* --- the thread --------------------------------------------------------------------------------------- */

static struct waiting *take_out(struct supervisor *s, struct waiting **at)
{
	struct waiting *w = *at;

	*at = w->next;
	/* The caller has the same open file, so it would stay watched after our descriptor is closed. */
	(void)epoll_ctl(s->lobby->ready, EPOLL_CTL_DEL, w->fd, NULL);
	atomic_fetch_sub(&s->lobby->n, 1);
	return w;
}

static void conclude_waiting(struct supervisor *s, struct waiting **at, int r)
{
	waiting_conclude(s, take_out(s, at), r);
}

/* Hands the call to a worker if there is something for it.  False: not yet. */
static bool hand_on(struct supervisor *s, struct waiting **at, uint64_t now)
{
	struct waiting *w = *at;

	if (!w->is_served || (!w->is_ready && now < w->again))
		return false;
	(void)take_out(s, at);
	/* From here on the worker owns it. */
	if (workers_resume(s, w))
		return true;
	w->is_ready = false;
	w->again = now + AGAIN_MAX;
	w->next = *at;
	*at = w;
	atomic_fetch_add(&s->lobby->n, 1);
	return false;
}

static void watch_waiting(struct supervisor *s, struct waiting *w, int what)
{
	struct epoll_event e = { .events = w->events | EPOLLONESHOT, .data.ptr = w };

	/* A listener without room cannot be watched: the connect is only tried again. */
	if (w->again == NEVER)
		(void)epoll_ctl(s->lobby->ready, what, w->fd, &e);
}

/* The error with which the wait ends early, or 0. */
static int why_not(struct supervisor *s, const struct waiting *w)
{
	if (waiting_guard(s, w) < 0)
		return -ECONNREFUSED;
	if (w->is_guard)
		return 0;
	if (!listener_is_valid(s, w->id))
		return -EINTR;
	if (task_has_signal(w->tid, SIGNALS_ALL))
		/* With a time limit the kernel returns EINTR in every case (sock_intr_errno). */
		return w->end == NEVER ? -ERESTARTSYS : -EINTR;
	return 0;
}

/* The state of the attempt; -EALREADY while it goes on. */
static int progress(struct supervisor *s, struct waiting *w, uint64_t now)
{
	int r = -EALREADY;

	if (!w->is_served && (w->is_ready || now >= w->again))
		r = waiting_try(s, w);
	if (r != -EALREADY)
		return r;
	if (now >= w->end)
		return w->first;
	if (w->is_ready)
		watch_waiting(s, w, EPOLL_CTL_MOD);
	w->is_ready = false;
	if (w->again != NEVER && now >= w->again) {
		w->nap = w->nap * 2 < AGAIN_MAX ? w->nap * 2 : AGAIN_MAX;
		w->again = now + w->nap;
	}
	return r;
}

static void take_inbox(struct supervisor *s)
{
	struct lobby *l = s->lobby;
	struct waiting *w, *next;

	pthread_mutex_lock(&l->lock);
	w = l->inbox;
	l->inbox = NULL;
	pthread_mutex_unlock(&l->lock);
	for (; w; w = next) {
		next = w->next;
		w->next = l->all;
		l->all = w;
		watch_waiting(s, w, EPOLL_CTL_ADD);
	}
}

/* The earliest time at which an attempt must be tried again or reaches its limit. */
static uint64_t first_due(const struct lobby *l, uint64_t due)
{
	for (const struct waiting *w = l->all; w; w = w->next) {
		due = w->end < due ? w->end : due;
		due = w->again < due ? w->again : due;
	}
	return due;
}

static void await(struct supervisor *s, uint64_t due)
{
	uint64_t now = clock_awake_ns(), rings;
	struct epoll_event ready[64];
	int ms = due == NEVER ? -1 : due <= now ? 0 : (int)((due - now + NS_PER_MS - 1) / NS_PER_MS);
	int n = epoll_wait(s->lobby->ready, ready, NELEM(ready), ms);

	for (int i = 0; i < n; i++) {
		struct waiting *w = ready[i].data.ptr;

		if (w)
			w->is_ready = true;
		else
			(void)!read(s->lobby->bell, &rings, sizeof(rings));
	}
}

/* Looks whether the next few callers are gone or have a signal; each turn goes on where the last one
 * ended. */
static void look_around(struct supervisor *s, unsigned *turn)
{
	struct waiting **at = &s->lobby->all;
	unsigned n = 0, looked = 0;

	for (; *at && n < *turn; n++)
		at = &(*at)->next;
	while (*at && looked++ < LOOK_MAX) {
		int r = why_not(s, *at);

		if (r < 0) {
			conclude_waiting(s, at, r);
		} else {
			at = &(*at)->next;
			n++;
		}
	}
	*turn = *at ? n : 0;
}

static bool is_stopping(struct lobby *l)
{
	bool stopping;

	pthread_mutex_lock(&l->lock);
	stopping = l->stopping;
	pthread_mutex_unlock(&l->lock);
	return stopping;
}

static void *thread_main(void *arg)
{
	struct supervisor *s = arg;
	struct lobby *l = s->lobby;
	uint64_t look = 0, now;
	unsigned turn = 0;

	while (!is_stopping(l)) {
		struct waiting **at = &l->all;

		await(s, l->all ? first_due(l, look) : NEVER);
		take_inbox(s);
		now = clock_awake_ns();
		while (*at) {
			int r;

			if (hand_on(s, at, now))
				continue;
			r = progress(s, *at, now);
			if (r == -EALREADY && now < (*at)->end)
				at = &(*at)->next;
			else
				conclude_waiting(s, at, r);
		}
		if (now >= look) {
			look_around(s, &turn);
			look = now + LOOK_NS;
		}
	}
	return NULL;
}

/* --- for other files -------------------------------------------------------------------------------- */

int lobby_new(struct supervisor *s)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct lobby *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	s->lobby = l;
	pthread_mutex_init(&l->lock, NULL);
	l->ready = epoll_create1(EPOLL_CLOEXEC);
	l->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->ready >= 0 && l->bell >= 0)
		(void)epoll_ctl(l->ready, EPOLL_CTL_ADD, l->bell, &e);
	return 0;
}

/* Under the lock.  True where the thread runs. */
static bool thread_stands(struct supervisor *s)
{
	struct lobby *l = s->lobby;

	if (l->stopping || l->ready < 0 || l->bell < 0)
		return false;
	if (l->runs)
		return true;
	l->runs = thread_start(&l->thread, STACK_SIZE, SIGNAL_GIVE_UP, thread_main, s) == 0;
	return l->runs;
}

static void ring(struct lobby *l)
{
	const uint64_t one = 1;

	(void)!write(l->bell, &one, sizeof(one));
}

void waiting_begin(struct supervisor *s, struct waiting *w)
{
	struct lobby *l = s->lobby;
	bool ok;

	pthread_mutex_lock(&l->lock);
	ok = thread_stands(s);
	if (ok) {
		w->next = l->inbox;
		l->inbox = w;
		atomic_fetch_add(&l->n, 1);
	}
	pthread_mutex_unlock(&l->lock);
	if (ok) {
		ring(l);
		return;
	}
	waiting_conclude(s, w, -EAGAIN);
}

void lobby_tick(struct supervisor *s)
{
	struct lobby *l = s->lobby;
	unsigned trying = atomic_load(&l->trying);

	if (trying % 2 == 1 && trying == l->tried)
		pthread_kill(l->thread, SIGNAL_GIVE_UP);
	l->tried = trying;
}

static void drop_all(struct waiting *w)
{
	for (struct waiting *next; w; w = next) {
		next = w->next;
		waiting_drop(w);
	}
}

void lobby_stop(struct supervisor *s)
{
	struct lobby *l = s->lobby;

	pthread_mutex_lock(&l->lock);
	l->stopping = true;
	pthread_mutex_unlock(&l->lock);
	if (l->runs) {
		ring(l);
		pthread_kill(l->thread, SIGNAL_GIVE_UP);
		pthread_join(l->thread, NULL);
	}
	drop_all(l->inbox);
	drop_all(l->all);
	l->inbox = l->all = NULL;
	if (l->bell >= 0)
		close(l->bell);
	if (l->ready >= 0)
		close(l->ready);
	l->bell = l->ready = -1;
	l->runs = false;
}

void lobby_done(struct supervisor *s)
{
	pthread_mutex_destroy(&s->lobby->lock);
	free(s->lobby);
}
