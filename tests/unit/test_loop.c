/* The loop: descriptors, jobs of other threads, timers in order, and what was taken away is never told. */
#include <check.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/loop.h"

Suite *suite_loop(void);

#define MS 1000000ull

static struct loop *loop;
static int pipes[2][2];

static void setup(void)
{
	ck_assert_int_eq(loop_start(&loop), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pipe(pipes[i]), 0);
}

static void teardown(void)
{
	loop_stop(loop);
	for (int i = 0; i < 2; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static bool comes(const _Atomic int *what, int value)
{
	for (int i = 0; i < 5000 && atomic_load(what) != value; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return atomic_load(what) == value;
}

/* --- descriptors and jobs --------------------------------------------------------------------------- */

static _Atomic int told, ran;
static struct loop_watch watches[2];

/* Both are readable at once: who comes first takes the other away. */
static void on_ready(struct loop_watch *w, uint32_t events)
{
	ck_assert(events & EPOLLIN);
	loop_unwatch(loop, &watches[0]);
	loop_unwatch(loop, &watches[1]);
	(void)w;
	atomic_fetch_add(&told, 1);
}

static void on_job(struct loop_job *j)
{
	(void)j;
	atomic_fetch_add(&ran, 1);
}

/* In the loop's thread, so that both are there when it looks. */
static void on_watch(struct loop_job *j)
{
	for (int i = 0; i < 2; i++) {
		watches[i] = (struct loop_watch){ .fd = pipes[i][0], .ready = on_ready };
		ck_assert_int_eq(loop_watch(loop, &watches[i], EPOLLIN), 0);
	}
	(void)j;
}

START_TEST(unwatched_is_not_told)
{
	struct loop_job begin = { .run = on_watch }, job = { .run = on_job };

	atomic_store(&told, 0);
	atomic_store(&ran, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(write(pipes[i][1], "x", 1), 1);
	loop_post(loop, &begin);
	ck_assert(comes(&told, 1));
	loop_post(loop, &job);
	ck_assert(comes(&ran, 1));
	ck_assert_int_eq(atomic_load(&told), 1);
}
END_TEST

/* --- timers ------------------------------------------------------------------------------------------- */

struct alarm {
	struct loop_timer timer;
	uint64_t ms;
	int place;
};
static struct alarm alarms[] = { { .ms = 40 }, { .ms = 0 }, { .ms = 4500 }, { .ms = 20 }, { .ms = 41 } };
#define ALARMS (sizeof(alarms) / sizeof(alarms[0]))
static _Atomic int fired;
static uint64_t started;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void on_alarm(struct loop_timer *t)
{
	struct alarm *a = (struct alarm *)(void *)t;

	ck_assert_uint_ge(now_ns() - started, a->ms * MS);
	a->place = atomic_fetch_add(&fired, 1) + 1;
	/* What is cleared never fires. */
	if (a->ms == 20)
		loop_timer_clear(loop, &alarms[0].timer);
}

static void set_alarms(struct loop_job *j)
{
	(void)j;
	started = now_ns();
	for (size_t i = 0; i < ALARMS; i++) {
		alarms[i].timer.fire = on_alarm;
		loop_timer_set(loop, &alarms[i].timer, 1);
		loop_timer_set(loop, &alarms[i].timer, alarms[i].ms * MS);
	}
}

/* The third comes more than a lap of the wheel later. */
START_TEST(timers_in_order)
{
	struct loop_job job = { .run = set_alarms };

	atomic_store(&fired, 0);
	loop_post(loop, &job);
	ck_assert(comes(&fired, 3));
	ck_assert_uint_lt(now_ns() - started, 2000 * MS);
	ck_assert(comes(&fired, 4));
	ck_assert_int_eq(alarms[1].place, 1);
	ck_assert_int_eq(alarms[3].place, 2);
	ck_assert_int_eq(alarms[4].place, 3);
	ck_assert_int_eq(alarms[2].place, 4);
	ck_assert_int_eq(alarms[0].place, 0);
}
END_TEST

Suite *suite_loop(void)
{
	Suite *s = suite_create("loop");
	TCase *c = tcase_create("loop");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 20);
	tcase_add_test(c, unwatched_is_not_told);
	tcase_add_test(c, timers_in_order);
	suite_add_tcase(s, c);
	return s;
}
