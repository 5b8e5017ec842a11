/*
 * epoll(7) for descriptors, an eventfd(2) for jobs of other threads, a hashed wheel for timers (Varghese
 * and Lauck, 1987): setting or clearing a timer costs the same however many there are.
 */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "thread.h"

#define STACK_SIZE (256u << 10)
#define BATCH	   64

/* A slot is a little less than 17 ms wide, a lap of the wheel a little more than four seconds. */
#define SLOT_SHIFT 24
#define SLOTS	   256u

struct loop {
	pthread_t thread;
	int epoll, wake;
	_Atomic bool stopping;
	pthread_mutex_t lock;
	struct loop_job *first, **last; /* under lock */
	/* Used by the loop's thread only. */
	struct epoll_event batch[BATCH];
	int n_batch, at_batch;
	uint64_t turned; /* the wheel's slots before this one, counted from the clock's zero, are done */
	size_t n_timers;
	uint64_t used[SLOTS / 64]; /* bits of slots that may hold timers */
	struct loop_timer *wheel[SLOTS];
};

/* --- timers ----------------------------------------------------------------------------------------- */

void loop_timer_clear(struct loop *l, struct loop_timer *t)
{
	if (!t->at)
		return;
	*t->at = t->next;
	if (t->next)
		t->next->at = t->at;
	t->at = NULL;
	t->next = NULL;
	l->n_timers--;
}

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t ns)
{
	uint64_t now = clock_awake_ns();
	unsigned slot;

	loop_timer_clear(l, t);
	t->due_ns = ns > UINT64_MAX / 2 ? UINT64_MAX / 2 : now + ns;
	/* An empty wheel does not turn. */
	if (l->n_timers == 0)
		l->turned = now >> SLOT_SHIFT;
	slot = (t->due_ns >> SLOT_SHIFT) % SLOTS;
	t->next = l->wheel[slot];
	t->at = &l->wheel[slot];
	if (t->next)
		t->next->at = &t->next;
	l->wheel[slot] = t;
	l->used[slot / 64] |= 1ull << slot % 64;
	l->n_timers++;
}

/* A timer of this slot that is due, unlinked. */
static struct loop_timer *take_due(struct loop *l, unsigned slot, uint64_t now)
{
	for (struct loop_timer *t = l->wheel[slot]; t; t = t->next)
		if (t->due_ns <= now) {
			loop_timer_clear(l, t);
			return t;
		}
	return NULL;
}

/* A callback may set and clear any timer, so the slot is searched again after each. */
static void fire_timers(struct loop *l)
{
	uint64_t now = clock_awake_ns(), end = now >> SLOT_SHIFT;
	uint64_t from = end - l->turned < SLOTS ? l->turned : end - SLOTS + 1;
	struct loop_timer *t;

	for (uint64_t i = from; i <= end && l->n_timers > 0; i++) {
		unsigned slot = i % SLOTS;

		if (!(l->used[slot / 64] >> slot % 64 & 1))
			continue;
		while ((t = take_due(l, slot, now)))
			t->fire(t);
		if (!l->wheel[slot])
			l->used[slot / 64] &= ~(1ull << slot % 64);
	}
	l->turned = end;
}

/* The earliest time in a slot that is due within `lap`, or the end of the lap. */
static uint64_t slot_due(const struct loop *l, unsigned slot, uint64_t lap)
{
	for (const struct loop_timer *t = l->wheel[slot]; t; t = t->next)
		if (t->due_ns < lap)
			lap = t->due_ns;
	return lap;
}

/* How long to sleep, in ms and rounded up; -1: until something happens. */
static int sleep_ms(struct loop *l)
{
	uint64_t now, due;

	if (l->n_timers == 0)
		return -1;
	now = clock_awake_ns();
	due = (l->turned + SLOTS) << SLOT_SHIFT;
	for (uint64_t i = l->turned; i < l->turned + SLOTS; i++) {
		unsigned slot = i % SLOTS;

		if (!(l->used[slot / 64] >> slot % 64 & 1))
			continue;
		due = slot_due(l, slot, due);
		if (due >> SLOT_SHIFT == i)
			break;
	}
	return due <= now ? 0 : (int)((due - now + 999999) / 1000000);
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

static void wake(struct loop *l)
{
	const uint64_t one = 1;

	(void)!write(l->wake, &one, sizeof(one));
}

void loop_post(struct loop *l, struct loop_job *j)
{
	bool was_empty;

	j->next = NULL;
	pthread_mutex_lock(&l->lock);
	was_empty = !l->first;
	*l->last = j;
	l->last = &j->next;
	pthread_mutex_unlock(&l->lock);
	if (was_empty)
		wake(l);
}

static void run_jobs(struct loop *l)
{
	struct loop_job *list, *next;
	uint64_t count;

	(void)!read(l->wake, &count, sizeof(count));
	pthread_mutex_lock(&l->lock);
	list = TAKE_PTR(l->first);
	l->last = &l->first;
	pthread_mutex_unlock(&l->lock);
	for (; list && !atomic_load(&l->stopping); list = next) {
		next = list->next;
		list->run(list);
	}
}

/* --- descriptors --------------------------------------------------------------------------------------- */

static int control(struct loop *l, int what, struct loop_watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	return epoll_ctl(l->epoll, what, w->fd, &e) < 0 ? -errno : 0;
}

int loop_watch(struct loop *l, struct loop_watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_ADD, w, events);
}

int loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_MOD, w, events);
}

void loop_unwatch(struct loop *l, struct loop_watch *w)
{
	(void)control(l, EPOLL_CTL_DEL, w, 0);
	/* Drops events of w that epoll_wait() has returned already. */
	for (int i = l->at_batch; i < l->n_batch; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
}

static void take_events(struct loop *l)
{
	bool jobs = false;

	l->n_batch = epoll_wait(l->epoll, l->batch, BATCH, sleep_ms(l));
	for (l->at_batch = 0; l->at_batch < l->n_batch && !atomic_load(&l->stopping);) {
		const struct epoll_event *e = &l->batch[l->at_batch++];
		struct loop_watch *w = e->data.ptr;

		if ((void *)w == l)
			jobs = true;
		else if (w)
			w->ready(w, e->events);
	}
	l->n_batch = 0;
	if (jobs)
		run_jobs(l);
}

/* --- the thread ---------------------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct loop *l = arg;

	while (!atomic_load(&l->stopping)) {
		take_events(l);
		if (!atomic_load(&l->stopping) && l->n_timers > 0)
			fire_timers(l);
	}
	return NULL;
}

static void loop_free(struct loop *l)
{
	if (l->epoll >= 0)
		close(l->epoll);
	if (l->wake >= 0)
		close(l->wake);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

int loop_start(struct loop **ret)
{
	struct loop *l = calloc(1, sizeof(*l));
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };
	int r = 0;

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	l->last = &l->first;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->epoll < 0 || l->wake < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) < 0)
		r = -errno;
	if (r == 0)
		r = thread_start(&l->thread, STACK_SIZE, 0, thread_main, l);
	if (r < 0) {
		loop_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

void loop_end(struct loop *l)
{
	if (atomic_exchange(&l->stopping, true))
		return;
	wake(l);
	pthread_join(l->thread, NULL);
}

void loop_stop(struct loop *l)
{
	if (!l)
		return;
	loop_end(l);
	loop_free(l);
}
