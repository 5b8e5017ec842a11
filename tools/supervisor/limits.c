/*
 * prlimit64(2) of another process: its limits are set where it belongs to the session.
 *
 * The filter lets through what a process asks of itself and what only reads, and refuses pale's own
 * processes.  What is left is performed here, not continued: between a verdict on a number and the
 * kernel's look at it, that number may become somebody else's.  A held /proc/PID tells afterwards that
 * it did not.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tools/supervisor/notify.h"
#include "tools/tools.h"

int task_hold(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -ESRCH : fd;
}

/* An open mem stands for the memory of the task that it was opened of, so nobody else's is written. */
static int write_back(struct caller *c, uint64_t addr, const struct rlimit64 *old)
{
	int dir = caller_proc(c);
	_cleanup_close_ int mem = dir < 0 ? dir : openat(dir, "mem", O_WRONLY | O_CLOEXEC);

	if (mem < 0)
		return -EFAULT;
	if (!caller_alive(c))
		return -ESRCH;
	return pwrite(mem, old, sizeof(*old), (off_t)addr) == (ssize_t)sizeof(*old) ? 0 : -EFAULT;
}

struct answer carry_prlimit(struct caller *c)
{
	const pid_t pid = (pid_t)c->arg[0];
	_cleanup_close_ int task = task_hold(pid);
	struct rlimit64 new = { 0 }, old;
	int r = task < 0 ? task : caller_read(c, c->arg[2], &new, sizeof(new));

	if (r < 0)
		return answer_result(r);
	if (!caller_reaches(c, pid))
		return answer_result(-EPERM);
	/* A side effect: the caller must still wait for it. */
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	if (syscall(SYS_prlimit64, pid, (unsigned)c->arg[1], &new, &old) < 0)
		return answer_result(-errno);
	if (faccessat(task, "stat", F_OK, 0) < 0)
		return answer_result(-ESRCH);
	return answer_result(c->arg[3] ? write_back(c, c->arg[3], &old) : 0);
}

unsigned limit_by_files(unsigned most, unsigned share)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur / share >= most)
		return most;
	return (unsigned)(files.rlim_cur / share);
}
