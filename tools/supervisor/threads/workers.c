/*
 * The supervisor's threads: leader and followers (Schmidt et al., POSA 2).
 *
 * Exactly one thread leads: it waits for a call and serves it to its end.  There is no hand-over on the
 * way, since a call takes only some 20 microseconds.  A thread that is going to block passes the lead on
 * first, and becomes idle when it is done.
 *
 * A signal that gives up a blocked system call is only ever sent while the thread's slot is held, so it can
 * only interrupt the intended call: the signal is pending before the slot moves on, and is delivered before
 * any later call is received.
 */
#include "workers.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "policy/base/util.h"

#include "tools/base/thread.h"
#include "tools/supervisor/supervisor.h"

#define STACK_SIZE     (256u << 10)
#define TIMER_SLACK_NS 1000ul

/* The threads are interrupted repeatedly, at growing intervals: most end at the first time. */
#define STOP_NAP_MIN_NS 20000
#define STOP_NAP_MAX_NS 2000000
#define STOP_NS		2000000000

static void on_give_up(int sig)
{
	(void)sig;
}

/* --- the slot ---------------------------------------------------------------------------------------- */

bool worker_move(struct worker *w, enum slot_state from, enum slot_state to)
{
	int seen = (int)from;

	while (!atomic_compare_exchange_weak(&w->state, &seen, (int)to)) {
		if (seen == SLOT_HELD)
			sched_yield();
		else if (seen != (int)from)
			return false;
		seen = (int)from;
	}
	return true;
}

void worker_hold(struct worker *w, enum slot_state from, enum slot_state (*act)(struct worker *w))
{
	int seen = (int)from;

	if (atomic_compare_exchange_strong(&w->state, &seen, SLOT_HELD))
		atomic_store(&w->state, (int)act(w));
}

/* --- a thread's life ---------------------------------------------------------------------------------- */

/* Its own umask and working directory (unshare(2) CLONE_FS needs no privilege). */
static int thread_prepare(struct worker *w)
{
	w->spent = false;
	/* Otherwise a nap of 20 us takes 70 (PR_SET_TIMERSLACK(2const)). */
	(void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	if (unshare(CLONE_FS) < 0 || chdir("/") < 0)
		return -errno;
	if (!w->notif)
		w->notif = calloc(1, w->sup->sizes.seccomp_notif);
	if (!w->resp)
		w->resp = calloc(1, w->sup->sizes.seccomp_notif_resp);
	return w->notif && w->resp ? 0 : -ENOMEM;
}

/* Waits until the thread leads, or has a call to serve again.  False: there are too many idle threads, or
 * the supervisor stops. */
static bool wait_for_work(struct worker *w)
{
	struct supervisor *s = w->sup;
	bool works;

	pthread_mutex_lock(&s->lock);
	if (s->leader != w->index && !w->resumed && !s->stopping && s->n_idle < IDLE_KEPT) {
		w->idle = true;
		s->n_idle++;
		while (w->idle && !s->stopping)
			pthread_cond_wait(&w->wake, &s->lock);
		if (w->idle)
			s->n_idle--;
		w->idle = false;
	}
	works = w->resumed || (s->leader == w->index && !s->stopping);
	if (!works)
		w->runs = false;
	pthread_mutex_unlock(&s->lock);
	return works;
}

/* Serves the call that was handed to this worker, if any. */
static void resume(struct worker *w, int prepared)
{
	struct waiting *v;

	pthread_mutex_lock(&w->sup->lock);
	v = TAKE_PTR(w->resumed);
	pthread_mutex_unlock(&w->sup->lock);
	if (!v)
		return;
	if (prepared == 0 && !atomic_load(&w->sup->stopping)) {
		w->sup->work->resume(w, v);
		return;
	}
	w->sup->work->abandon(w->sup, v);
	workers_unblock(w);
}

static void resign(struct worker *w)
{
	struct supervisor *s = w->sup;

	pthread_mutex_lock(&s->lock);
	if (s->leader == w->index)
		s->leader = LEADER_NONE;
	pthread_mutex_unlock(&s->lock);
}

/* The thread ends: it has passed the lead on before it was spent. */
static void retire(struct worker *w)
{
	pthread_mutex_lock(&w->sup->lock);
	w->runs = false;
	pthread_mutex_unlock(&w->sup->lock);
}

static void *thread_main(void *arg)
{
	struct worker *w = arg;
	struct supervisor *s = w->sup;
	int r = thread_prepare(w);

	if (r < 0)
		resign(w);
	while (!w->spent && wait_for_work(w)) {
		resume(w, r);
		while (r == 0 && !w->spent && atomic_load(&s->leader) == w->index &&
		       !atomic_load(&s->stopping))
			r = s->work->serve(w);
		if (r < 0)
			resign(w);
	}
	if (w->spent)
		retire(w);
	return NULL;
}

/* Under s->lock.  The slot has no thread, or its last one has ended or is about to. */
static int thread_make(struct worker *w)
{
	int r;

	if (w->joined)
		pthread_join(w->thread, NULL);
	w->joined = false;
	r = thread_start(&w->thread, STACK_SIZE, SIGNAL_GIVE_UP, thread_main, w);
	w->runs = w->joined = r == 0;
	return r;
}

/* --- the leader ------------------------------------------------------------------------------------- */

/* Under s->lock: a slot that was never used, or NULL. */
static struct worker *slot_make(struct supervisor *s)
{
	size_t i = atomic_load(&s->slots);
	struct worker *w = &s->workers[i];

	if (i == NELEM(s->workers))
		return NULL;
	w->sup = s;
	w->index = (int)i;
	proc_init(&w->own);
	pthread_cond_init(&w->wake, NULL);
	atomic_store(&s->slots, i + 1);
	return w;
}

/* Under s->lock: an idle worker, or one without a thread; NULL: not found. */
static struct worker *find_free_worker(struct supervisor *s)
{
	struct worker *spare = NULL;

	for (size_t i = 0; i < atomic_load(&s->slots); i++) {
		struct worker *w = &s->workers[i];

		if (w->idle)
			return w;
		if (!w->runs && !spare)
			spare = w;
	}
	return spare ? spare : slot_make(s);
}

/* Under s->lock: wakes a worker that find_free() returned, or makes its thread. */
static int rouse(struct worker *w)
{
	if (!w->idle)
		return thread_make(w);
	w->idle = false;
	w->sup->n_idle--;
	pthread_cond_signal(&w->wake);
	return 0;
}

/* Under s->lock: makes an idle thread the leader, or a new one. */
static int promote(struct supervisor *s)
{
	struct worker *w = find_free_worker(s);
	int before = s->leader, r;

	if (!w)
		return -EAGAIN;
	s->leader = w->index;
	r = rouse(w);
	if (r < 0)
		s->leader = before;
	return r;
}

int workers_start(struct supervisor *s, const struct work *work)
{
	struct sigaction sa = { .sa_handler = on_give_up };
	int r;

	s->work = work;
	sigfillset(&sa.sa_mask);
	if (sigaction(SIGNAL_GIVE_UP, &sa, NULL) < 0)
		return -errno;
	pthread_mutex_lock(&s->lock);
	r = promote(s);
	pthread_mutex_unlock(&s->lock);
	return r;
}

bool workers_replace(struct supervisor *s, int index)
{
	bool ok = true;

	pthread_mutex_lock(&s->lock);
	if (s->leader == index && !s->stopping)
		ok = promote(s) == 0;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

static bool take_place(struct caller *c, unsigned most)
{
	struct worker *w = c->worker;
	struct supervisor *s = c->sup;
	bool ok;

	if (w->blocked)
		return true;
	pthread_mutex_lock(&s->lock);
	ok = s->n_blocked < most && !s->stopping;
	if (ok && s->leader == w->index)
		ok = promote(s) == 0;
	if (ok) {
		w->blocked = true;
		s->n_blocked++;
	}
	pthread_mutex_unlock(&s->lock);
	return ok;
}

bool caller_may_block(struct caller *c)
{
	return take_place(c, BLOCKED_MAX);
}

bool caller_may_wait(struct caller *c)
{
	return take_place(c, OPENING_MAX);
}

bool workers_resume(struct supervisor *s, struct waiting *v)
{
	struct worker *w = NULL;
	bool ok = false;

	pthread_mutex_lock(&s->lock);
	if (s->n_blocked < BLOCKED_MAX && !s->stopping)
		w = find_free_worker(s);
	if (w) {
		w->resumed = v;
		w->blocked = true;
		ok = rouse(w) == 0;
		w->blocked = ok;
		s->n_blocked += ok;
		if (!ok)
			w->resumed = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void workers_unblock(struct worker *w)
{
	if (!w->blocked)
		return;
	pthread_mutex_lock(&w->sup->lock);
	w->blocked = false;
	w->sup->n_blocked--;
	pthread_mutex_unlock(&w->sup->lock);
}

/* --- the end ------------------------------------------------------------------------------------------- */

static enum slot_state kick_idle(struct worker *w)
{
	pthread_kill(w->thread, SIGNAL_GIVE_UP);
	return SLOT_IDLE;
}

static enum slot_state kick_serving(struct worker *w)
{
	pthread_kill(w->thread, SIGNAL_GIVE_UP);
	return SLOT_SERVING;
}

/* Interrupts the threads that still run; returns their number. */
static size_t kick_all(struct supervisor *s)
{
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < atomic_load(&s->slots); i++) {
		struct worker *w = &s->workers[i];

		if (!w->runs)
			continue;
		n++;
		pthread_cond_signal(&w->wake);
		worker_hold(w, SLOT_IDLE, kick_idle);
		worker_hold(w, SLOT_SERVING, kick_serving);
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

size_t workers_stop(struct supervisor *s)
{
	struct timespec nap = { .tv_nsec = STOP_NAP_MIN_NS };
	long napped = 0;
	size_t left;

	atomic_store(&s->stopping, true);
	(void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	while ((left = kick_all(s)) > 0 && napped < STOP_NS) {
		nanosleep(&nap, NULL);
		napped += nap.tv_nsec;
		if (nap.tv_nsec < STOP_NAP_MAX_NS)
			nap.tv_nsec *= 2;
	}
	for (size_t i = 0; i < atomic_load(&s->slots); i++)
		if (!s->workers[i].runs && s->workers[i].joined) {
			pthread_join(s->workers[i].thread, NULL);
			s->workers[i].joined = false;
		}
	return left;
}

/* --- memory of a call --- */

void *caller_scratch(struct caller *c, size_t size)
{
	struct worker *w = c->worker;
	size_t need = (size + 15) & ~(size_t)15;

	if (!w->scratch)
		w->scratch = malloc(CALLER_SCRATCH);
	if (!w->scratch || size > CALLER_SCRATCH || need > CALLER_SCRATCH - w->scratch_used)
		return NULL;
	w->scratch_used += need;
	return w->scratch + w->scratch_used - need;
}
