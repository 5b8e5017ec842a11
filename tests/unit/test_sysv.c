/* System V IPC: the session's own keys and ids, and nobody else's. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/ipc/sysv.h"
#include "tools/supervisor/supervisor.h"

Suite *suite_sysv(void);

#define KEY 0x70616c65

/* What CONTINUE comes to here: the child's own group, as getpgid(0) has it. */
enum deed {
	GET_SHM,
	GET_SEM,
	GET_MSG,
	USE_SHM,
	USE_SEM,
	CONTROL_SHM,
	CONTROL_SEM,
	PRIORITY,
	IOPRIO,
	PARAM,
	SCHEDULER,
	ATTR,
	AFFINITY
};

static struct carried t;
static uint32_t image;
static bool orphan;

static const struct {
	int nr;
	struct answer (*serve)(struct caller *c);
} calls[] = {
	[GET_SHM] = { SYS_shmget, carry_ipc_get },
	[GET_SEM] = { SYS_semget, carry_ipc_get },
	[GET_MSG] = { SYS_msgget, carry_ipc_get },
	[USE_SHM] = { SYS_shmat, carry_ipc_use },
	[USE_SEM] = { SYS_semop, carry_ipc_use },
	[CONTROL_SHM] = { SYS_shmctl, carry_ipc_control },
	[CONTROL_SEM] = { SYS_semctl, carry_ipc_control },
	[PRIORITY] = { SYS_setpriority, carry_schedule },
	[IOPRIO] = { SYS_ioprio_set, carry_schedule },
	[PARAM] = { SYS_sched_setparam, carry_schedule },
	[SCHEDULER] = { SYS_sched_setscheduler, carry_schedule },
	[ATTR] = { SYS_sched_setattr, carry_schedule },
	[AFFINITY] = { SYS_sched_setaffinity, carry_schedule },
};

#define CONTINUED 1000000

/* args[0]: the call and, above it, the image; the call's own arguments behind. */
static struct answer serve(struct caller *c)
{
	uint64_t which = c->arg[0];
	struct answer a;

	memmove(c->arg, c->arg + 1, 5 * sizeof(c->arg[0]));
	c->nr = calls[which & 0xff].nr;
	c->image_number = (uint32_t)(which >> 8 & 0xff);
	c->is_orphan = which >> 16 & 1;
	a = calls[which & 0xff].serve(c);
	return a.kind == ANSWER_CONTINUE ? answer_result(CONTINUED) : a;
}

static long call(enum deed deed, long a, long b, long c, long d)
{
	long r = syscall(SYS_getpgid, (long)deed | (long)image << 8 | (long)orphan << 16, a, b, c, d);

	return r < 0 ? -errno : r;
}

static long make_shm(int key, size_t size, int flags)
{
	return call(GET_SHM, key, (long)size, flags, 0);
}

/* --- keys ----------------------------------------------------------------------------------------- */

static int use_keys(void)
{
	long id;

	EXPECT(make_shm(KEY, 100, 0600) == -ENOENT);
	id = make_shm(KEY, 100, IPC_CREAT | 0600);
	EXPECT(id >= 0);
	EXPECT(make_shm(KEY, 100, IPC_CREAT | IPC_EXCL | 0600) == -EEXIST);
	EXPECT(make_shm(KEY, 100, IPC_CREAT | 0600) == id && make_shm(KEY, 0, 0) == id);
	EXPECT(make_shm(KEY, 10000, 0) == -EINVAL);
	EXPECT(geteuid() == 0 || make_shm(KEY, 100, 0700) == -EACCES);
	EXPECT(make_shm(IPC_PRIVATE, 100, 0600) != id);
	/* Another kind has keys of its own, and nobody outside sees this one. */
	EXPECT(call(GET_SEM, KEY, 1, 0, 0) == -ENOENT && call(GET_MSG, KEY, 0, 0, 0) == -ENOENT);
	EXPECT(shmget(KEY, 0, 0) < 0 && errno == ENOENT);
	EXPECT(call(CONTROL_SHM, id, IPC_RMID, 0, 0) == 0);
	EXPECT(make_shm(KEY, 100, 0600) == -ENOENT);
	return 0;
}

START_TEST(keys_are_the_sessions)
{
	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, use_keys), 0);
	carried_done(&t);
}
END_TEST

/* --- ids ------------------------------------------------------------------------------------------ */

static int foreign;

static int use_foreign_ids(void)
{
	EXPECT(call(USE_SHM, foreign, 0, 0, 0) == -EACCES);
	EXPECT(call(CONTROL_SHM, foreign, IPC_STAT, 0, 0) == -EACCES);
	EXPECT(call(CONTROL_SHM, foreign, IPC_RMID, 0, 0) == -EACCES);
	EXPECT(call(CONTROL_SHM, 0, SHM_STAT, 0, 0) == -EACCES && call(CONTROL_SHM, 0, 15, 0, 0) == -EACCES);
	EXPECT(call(CONTROL_SHM, 0, 0x100 | IPC_INFO, 0, 0) == -EACCES);
	EXPECT(call(CONTROL_SHM, 0, SHM_INFO, 0, 0) == CONTINUED);
	/* By its number another kind's. */
	EXPECT(call(USE_SEM, foreign, 0, 0, 0) < 0);
	EXPECT(call(USE_SHM, 0x7ffffff0, 0, 0, 0) == -EINVAL);
	return 0;
}

START_TEST(foreign_ids_are_nobodys)
{
	struct ring_record r;
	bool told = false;

	foreign = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	ck_assert_int_ge(foreign, 0);
	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, use_foreign_ids), 0);
	while (carried_record(&t, &r))
		told = told || (r.verdict == VERDICT_DENY && r.reason == REASON_PROCESS);
	ck_assert(told);
	carried_done(&t);
	ck_assert_int_eq(shmctl(foreign, IPC_RMID, NULL), 0);
}
END_TEST

static int use_own_ids(void)
{
	long shm = make_shm(IPC_PRIVATE, 100, 0600), sem = call(GET_SEM, IPC_PRIVATE, 1, 0600, 0);
	void *at = shmat((int)shm, NULL, 0);

	EXPECT(shm >= 0 && sem >= 0 && at != (void *)-1);
	EXPECT(call(USE_SHM, shm, 0, 0, 0) == CONTINUED && call(USE_SEM, sem, 0, 0, 0) == CONTINUED);
	EXPECT(call(USE_SHM, 1l << 32 | shm, 0, 0, 0) == CONTINUED);
	EXPECT(call(CONTROL_SEM, sem, 0, SETVAL, 1) == CONTINUED);
	EXPECT(call(CONTROL_SEM, sem, 0, IPC_RMID, 0) == 0);
	EXPECT(call(USE_SEM, sem, 0, 0, 0) < 0);
	/* A segment lives on while it is attached, and no longer. */
	EXPECT(call(CONTROL_SHM, shm, IPC_RMID, 0, 0) == 0);
	EXPECT(call(USE_SHM, shm, 0, 0, 0) == CONTINUED);
	EXPECT(shmdt(at) == 0);
	EXPECT(call(USE_SHM, shm, 0, 0, 0) == -EINVAL);
	return 0;
}

START_TEST(own_ids_are_the_kernels_to_use)
{
	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, use_own_ids), 0);
	carried_done(&t);
}
END_TEST

/* --- runs within runs ----------------------------------------------------------------------------- */

static int use_from_nested(void)
{
	long outer = make_shm(KEY, 100, IPC_CREAT | 0600), inner, lost;

	image = 1;
	EXPECT(make_shm(KEY, 100, 0) == -ENOENT && call(USE_SHM, outer, 0, 0, 0) == -EACCES);
	inner = make_shm(KEY, 100, IPC_CREAT | 0600);
	EXPECT(inner >= 0 && inner != outer);
	image = 2;
	EXPECT(call(USE_SHM, inner, 0, 0, 0) == -EACCES);
	orphan = true;
	EXPECT(call(USE_SHM, inner, 0, 0, 0) == -EACCES && call(USE_SHM, outer, 0, 0, 0) == -EACCES);
	lost = make_shm(KEY, 100, IPC_CREAT | 0600);
	EXPECT(lost >= 0 && call(USE_SHM, lost, 0, 0, 0) == CONTINUED);
	orphan = false;
	EXPECT(call(USE_SHM, lost, 0, 0, 0) == -EACCES);
	image = 0;
	EXPECT(call(USE_SHM, inner, 0, 0, 0) == CONTINUED && make_shm(KEY, 100, 0) == outer);
	return 0;
}

START_TEST(a_nested_run_has_its_own)
{
	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, use_from_nested), 0);
	carried_done(&t);
}
END_TEST

/* --- how many, and the end ------------------------------------------------------------------------ */

static int fill(void)
{
	long last = 0;
	int n = 0;

	while ((last = call(GET_SEM, IPC_PRIVATE, 1, 0600, 0)) >= 0)
		n++;
	EXPECT(last == -ENOSPC && n == IPC_MAX);
	return 0;
}

static size_t n_semaphores(void)
{
	struct seminfo info;

	(void)semctl(0, 0, SEM_INFO, &info);
	return (size_t)info.semusz; /* sets */
}

START_TEST(no_more_than_so_many_and_none_is_left)
{
	size_t had = n_semaphores();

	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, fill), 0);
	ck_assert_uint_ge(n_semaphores(), had + IPC_MAX);
	/* Somebody outside removed one: its place is free again. */
	ck_assert_int_eq(semctl(t.sup->ipc->list[3].id, 0, IPC_RMID), 0);
	carried_done(&t);
	ck_assert_uint_le(n_semaphores(), had + 8);
}
END_TEST

/* --- priorities and schedules ------------------------------------------------------------------------ */

/* Each of the calls about pid: the first error, or 0. */
static long schedule(pid_t pid)
{
	const long r[] = { call(PRIORITY, PRIO_PROCESS, pid, 7, 0),
			   call(IOPRIO, 1, pid, 3 << 13, 0),
			   call(PARAM, pid, 0, 0, 0),
			   call(SCHEDULER, pid, SCHED_BATCH, 0, 0),
			   call(AFFINITY, pid, 0, 0, 0),
			   call(ATTR, pid, 0, 0, 0) };

	for (size_t i = 1; i < sizeof(r) / sizeof(r[0]); i++)
		if (r[i] != r[0])
			return -1000 - (long)i;
	return r[0];
}

static int schedule_others(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		pause();
		_exit(0);
	}
	EXPECT(schedule(getppid()) == -EPERM && schedule(1) == -EPERM && schedule(0x7fffff) == -EPERM);
	EXPECT(schedule(-1) == -EPERM && schedule(child) == -EPERM);
	EXPECT(schedule(getpid()) == CONTINUED);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 0;
}

START_TEST(schedules_of_oneself_alone)
{
	carried_handler = serve;
	ck_assert_int_eq(carried_run(&t, schedule_others), 0);
	carried_done(&t);
}
END_TEST

Suite *suite_sysv(void)
{
	Suite *s = suite_create("sysv");
	TCase *tc = tcase_create("ipc");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, keys_are_the_sessions);
	tcase_add_test(tc, foreign_ids_are_nobodys);
	tcase_add_test(tc, own_ids_are_the_kernels_to_use);
	tcase_add_test(tc, a_nested_run_has_its_own);
	tcase_add_test(tc, no_more_than_so_many_and_none_is_left);
	tcase_add_test(tc, schedules_of_oneself_alone);
	suite_add_tcase(s, tc);
	return s;
}
