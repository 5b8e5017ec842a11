/* Reads the files of a process in /proc: stat and status. */
#include "procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "policy/programs/mark.h"
#include "policy/system/cleanup.h"

int procstat_open(int dir, pid_t pid, const char *name)
{
	char path[48];
	int fd;

	if (dir >= 0) {
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int read_of(int dir, pid_t pid, const char *name, char *buf, size_t size)
{
	_cleanup_close_ int fd = procstat_open(dir, pid, name);
	ssize_t n = fd < 0 ? fd : read(fd, buf, size - 1);

	if (fd < 0)
		return fd;
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n > 0 ? 0 : -ESRCH;
}

/* Converts the kernel's 32-bit form of a device number (new_encode_dev) to that of libc. */
static dev_t tty_device(uint32_t nr)
{
	return nr ? makedev(nr >> 8 & 0xfff, (nr & 0xff) | (nr >> 12 & 0xfff00)) : 0;
}

int stat_read(int dir, pid_t pid, struct stat_fields *ret)
{
	char buf[1024], *p, *end;
	int r = read_of(dir, pid, "stat", buf, sizeof(buf));

	if (r < 0)
		return r;
	/* The program's name may contain any byte; fields are counted from its closing parenthesis:
	 * proc(5). */
	p = strrchr(buf, ')');
	if (!p || strlen(p) < 4)
		return -EPROTO;
	p += 3; /* state */
	for (int field = 4; field <= 22; field++) {
		long long v = strtoll(p + 1, &end, 10);

		if (end == p + 1)
			return -EPROTO;
		p = end;
		if (field == 4)
			ret->ppid = (pid_t)v;
		else if (field == 5)
			ret->group = (pid_t)v;
		else if (field == 7)
			ret->tty = tty_device((uint32_t)v);
		else if (field == 9)
			ret->flags = (unsigned)v;
		else if (field == 22)
			ret->start = (uint64_t)v;
	}
	return 0;
}

uint64_t start_of(pid_t pid)
{
	struct stat_fields f;

	return stat_read(-1, pid, &f) == 0 ? f.start : 0;
}

long status_number(int dir, pid_t pid, const char *key, int base)
{
	char buf[4096];
	const char *p;
	int r = read_of(dir, pid, "status", buf, sizeof(buf));

	if (r < 0)
		return r;
	p = strstr(buf, key);
	return p ? strtol(p + strlen(key), NULL, base) : -ENOENT;
}

/* --- the session --- */

/* The number of filters of a process (Linux 5.9): a process of the session has at least one more than the
 * supervisor, and no process ever loses one. */
static long filters(pid_t pid)
{
	return status_number(-1, pid, "\nSeccomp_filters:", 10);
}

bool pid_descends_from(pid_t pid, pid_t above)
{
	struct stat_fields f;

	for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		if (pid == above)
			return true;
		if (stat_read(-1, pid, &f) < 0)
			return false;
		pid = f.ppid;
	}
	return pid == above;
}

/* No process of the session can change this limit of its own. */
static bool is_outside(pid_t pid)
{
	struct rlimit mark;

	return prlimit(pid, MARK_RESOURCE, NULL, &mark) == 0 && mark.rlim_cur == MARK_OUTSIDE;
}

bool session_has_pid(pid_t pid)
{
	const pid_t self = getpid();

	return pid > 0 && filters(pid) > filters(self) && !is_outside(pid) && pid_descends_from(pid, self);
}

/* --- signals ----------------------------------------------------------------------------------------- */

/* The number in a line of DIR/status, or 0 where the line is missing. */
static uint64_t status_word(const char *status, const char *key, int base)
{
	const char *line = strstr(status, key);

	return line ? strtoull(line + strlen(key), NULL, base) : 0;
}

/* True where the process is stopped as a whole.  Only the state of its first thread is read; the other
 * threads stop too. */
static bool is_stopped(pid_t tgid)
{
	char status[4096];
	const char *state =
		read_of(-1, tgid, "status", status, sizeof(status)) < 0 ? NULL : strstr(status, "\nState:\t");

	return state && state[sizeof("\nState:\t") - 1] == 'T';
}

bool task_has_signal(pid_t tid, uint64_t handled)
{
	char status[4096];
	uint64_t waiting, idle;
	pid_t tgid;

	if (read_of(-1, tid, "status", status, sizeof(status)) < 0)
		return false;
	waiting = status_word(status, "\nSigPnd:", 16);
	tgid = (pid_t)status_word(status, "\nTgid:", 10);
	/*
	 * Which thread takes a signal to the whole process is known for the first thread only
	 * (complete_signal in kernel/signal.c): another thread would see the bare -ERESTARTSYS, since
	 * nothing interrupts it.
	 */
	if (tgid == tid)
		waiting |= status_word(status, "\nShdPnd:", 16);
	idle = status_word(status, "\nSigBlk:", 16) | status_word(status, "\nSigIgn:", 16) |
	       (status_word(status, "\nSigCgt:", 16) & ~handled);
	return waiting & ~idle || (tgid != tid && is_stopped(tgid));
}
