/* The supervisor's loop: each call is answered once, whoever dies, waits or is interrupted. */
#include <check.h>
#include <dirent.h>
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

#include "tests/unit/carried.h"

Suite *suite_supervisor(void);

static struct carried t;

static size_t entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

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
	struct supervisor_counts n;
	size_t before;

	carried_handler = give;
	carried_init(&t, NULL);
	carried_start(&t, see_answers);
	before = entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	ck_assert_uint_eq(entries("/proc/self/fd"), before);
	supervisor_count(t.sup, &n);
	ck_assert_uint_eq(n.carried, 7);
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

/* --- what blocks ---------------------------------------------------------------------------------- */

static char fifo[80];

/* Opens a FIFO that nobody ever writes. */
static struct answer block(struct caller *c)
{
	int fd;

	if (c->arg[0] == 0)
		return answer_result(7);
	if (!caller_may_block(c))
		return answer_result(-EAGAIN);
	fd = open(fifo, O_RDONLY | O_CLOEXEC);
	return answer_fd(fd < 0 ? -errno : fd, true);
}

static int twenty_block(void)
{
	pid_t pids[20];

	for (int i = 0; i < 20; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit((int)-carried_call(1, 0, 0));
	}
	/* Others are served meanwhile. */
	for (int i = 0; i < 100; i++)
		if (carried_call(0, 0, 0) != 7)
			return 1;
	usleep(200000);
	for (int i = 0; i < 20; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return 0;
}

/* Threads before anybody blocked: the leader is one of them. */
static size_t threads_before;

static bool none_blocked(struct carried *s)
{
	bool none;

	pthread_mutex_lock(&s->sup->lock);
	none = s->sup->n_blocked == 0;
	pthread_mutex_unlock(&s->sup->lock);
	return none && entries("/proc/self/task") <= threads_before + IDLE_KEPT;
}

static void make_fifo(void)
{
	carried_handler = block;
	carried_init(&t, NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", t.dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
}

START_TEST(killed_readers_leave_no_thread)
{
	make_fifo();
	carried_start(&t, twenty_block);
	threads_before = entries("/proc/self/task");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, none_blocked);
	unlink(fifo);
	carried_done(&t);
}
END_TEST

static int fill_the_house(void)
{
	pid_t pids[BLOCKED_MAX];
	int status, refused = 0;

	for (int i = 0; i < BLOCKED_MAX; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit((int)-carried_call(1, 0, 0));
	}
	usleep(300000);
	refused = carried_call(1, 0, 0) == -EAGAIN;
	if (carried_call(0, 0, 0) != 7)
		return 1;
	for (int i = 0; i < BLOCKED_MAX; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		if (!WIFSIGNALED(status))
			return 2;
	}
	return refused ? 0 : 3;
}

START_TEST(the_house_is_full_at_64)
{
	make_fifo();
	carried_start(&t, fill_the_house);
	threads_before = entries("/proc/self/task");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, none_blocked);
	unlink(fifo);
	carried_done(&t);
}
END_TEST

/* --- what hangs ------------------------------------------------------------------------------------- */

static _Atomic bool released, was_valid;

/* As a dead file system: nothing interrupts it. */
static struct answer hang(struct caller *c)
{
	if (c->arg[0] == 0)
		return answer_result(7);
	while (!atomic_load(&released))
		usleep(1000);
	atomic_store(&was_valid, caller_alive(c));
	return answer_fd(open("/dev/null", O_RDONLY | O_CLOEXEC), true);
}

static void *hang_in_thread(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)carried_call(1, 0, 0);
}

static int hang_and_call(void)
{
	pthread_t thread;
	void *r;

	if (pthread_create(&thread, NULL, hang_in_thread, NULL) != 0)
		return 1;
	usleep(50000);
	for (int i = 0; i < 10; i++)
		if (carried_call(0, 0, 0) != 7)
			return 2;
	pthread_join(thread, &r);
	return (intptr_t)r == -EIO ? 0 : 3;
}

static bool is_idle(struct carried *s)
{
	for (int i = 0; i < WORKERS_MAX; i++)
		if (s->sup->workers[i].state != SLOT_IDLE)
			return false;
	return true;
}

START_TEST(what_hangs_is_answered_by_the_watchdog_alone)
{
	size_t before;

	released = false;
	was_valid = true;
	carried_handler = hang;
	carried_init(&t, NULL);
	carried_start(&t, hang_and_call);
	t.sup->patience = 20;
	before = entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	released = true;
	carried_until(&t, is_idle);
	ck_assert(!was_valid);
	ck_assert_uint_eq(entries("/proc/self/fd"), before);
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

static void hang_after(struct caller *c)
{
	while (c->arg[0] && !atomic_load(&released))
		usleep(1000);
}

static struct answer with_long_after(struct caller *c)
{
	struct answer a = answer_result(7);

	if (c->arg[0] == 2)
		atomic_store(&released, true);
	a.after = hang_after;
	return a;
}

static int call_behind_it(void)
{
	for (long i = 1; i <= 2; i++)
		if (carried_call(i, 0, 0) != 7)
			return 1;
	return 0;
}

START_TEST(a_leader_that_is_late_is_replaced)
{
	released = false;
	carried_handler = with_long_after;
	ck_assert_int_eq(carried_run(&t, call_behind_it), 0);
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
	supervisor_stop(t.sup);
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
	tcase_add_test(tc, killed_readers_leave_no_thread);
	tcase_add_test(tc, the_house_is_full_at_64);
	tcase_add_test(tc, what_hangs_is_answered_by_the_watchdog_alone);
	tcase_add_test(tc, after_is_called_when_the_call_waits_no_more);
	tcase_add_test(tc, a_leader_that_is_late_is_replaced);
	tcase_add_test(tc, after_the_end_it_is_enosys);
	suite_add_tcase(s, tc);
	return s;
}
