/*
 * Which terminals are the session's.
 *
 * A terminal at which the operator works outside the session can be read and written by any process of the
 * same user: keys, a false prompt.  So only two kinds of terminals are opened: the one that pale run made
 * for the agent, and ptys whose master a process of the session holds at this moment.  Numbers are not
 * remembered, since they are used again.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/proc.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"

#include "open.h"

/* Documentation/admin-guide/devices.txt */
#define TTY_MAJOR     4
#define CONSOLES      64 /* minors below are virtual consoles, those above serial lines */
#define TTYAUX_MAJOR  5
#define DEV_TTY	      makedev(TTYAUX_MAJOR, 0)
#define DEV_CONSOLE   makedev(TTYAUX_MAJOR, 1)
#define PTS_MAJOR     136
#define PTS_MAJORS    8
#define PTS_PER_MAJOR 256
#define PTMX	      "ptmx"
#define TTY_INDEX     "tty-index:"

static bool is_pts(dev_t rdev)
{
	return major(rdev) >= PTS_MAJOR && major(rdev) < PTS_MAJOR + PTS_MAJORS;
}

static unsigned pts_number(dev_t rdev)
{
	return (major(rdev) - PTS_MAJOR) * PTS_PER_MAJOR + minor(rdev);
}

bool terminal_is_mine(dev_t rdev)
{
	return rdev == DEV_TTY;
}

bool terminal_is(dev_t rdev)
{
	return is_pts(rdev) || rdev == DEV_TTY || rdev == DEV_CONSOLE ||
	       (major(rdev) == TTY_MAJOR && minor(rdev) < CONSOLES);
}

/* The number of the pty that fdinfo gives for a master (drivers/tty/pty.c, Linux 4.20), or -1. */
static long tty_index(int proc, const char *fd)
{
	char name[32], text[512];
	const char *p;

	if ((size_t)snprintf(name, sizeof(name), "fdinfo/%s", fd) >= sizeof(name) ||
	    file_read_small(proc, name, text, sizeof(text)) < 0)
		return -1;
	p = strstr(text, TTY_INDEX);
	return p ? strtol(p + strlen(TTY_INDEX), NULL, 10) : -1;
}

static bool is_master(int proc, int fds, const char *fd, unsigned number)
{
	char text[64];
	ssize_t n = readlinkat(fds, fd, text, sizeof(text) - 1);

	if (n < (ssize_t)strlen(PTMX))
		return false;
	text[n] = '\0';
	return strcmp(text + n - strlen(PTMX), PTMX) == 0 && tty_index(proc, fd) == (long)number;
}

static bool holds_master(pid_t pid, unsigned number)
{
	_cleanup_close_ int proc = -1, fds = -1;
	_cleanup_dir_ DIR *d = NULL;
	const struct dirent *e;
	char path[32];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fds = proc < 0 ? -1 : openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fds < 0 ? NULL : fdopendir(fds);
	if (d)
		fds = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what closes it reads it */
	while (d && !found && (e = readdir(d)))
		found = is_master(proc, dirfd(d), e->d_name, number);
	return found;
}

static bool session_holds_master(struct caller *c, unsigned number)
{
	_cleanup_dir_ DIR *proc = NULL;
	bool found = holds_master(caller_tgid(c), number);
	pid_t pid;

	if (found)
		return true;
	proc = opendir("/proc");
	while (!found && (pid = proc_next(proc)))
		found = holds_master(pid, number) && session_has_pid(pid);
	return found;
}

bool terminal_is_sessions(struct caller *c, dev_t rdev)
{
	const struct supervisor_setup *setup = session_setup(c->sup);

	if (setup->terminal && rdev == setup->terminal)
		return true;
	return is_pts(rdev) && caller_may_block(c) && session_holds_master(c, pts_number(rdev));
}

int terminal_open_controlling(struct caller *c, const struct opening *o)
{
	dev_t tty = caller_tty(c);
	char path[32];
	struct spot at = { .dirfd = AT_FDCWD, .name = path };
	struct stat st;

	if (is_pts(tty))
		snprintf(path, sizeof(path), "/dev/pts/%u", pts_number(tty));
	else if (tty && terminal_is(tty) && major(tty) == TTY_MAJOR)
		snprintf(path, sizeof(path), "/dev/tty%u", minor(tty));
	else
		return -ENXIO;
	if (spot_look(&at, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != tty)
		return -ENXIO;
	return open_plain(o, &at);
}
