/*
 * Where a path leads: the resolver of policy/ with this process's own system calls, so that explain judges
 * the same path as the preload.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "policy/base/path.h"
#include "policy/file/resolve.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"

#include "question.h"

#ifndef PROC_SUPER_MAGIC
#define PROC_SUPER_MAGIC 0x9fa0
#endif

static int sys_open_path(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow)
{
	int flags = O_PATH | O_CLOEXEC | (directory ? O_DIRECTORY : 0) | (nofollow ? O_NOFOLLOW : 0);
	struct open_how how = { .flags = (unsigned)flags, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = no_symlinks ? syscall(SYS_openat2, dirfd, path, &how, sizeof(how))
			      : openat(dirfd, path, flags);

	return fd < 0 ? -errno : (int)fd;
}

static int sys_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, path, buf, size);

	return n < 0 ? -errno : (int)n;
}

static int sys_fd_path(int fd, char *buf, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, size - 1);
	if (n < 0)
		return -errno;
	if ((size_t)n == size - 1)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return (int)n;
}

static int sys_cwd_path(char *buf, size_t size)
{
	return getcwd(buf, size) ? (int)strlen(buf) : -errno;
}

static int sys_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

/* The procfs directory of the last magic link that the walk followed; only one walk at a time. */
static char crossed[LIMIT_PATH];

static int sys_is_magic(int dirfd)
{
	struct statfs fs;

	if (fstatfs(dirfd, &fs) < 0)
		return -errno;
	if (fs.f_type == PROC_SUPER_MAGIC && sys_fd_path(dirfd, crossed, sizeof(crossed)) < 0)
		crossed[0] = '\0';
	return fs.f_type == PROC_SUPER_MAGIC;
}

static const struct resolve_sys own_calls = {
	.open_path = sys_open_path,
	.readlinkat = sys_readlinkat,
	.fd_path = sys_fd_path,
	.cwd_path = sys_cwd_path,
	.close = sys_close,
	.is_magic = sys_is_magic,
};

/* Operations on a last symbolic link itself. */
static bool acts_on_link(enum op op)
{
	return op == OP_DELETE || op == OP_RENAME || op == OP_LINK || op == OP_SYMLINK || op == OP_MKDIR ||
	       op == OP_MKNOD;
}

int place_find(const char *cwd, const char *path, enum op op, char *real, char *given,
	       const char **ret_through)
{
	_cleanup_free_ struct resolved *r = calloc(1, sizeof(*r));
	_cleanup_free_ char *words = NULL;
	int n = path_normalise(cwd, path, given, LIMIT_PATH);

	*ret_through = NULL;
	/* Resolves the path as written: after a link `..` leads to another directory than the text says. */
	if (!r || asprintf(&words, "%s%s%s", *path == '/' ? "" : cwd, *path == '/' ? "" : "/", path) < 0)
		return -ENOMEM;
	if (n < 0)
		return n;
	crossed[0] = '\0';
	n = resolve(&own_calls, AT_FDCWD, words,
		    acts_on_link(op) ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST, r);
	if (crossed[0])
		*ret_through = crossed;
	if (n == 0) {
		strcpy(real, r->path);
		resolved_done(&own_calls, r);
		return 0;
	}
	/* Some directories do not exist yet: the existing ancestor decides. */
	return path_real(given, real, LIMIT_PATH);
}
