/*
 * Priority, schedule and processors of another process: they are set where it belongs to the session.
 *
 * The filter lets through what a process asks of itself by the number 0, and refuses pale's own
 * processes, groups and whole users.  What is left is performed here, not continued: between a verdict on a
 * number and the kernel's look at it, that number may become somebody else's.  A held /proc/PID tells
 * afterwards that it did not.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "tools/supervisor/notify.h"
#include "tools/supervisor/numbers.h"
#include "tools/tools.h"

/* As much of a set of processors as 8192 of them need; the kernel wants no more than it has. */
#define MASK_MAX 1024
/* Of struct sched_attr: what the first kernel that had it takes, and more than any has by now. */
#define ATTR_MIN 48
#define ATTR_MAX 256

/* One call as it will be made: what it points to was read once. */
struct schedule {
	pid_t pid;
	int nr;
	uint64_t arg[3];
	union {
		int priority; /* struct sched_param */
		uint32_t attr[ATTR_MAX / sizeof(uint32_t)];
		unsigned long mask[MASK_MAX / sizeof(unsigned long)];
	} of;
};

/* /proc/PID of a process or thread, O_PATH: gone once that is.  -ESRCH.  The caller closes it. */
static int task_hold(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -ESRCH : fd;
}

static int read_plain(struct caller *c, struct schedule *s)
{
	(void)c;
	s->pid = (pid_t)c->arg[1];
	return 0;
}

static int read_param(struct caller *c, struct schedule *s)
{
	unsigned at = s->nr == __NR_sched_setparam ? 1 : 2;
	int r = caller_read(c, c->arg[at], &s->of.priority, sizeof(s->of.priority));

	s->arg[at] = (uintptr_t)&s->of;
	return r;
}

static int read_attr(struct caller *c, struct schedule *s)
{
	uint32_t size;
	int r = caller_read(c, c->arg[1], &size, sizeof(size));

	if (r < 0)
		return r;
	if (size == 0)
		size = ATTR_MIN;
	if (size < ATTR_MIN || size > ATTR_MAX)
		return -E2BIG;
	r = caller_read(c, c->arg[1], &s->of, size);
	/* Read twice: the first answer is the one that was checked. */
	s->of.attr[0] = size;
	s->arg[1] = (uintptr_t)&s->of;
	return r;
}

static int read_mask(struct caller *c, struct schedule *s)
{
	size_t n = (uint32_t)c->arg[1] < MASK_MAX ? (uint32_t)c->arg[1] : MASK_MAX;

	s->arg[1] = n;
	s->arg[2] = (uintptr_t)&s->of;
	return caller_read(c, c->arg[2], &s->of, n);
}

static const struct {
	int nr;
	int (*read)(struct caller *c, struct schedule *s);
} calls[] = {
	{ __NR_setpriority, read_plain },    { __NR_ioprio_set, read_plain },
	{ __NR_sched_setparam, read_param }, { __NR_sched_setscheduler, read_param },
	{ __NR_sched_setattr, read_attr },   { __NR_sched_setaffinity, read_mask },
};

static int schedule_read(struct caller *c, struct schedule *s)
{
	s->nr = c->nr;
	s->pid = (pid_t)c->arg[0];
	memcpy(s->arg, c->arg, sizeof(s->arg));
	for (size_t i = 0; i < NELEM(calls); i++)
		if (calls[i].nr == c->nr)
			return calls[i].read(c, s);
	return -ENOSYS;
}

struct answer carry_schedule(struct caller *c)
{
	struct schedule s = { 0 };
	int r = schedule_read(c, &s);
	_cleanup_close_ int task = r < 0 ? -1 : task_hold(s.pid);

	if (r < 0 || task < 0)
		return answer_result(r < 0 ? r : task);
	if (!caller_reaches(c, s.pid))
		return answer_result(-EPERM);
	/* A side effect: the caller must still wait for it. */
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	if (syscall(s.nr, s.arg[0], s.arg[1], s.arg[2]) < 0)
		return answer_result(-errno);
	return answer_result(faccessat(task, "stat", F_OK, 0) < 0 ? -ESRCH : 0);
}
