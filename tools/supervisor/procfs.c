/*
 * procfs, seen on behalf of another process: to which process a directory belongs.
 *
 * Only the procfs at /proc is known to show the session's processes.  Another mount of it may have other
 * pids (a container's), or lie where its path says nothing: everything there is foreign.
 */
#include "procfs.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/file/procpath.h"

#include "caller.h"
#include "descent.h"

#define PROC_ROOT_INO 1 /* include/linux/proc_fs.h */

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

/* The part of the path below /proc; NULL where fd is on another mount. */
static const char *below_proc(int fd, const char *path)
{
	struct stat root, st;

	if (strncmp(path, "/proc", 5) != 0 || (path[5] != '/' && path[5] != '\0'))
		return NULL;
	if (stat("/proc", &root) < 0 || fstat(fd, &st) < 0 || st.st_dev != root.st_dev)
		return NULL;
	return path[5] ? path + 6 : path + 5;
}

struct reached_pids {
	struct pids pids;
	struct caller *c;
};

static bool has_pid(const struct pids *p, int32_t pid)
{
	return caller_reaches(((const struct reached_pids *)p)->c, pid);
}

bool procfs_is_foreign(struct caller *c, int dirfd, const char *path)
{
	const struct reached_pids of = { { has_pid }, c };

	return !below_proc(dirfd, path) || proc_is_closed(path, &of.pids);
}

pid_t procfs_pid(int dirfd, const char *path)
{
	const char *rest = below_proc(dirfd, path);

	return rest ? proc_take_pid(&rest) : 0;
}

bool procfs_any(const char *path, char *buf, size_t size)
{
	const char *rest = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
	int n = proc_take_pid(&rest) ? snprintf(buf, size, "/proc/*/%s", rest) : -1;

	return n > 0 && (size_t)n < size;
}

int procfs_fd_number(struct caller *c, int dirfd, const char *name)
{
	char path[64];
	const char *rest;
	int n = procfs_fd_path(dirfd, path, sizeof(path));

	rest = n < 0 ? NULL : below_proc(dirfd, path);
	if (!rest || proc_take_pid(&rest) != caller_tgid(c))
		return -1;
	if (strncmp(rest, "task/", 5) == 0) {
		rest += 5;
		if (proc_take_pid(&rest) != c->tid)
			return -1;
	}
	/* A descriptor is a number like a pid, and may be 0 too. */
	if (strcmp(rest, "fd") != 0 || strchr(name, '/'))
		return -1;
	rest = name;
	n = proc_take_pid(&rest);
	return rest != name ? n : -1;
}
