/* The process that asks: its memory, directories, descriptors, and whose child it is. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/threads/workers.h"

Suite *suite_supervisor_caller(void);

static struct carried t;

enum look { LOOK_READ, LOOK_STRING, LOOK_DIR, LOOK_FD, LOOK_UMASK, LOOK_TGID, LOOK_TTY, LOOK_SCRATCH };

/* The inode of what fd is; fd is closed. */
static long inode_of(int fd)
{
	struct stat st;
	long r = fd;

	if (fd >= 0) {
		r = fstat(fd, &st) == 0 ? (long)(st.st_ino & 0x7fffffff) : -errno;
		close(fd);
	}
	return r;
}

static long sum_of_memory(struct caller *c)
{
	static uint8_t buf[3 * 4096];
	long sum = caller_read(c, c->arg[1], buf, c->arg[2]);

	for (size_t i = 0; sum >= 0 && i < c->arg[2]; i++)
		sum += buf[i];
	return sum;
}

static long scratch(struct caller *c)
{
	char *a = caller_scratch(c, 100), *b = caller_scratch(c, CALLER_SCRATCH - 4096);

	if (!a || !b || b < a + 100 || caller_scratch(c, 4096) || caller_scratch(c, SIZE_MAX))
		return -ENOMEM;
	memset(b, 1, CALLER_SCRATCH - 4096);
	return 0;
}

static long look(struct caller *c)
{
	static char text[LIMIT_PATH];

	switch ((enum look)c->arg[0]) {
	case LOOK_READ:
		return sum_of_memory(c);
	case LOOK_STRING:
		return caller_string(c, c->arg[1], text, c->arg[2]);
	case LOOK_DIR:
		return inode_of(caller_dir(c, (int)c->arg[1]));
	case LOOK_FD:
		return inode_of(caller_fd(c, (int)c->arg[1]));
	case LOOK_UMASK:
		return caller_umask(c);
	case LOOK_TGID:
		return caller_tgid(c);
	case LOOK_TTY:
		return (long)caller_tty(c);
	case LOOK_SCRATCH:
		return scratch(c);
	}
	return -EINVAL;
}

static struct answer answer_look(struct caller *c)
{
	return answer_result(look(c));
}

#define ARG(p)	    ((long)(intptr_t)(p))
#define PID_SECONDS 20

static void run(deed_fn deed)
{
	carried_handler = answer_look;
	ck_assert_int_eq(carried_run(&t, deed), 0);
	carried_done(&t);
}

/* --- memory -------------------------------------------------------------------------------------- */

/* Two pages, and nothing behind them. */
static char *two_pages(void)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 2 * 4096, 4096);
	return p;
}

static int read_memory(void)
{
	char *p = two_pages(), *end = p + 2 * 4096;

	memset(p, 1, 2 * 4096);
	EXPECT(carried_call(LOOK_READ, ARG(p), 8192) == 8192);
	EXPECT(carried_call(LOOK_READ, ARG(p + 4000), 200) == 200);
	EXPECT(carried_call(LOOK_READ, ARG(p), 8193) == -EFAULT);
	EXPECT(carried_call(LOOK_READ, ARG(end), 1) == -EFAULT);
	EXPECT(carried_call(LOOK_READ, 0, 1) == -EFAULT);
	EXPECT(carried_call(LOOK_READ, ARG(end), 0) == 0);
	EXPECT(carried_call(LOOK_READ, -1, 16) == -EFAULT);
	EXPECT(carried_call(LOOK_SCRATCH, 0, 0) == 0 && carried_call(LOOK_SCRATCH, 0, 0) == 0);
	return 0;
}

static int read_strings(void)
{
	char *p = two_pages(), *end = p + 2 * 4096;

	memset(p, 'x', 2 * 4096);
	end[-1] = '\0';
	/* Of every length, ending where the memory ends, and so at each place of a page. */
	for (long len = 0; len < 4095; len += len < 600 ? 1 : 97)
		EXPECT(carried_call(LOOK_STRING, ARG(end - 1 - len), 4096) == len);
	EXPECT(carried_call(LOOK_STRING, ARG(end - 1 - 4095), 4096) == 4095);
	EXPECT(carried_call(LOOK_STRING, ARG(end - 1 - 4096), 4096) == -ENAMETOOLONG);
	EXPECT(carried_call(LOOK_STRING, ARG(end - 1 - 10), 10) == -ENAMETOOLONG);
	EXPECT(carried_call(LOOK_STRING, ARG(end - 1 - 10), 11) == 10);
	end[-1] = 'x';
	EXPECT(carried_call(LOOK_STRING, ARG(end - 300), 4096) == -EFAULT);
	EXPECT(carried_call(LOOK_STRING, ARG(end), 4096) == -EFAULT);
	EXPECT(carried_call(LOOK_STRING, 0, 4096) == -EFAULT);
	/* Root may read what is not dumpable. */
	prctl(PR_SET_DUMPABLE, 0);
	EXPECT(geteuid() == 0 || carried_call(LOOK_STRING, ARG(p), 4096) == -EPERM);
	EXPECT(geteuid() == 0 || carried_call(LOOK_DIR, AT_FDCWD, 0) == -EACCES);
	return 0;
}

START_TEST(memory_is_read_whole_or_not)
{
	run(read_memory);
}
END_TEST

START_TEST(strings_end_anywhere)
{
	run(read_strings);
}
END_TEST

/* --- directories and descriptors -------------------------------------------------------------------- */

static long inode_at(const char *path)
{
	return inode_of(open(path, O_PATH | O_CLOEXEC));
}

static int look_at_files(void)
{
	int dir = open("/usr", O_RDONLY), file = open("/etc/passwd", O_RDONLY), pipes[2];

	EXPECT(pipe(pipes) == 0);
	EXPECT(chdir("/usr") == 0 && carried_call(LOOK_DIR, AT_FDCWD, 0) == inode_at("/usr"));
	EXPECT(chdir("/etc") == 0 && carried_call(LOOK_DIR, AT_FDCWD, 0) == inode_at("/etc"));
	EXPECT(carried_call(LOOK_DIR, dir, 0) == inode_at("/usr"));
	EXPECT(carried_call(LOOK_DIR, file, 0) == -ENOTDIR);
	EXPECT(carried_call(LOOK_DIR, pipes[0], 0) == -ENOTDIR);
	EXPECT(carried_call(LOOK_DIR, 999, 0) == -EBADF);
	EXPECT(carried_call(LOOK_DIR, -1, 0) == -EBADF);
	EXPECT(carried_call(LOOK_FD, file, 0) == inode_at("/etc/passwd"));
	EXPECT(carried_call(LOOK_FD, 999, 0) == -EBADF);
	EXPECT(carried_call(LOOK_FD, -1, 0) == -EBADF);
	umask(027);
	EXPECT(carried_call(LOOK_UMASK, 0, 0) == 027);
	umask(0777);
	EXPECT(carried_call(LOOK_UMASK, 0, 0) == 0777);
	setsid();
	EXPECT(carried_call(LOOK_TTY, 0, 0) == 0);
	return 0;
}

START_TEST(directories_and_descriptors_are_the_callers)
{
	run(look_at_files);
}
END_TEST

/* What a caller with descriptors of its own has as 100.  Before Linux 6.9 nobody can take a thread's own. */
static long apart_has(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, gettid(), O_EXCL); /* PIDFD_THREAD */

	if (pidfd < 0)
		return -EBADF;
	close(pidfd);
	return inode_at("/etc/passwd");
}

/* A thread with a working directory, a table of descriptors and a umask of its own. */
static void *live_apart(void *arg)
{
	int fd;

	(void)arg;
	if (unshare(CLONE_FILES | CLONE_FS) < 0 || chdir("/usr") < 0)
		return (void *)1;
	umask(011);
	fd = open("/etc/passwd", O_RDONLY);
	dup2(fd, 100);
	if (carried_call(LOOK_TGID, 0, 0) != getpid() || carried_call(LOOK_UMASK, 0, 0) != 011)
		return (void *)2;
	if (carried_call(LOOK_DIR, AT_FDCWD, 0) != inode_at("/usr"))
		return (void *)3;
	return carried_call(LOOK_FD, 100, 0) == apart_has() ? NULL : (void *)4;
}

static int look_from_threads(void)
{
	pthread_t thread;
	void *wrong;

	umask(022);
	for (int i = 0; i < 20; i++) {
		EXPECT(pthread_create(&thread, NULL, live_apart, NULL) == 0);
		pthread_join(thread, &wrong);
		EXPECT(wrong == NULL);
		EXPECT(carried_call(LOOK_FD, 100, 0) == -EBADF);
		EXPECT(carried_call(LOOK_UMASK, 0, 0) == 022);
	}
	return 0;
}

START_TEST(a_thread_may_live_apart)
{
	run(look_from_threads);
}
END_TEST

/* In a child, which is given this very pid where that is not 0; -EPERM where nobody may choose, -EAGAIN where
 * another got it. */
static int in_child(pid_t pid, deed_fn deed)
{
	int status, fd = -1;
	pid_t child;

	if (pid > 0) {
		fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
		if (fd < 0 || dprintf(fd, "%d", pid - 1) < 0)
			return -EPERM;
	}
	child = fork();
	if (child == 0)
		_exit(pid == 0 || getpid() == pid ? deed() : 0);
	if (fd >= 0)
		close(fd);
	waitpid(child, &status, 0);
	return pid > 0 && child != pid ? -EAGAIN : status;
}

static _Atomic pid_t *shared_pid;

static int first_owner(void)
{
	*shared_pid = getpid();
	EXPECT(chdir("/usr") == 0 && carried_call(LOOK_DIR, AT_FDCWD, 0) == inode_at("/usr"));
	EXPECT(dup2(open("/etc/passwd", O_RDONLY), 100) == 100);
	EXPECT(carried_call(LOOK_FD, 100, 0) == inode_at("/etc/passwd"));
	return 0;
}

static int second_owner(void)
{
	EXPECT(chdir("/etc") == 0 && carried_call(LOOK_DIR, AT_FDCWD, 0) == inode_at("/etc"));
	EXPECT(carried_call(LOOK_FD, 100, 0) == -EBADF);
	umask(013);
	EXPECT(carried_call(LOOK_UMASK, 0, 0) == 013);
	return 0;
}

static int second_owner_by_descriptor(void)
{
	EXPECT(dup2(open("/etc/group", O_RDONLY), 100) == 100);
	EXPECT(carried_call(LOOK_FD, 100, 0) == inode_at("/etc/group"));
	return 0;
}

/* One after the other under one pid, which only root may choose.  Whatever else the machine starts may come
 * in between, and does so more often the longer a fork takes: a number of tries would be none of time. */
static int one_pid(deed_fn first, deed_fn second)
{
	time_t until = time(NULL) + PID_SECONDS;
	int r;

	do {
		EXPECT(in_child(0, first) == 0);
		r = in_child(*shared_pid, second);
	} while (r == -EAGAIN && time(NULL) < until);
	return r;
}

/* A pid that comes again within one tick finds what was remembered of its former owner. */
static int reuse_a_pid(void)
{
	int r = one_pid(first_owner, second_owner);

	if (r < 0)
		return 77;
	EXPECT(r == 0);
	EXPECT(one_pid(first_owner, second_owner_by_descriptor) == 0);
	return 0;
}

START_TEST(a_pid_that_comes_again_is_another)
{
	int r;

	shared_pid = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	carried_handler = answer_look;
	r = carried_run(&t, reuse_a_pid);
	ck_assert(r == 0 || (r == 77 && geteuid() != 0));
	carried_done(&t);
}
END_TEST

Suite *suite_supervisor_caller(void)
{
	Suite *s = suite_create("supervisor_caller");
	TCase *tc = tcase_create("supervisor_caller");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, memory_is_read_whole_or_not);
	tcase_add_test(tc, strings_end_anywhere);
	tcase_add_test(tc, directories_and_descriptors_are_the_callers);
	tcase_add_test(tc, a_thread_may_live_apart);
	tcase_add_test(tc, a_pid_that_comes_again_is_another);
	suite_add_tcase(s, tc);
	return s;
}
