/* The supervisor's loop: each call is answered once, whoever dies, waits or is interrupted. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/serve/notify.h"
#include "tools/supervisor/supervisor.h"

Suite *suite_supervisor(void);

static struct carried t;

/* --- answers ------------------------------------------------------------------------------------ */

enum { GIVE_VALUE, GIVE_ERRNO, GIVE_ZERO, GIVE_CONTINUE, GIVE_FD, GIVE_FD_CLOEXEC };

static struct answer give(struct caller *c)
{
	switch (c->arg[0]) {
	case GIVE_VALUE:
		return answer_result((long)c->arg[1]);
	case GIVE_ERRNO:
		return answer_result(-(long)c->arg[1]);
	case GIVE_CONTINUE:
		return answer_continue();
	case GIVE_FD:
		return answer_fd(open("/dev/zero", O_RDONLY | O_CLOEXEC), false);
	case GIVE_FD_CLOEXEC:
		return answer_fd(open("/dev/zero", O_RDONLY | O_CLOEXEC), true);
	default:
		return (struct answer){ 0 };
	}
}

static int see_answers(void)
{
	long fd, cloexec_fd;
	char byte = 1;

	if (carried_call(GIVE_VALUE, 0x123456789, 0) != 0x123456789)
		return 1;
	if (carried_call(GIVE_ERRNO, EXDEV, 0) != -EXDEV || carried_call(GIVE_ZERO, 0, 0) != -EPERM)
		return 2;
	/* Continued, the kernel takes GIVE_CONTINUE for a pid, and nobody's is that. */
	if (carried_call(GIVE_CONTINUE, 0, 0) == GIVE_CONTINUE)
		return 3;
	fd = carried_call(GIVE_FD, 0, 0);
	if (fd < 0 || read((int)fd, &byte, 1) != 1 || byte != 0 || fcntl((int)fd, F_GETFD) != 0)
		return 4;
	cloexec_fd = carried_call(GIVE_FD_CLOEXEC, 0, 0);
	if (cloexec_fd <= fd || fcntl((int)cloexec_fd, F_GETFD) != FD_CLOEXEC)
		return 5;
	if (syscall(SYS_getsid, 0) != -1 || errno != ENOSYS)
		return 6;
	return 0;
}

START_TEST(every_kind_of_answer)
{
	size_t before;

	carried_handler = give;
	carried_init(&t, NULL);
	carried_start(&t, see_answers);
	before = carried_entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	ck_assert_uint_eq(carried_entries("/proc/self/fd"), before);
	ck_assert_uint_eq(atomic_load(&t.sup->carried), 7);
	carried_done(&t);
}
END_TEST

static int fill_descriptors(void)
{
	struct rlimit limit = { 8, 8 };

	setrlimit(RLIMIT_NOFILE, &limit);
	while (dup(0) >= 0)
		;
	if (carried_call(GIVE_FD, 0, 0) != -EMFILE)
		return 1;
	close(7);
	return carried_call(GIVE_FD, 0, 0) == 7 ? 0 : 2;
}

START_TEST(a_full_table_is_told)
{
	carried_handler = give;
	ck_assert_int_eq(carried_run(&t, fill_descriptors), 0);
	carried_done(&t);
}
END_TEST

/* --- many --------------------------------------------------------------------------------------- */

#define MANY 1000

static _Atomic unsigned served;

static struct answer give_tid(struct caller *c)
{
	atomic_fetch_add(&served, 1);
	return answer_result(c->tid);
}

static void *ask_own_tid(void *arg)
{
	(void)arg;
	return carried_call(0, 0, 0) == gettid() ? NULL : (void *)1;
}

static int ask_from_many(void)
{
	pthread_t threads[MANY];
	pthread_attr_t small;
	void *wrong;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32 << 10);
	for (int i = 0; i < MANY; i++)
		if (pthread_create(&threads[i], &small, ask_own_tid, NULL) != 0)
			return 1;
	for (int i = 0; i < MANY; i++) {
		pthread_join(threads[i], &wrong);
		if (wrong)
			return 2;
	}
	return 0;
}

START_TEST(a_thousand_threads_get_their_own)
{
	served = 0;
	carried_handler = give_tid;
	ck_assert_int_eq(carried_run(&t, ask_from_many), 0);
	ck_assert_uint_eq(served, MANY);
	carried_done(&t);
}
END_TEST

/* --- signals ------------------------------------------------------------------------------------ */

#define STORM_CALLS 3000

static unsigned *done_by_child;

static void on_alarm(int sig)
{
	(void)sig;
}

/* An EINTR must mean that nothing was done, so it may be tried again. */
static int call_in_a_storm(void)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	long r;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < STORM_CALLS; i++) {
		while ((r = carried_call(0, 0, 0)) == -EINTR)
			;
		if (r != gettid())
			return 1;
		++*done_by_child;
	}
	return 0;
}

START_TEST(nothing_is_done_twice_in_a_storm)
{
	done_by_child = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	served = 0;
	carried_handler = give_tid;
	ck_assert_int_eq(carried_run(&t, call_in_a_storm), 0);
	ck_assert_uint_eq(*done_by_child, STORM_CALLS);
	ck_assert_uint_eq(served, STORM_CALLS);
	carried_done(&t);
}
END_TEST

/* --- death ---------------------------------------------------------------------------------------- */

#define VICTIMS 600

/* Killed before it is received, while it is served, while the descriptor is put into it. */
static int kill_at_any_time(void)
{
	for (int i = 0; i < VICTIMS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			while (carried_call(i % 2 ? GIVE_FD : GIVE_FD_CLOEXEC, 0, 0) >= 0 || errno == EMFILE)
				close(i % 16 + 3);
		usleep((useconds_t)(i * 7 % 1500));
		kill(pid, SIGKILL);
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return carried_call(GIVE_VALUE, 5, 0) == 5 ? 0 : 2;
}

START_TEST(the_killed_leave_nothing_behind)
{
	size_t before;

	carried_handler = give;
	carried_init(&t, NULL);
	carried_start(&t, kill_at_any_time);
	before = carried_entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	ck_assert_uint_eq(carried_entries("/proc/self/fd"), before);
	carried_done(&t);
}
END_TEST

/* --- after, and the end ------------------------------------------------------------------------------- */

static _Atomic int told_after;

static void note_after(struct caller *c)
{
	atomic_store(&told_after, caller_alive(c) ? -1 : c->tid);
}

static struct answer with_after(struct caller *c)
{
	struct answer a = answer_result(c->tid);

	a.after = note_after;
	return a;
}

static int call_once(void)
{
	return carried_call(0, 0, 0) == getpid() ? 0 : 1;
}

static bool was_told(struct carried *s)
{
	return told_after == s->child;
}

START_TEST(after_is_called_when_the_call_waits_no_more)
{
	told_after = 0;
	carried_handler = with_after;
	ck_assert_int_eq(carried_run(&t, call_once), 0);
	carried_until(&t, was_told);
	carried_done(&t);
}
END_TEST

static int see_the_end(void)
{
	long r;

	while ((r = carried_call(0, 0, 0)) == getpid())
		;
	return r == -ENOSYS ? 0 : 1;
}

START_TEST(after_the_end_it_is_enosys)
{
	int status;

	carried_handler = give_tid;
	carried_init(&t, NULL);
	carried_start(&t, see_the_end);
	carried_go(&t);
	usleep(50000);
	(void)supervisor_stop(t.sup);
	ck_assert_int_eq(waitpid(t.child, &status, 0), t.child);
	ck_assert_int_eq(status, 0);
}
END_TEST

Suite *suite_supervisor(void)
{
	Suite *s = suite_create("supervisor");
	TCase *tc = tcase_create("supervisor");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_kind_of_answer);
	tcase_add_test(tc, a_full_table_is_told);
	tcase_add_test(tc, a_thousand_threads_get_their_own);
	tcase_add_test(tc, nothing_is_done_twice_in_a_storm);
	tcase_add_test(tc, the_killed_leave_nothing_behind);
	tcase_add_test(tc, after_is_called_when_the_call_waits_no_more);
	tcase_add_test(tc, after_the_end_it_is_enosys);
	suite_add_tcase(s, tc);
	return s;
}
