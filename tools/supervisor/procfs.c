/*
 * procfs, seen on behalf of another process: whose directory is it, and what of it is for everybody.
 *
 * Only procfs as it is mounted at /proc is known to speak of the session's processes.  Another mount
 * of it may count other pids (a container's), or stand where its path says nothing: whatever is
 * named there is foreign.
 */
#include "tools/supervisor/procfs.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tools/tools.h"

#define PROC_ROOT_INO 1 /* include/linux/proc_fs.h */
#define PID_DIGITS    9

/*
 * What the kernel shows of any process to anybody, without the check that ptrace(2) describes: what
 * ps, top, pgrep and container detection read.
 */
static const char *const shown_to_all[] = {
	"stat",	     "statm",	       "status",    "cmdline", "comm",	    "cgroup",	     "cpuset",
	"limits",    "loginuid",       "sessionid", "oom_adj", "oom_score", "oom_score_adj", "sched",
	"schedstat", "timens_offsets", "mountinfo", "mounts",  "task",	    "wchan",
};

void procfs_own_link(int fd, char buf[PROCFS_LINK_MAX])
{
	snprintf(buf, PROCFS_LINK_MAX, "/proc/self/fd/%d", fd);
}

int procfs_fd_path(int fd, char *buf, size_t size)
{
	char link[PROCFS_LINK_MAX];
	ssize_t n;

	if (fd < 0)
		return -EBADF;
	procfs_own_link(fd, link);
	n = readlink(link, buf, size - 1);
	if (n < 0)
		return errno == ENOENT ? -EBADF : -errno;
	if (n == (ssize_t)size - 1)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return (int)n;
}

bool procfs_holds(int fd)
{
	struct statfs sf;

	return fstatfs(fd, &sf) == 0 && sf.f_type == PROC_SUPER_MAGIC;
}

bool procfs_is_root(int fd)
{
	struct stat st;

	return procfs_holds(fd) && fstat(fd, &st) == 0 && st.st_ino == PROC_ROOT_INO;
}

/* What path names below /proc, NULL where fd is of another mount. */
static const char *below_proc(int fd, const char *path)
{
	struct stat root, st;

	if (strncmp(path, "/proc", 5) != 0 || (path[5] != '/' && path[5] != '\0'))
		return NULL;
	if (stat("/proc", &root) < 0 || fstat(fd, &st) < 0 || st.st_dev != root.st_dev)
		return NULL;
	return path[5] ? path + 6 : path + 5;
}

/* Takes a component that is a process's or a thread's number.  0 where there is none. */
static pid_t take_pid(const char **at)
{
	size_t n = strspn(*at, "0123456789");
	pid_t pid;

	if (n == 0 || n > PID_DIGITS || ((*at)[n] != '/' && (*at)[n] != '\0'))
		return 0;
	pid = (pid_t)strtol(*at, NULL, 10);
	*at += n + ((*at)[n] == '/');
	return pid;
}

static bool is_shown_to_all(const char *name)
{
	for (size_t i = 0; i < NELEM(shown_to_all); i++)
		if (strcmp(name, shown_to_all[i]) == 0)
			return true;
	return *name == '\0';
}

/* Steps into the directory of a process outside the session, if rest leads into one. */
static bool enters_outsider(struct caller *c, const char **rest)
{
	bool is_number = **rest >= '0' && **rest <= '9';
	pid_t pid = take_pid(rest);

	/* "12 (deleted)" is a number too. */
	return is_number && (pid == 0 || !session_has_pid(c->sup, pid));
}

bool procfs_is_outsider(struct caller *c, int dirfd, const char *path)
{
	const char *rest = below_proc(dirfd, path);

	return !rest || enters_outsider(c, &rest);
}

bool procfs_is_foreign(struct caller *c, int dirfd, const char *path)
{
	const char *rest = below_proc(dirfd, path);

	if (!rest)
		return true;
	if (!enters_outsider(c, &rest))
		return false;
	if (strncmp(rest, "task/", 5) == 0) {
		rest += 5;
		if (take_pid(&rest) == 0)
			return true;
	}
	return !is_shown_to_all(rest);
}

bool procfs_any(const char *path, char *buf, size_t size)
{
	const char *rest = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
	int n = take_pid(&rest) ? snprintf(buf, size, "/proc/*/%s", rest) : -1;

	return n > 0 && (size_t)n < size;
}

int procfs_fd_number(struct caller *c, int dirfd, const char *name)
{
	char path[64];
	const char *rest;
	int n = procfs_fd_path(dirfd, path, sizeof(path));

	rest = n < 0 ? NULL : below_proc(dirfd, path);
	if (!rest || take_pid(&rest) != caller_tgid(c))
		return -1;
	if (strncmp(rest, "task/", 5) == 0) {
		rest += 5;
		if (take_pid(&rest) != c->tid)
			return -1;
	}
	n = (int)strspn(name, "0123456789");
	if (strcmp(rest, "fd") != 0 || n == 0 || n > PID_DIGITS || name[n] != '\0')
		return -1;
	return (int)strtol(name, NULL, 10);
}
