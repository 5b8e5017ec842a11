/* What blocks holds up nobody, and what hangs is answered all the same. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/worker.h"

Suite *suite_supervisor_blocked(void);

static struct carried t;

/* --- what blocks ---------------------------------------------------------------------------------- */

static char fifo[80];

/* Opens a FIFO that nobody ever writes. */
static struct answer block(struct caller *c)
{
	int fd;

	if (c->arg[0] == 0)
		return answer_result(7);
	if (!(c->arg[0] == 2 ? caller_may_block(c) : caller_may_wait(c)))
		return answer_result(-EAGAIN);
	if (c->arg[0] == 2)
		return answer_result(8);
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
	return none && carried_entries("/proc/self/task") <= threads_before + IDLE_KEPT;
}

static void make_fifo(void)
{
	carried_handler = block;
	carried_init(&t, NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", t.dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
}

/* What the deed blocks at the FIFO leaves no thread blocked, and none too many. */
static void block_and_settle(deed_fn deed)
{
	make_fifo();
	carried_start(&t, deed);
	threads_before = carried_entries("/proc/self/task");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, none_blocked);
	unlink(fifo);
	carried_done(&t);
}

START_TEST(killed_readers_leave_no_thread)
{
	block_and_settle(twenty_block);
}
END_TEST

static int fill_the_house(void)
{
	pid_t pids[OPENING_MAX];
	int status, refused = 0;

	for (int i = 0; i < OPENING_MAX; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit((int)-carried_call(1, 0, 0));
	}
	usleep(300000);
	refused = carried_call(1, 0, 0) == -EAGAIN;
	if (carried_call(0, 0, 0) != 7)
		return 1;
	/* What may not wait for ever still finds a thread. */
	if (carried_call(2, 0, 0) != 8)
		return 4;
	for (int i = 0; i < OPENING_MAX; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		if (!WIFSIGNALED(status))
			return 2;
	}
	return refused ? 0 : 3;
}

START_TEST(the_house_is_full_at_64)
{
	block_and_settle(fill_the_house);
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
	before = carried_entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	released = true;
	carried_until(&t, is_idle);
	ck_assert(!was_valid);
	ck_assert_uint_eq(carried_entries("/proc/self/fd"), before);
	carried_done(&t);
}
END_TEST

/* --- what is late --- */

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

Suite *suite_supervisor_blocked(void)
{
	Suite *s = suite_create("supervisor_blocked");
	TCase *tc = tcase_create("supervisor_blocked");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, killed_readers_leave_no_thread);
	tcase_add_test(tc, the_house_is_full_at_64);
	tcase_add_test(tc, what_hangs_is_answered_by_the_watchdog_alone);
	tcase_add_test(tc, a_leader_that_is_late_is_replaced);
	suite_add_tcase(s, tc);
	return s;
}
