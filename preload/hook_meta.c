/*
 * Hooks of times and extended attributes, and of what changes a file through a descriptor.
 * Landlock has no right for any of these, so no floor below stands behind them.
 */
#include "preload/hooks.h"
#include "preload/next.h"

#include <sys/time.h>
#include <utime.h>

/* --- times -------------------------------------------------------------------------------------- */

static long times_at(int dirfd, const char *path, const struct timespec *times, int flags)
{
	struct spot s;
	long r;

	if (!path || (flags & AT_EMPTY_PATH && !*path)) {
		r = check_fd(OP_UTIME, dirfd);
		return r < 0 ? r : raw4(SYS_utimensat, dirfd, path, times, (long)flags);
	}
	r = check_path(&s, OP_UTIME, dirfd, path,
		       flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST);
	/* Judged with its link followed: it is not one any more. */
	if (r == 0 && judging() && !s.magic && *path)
		flags |= AT_SYMLINK_NOFOLLOW;
	if (r == 0)
		r = raw4(SYS_utimensat, s.dirfd, s.name, times, (long)flags);
	spot_done(&s);
	return r;
}

static const struct timespec *spec_of(const struct timeval tv[2], struct timespec ret[2])
{
	for (int i = 0; tv && i < 2; i++) {
		/* out of range must stay so, and not become one of the marks of utimensat */
		bool ok = tv[i].tv_usec >= 0 && tv[i].tv_usec < 1000000;

		ret[i].tv_sec = tv[i].tv_sec;
		ret[i].tv_nsec = ok ? tv[i].tv_usec * 1000 : -1;
	}
	return tv ? ret : NULL;
}

int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags)
{
	return !path ? fail(-EINVAL) : (int)libc_result(times_at(dirfd, path, times, flags));
}

int futimens(int fd, const struct timespec times[2])
{
	return fd < 0 ? fail(-EBADF) : (int)libc_result(times_at(fd, NULL, times, 0));
}

int utime(const char *path, const struct utimbuf *times)
{
	struct timespec ts[2];

	for (int i = 0; times && i < 2; i++)
		ts[i] = (struct timespec){ .tv_sec = i ? times->modtime : times->actime };
	return (int)libc_result(times_at(AT_FDCWD, path, times ? ts : NULL, 0));
}

int utimes(const char *path, const struct timeval tv[2])
{
	struct timespec ts[2];

	return (int)libc_result(times_at(AT_FDCWD, path, spec_of(tv, ts), 0));
}

int lutimes(const char *path, const struct timeval tv[2])
{
	struct timespec ts[2];

	return (int)libc_result(times_at(AT_FDCWD, path, spec_of(tv, ts), AT_SYMLINK_NOFOLLOW));
}

int futimesat(int dirfd, const char *path, const struct timeval tv[2])
{
	struct timespec ts[2];

	return (int)libc_result(times_at(dirfd, path, spec_of(tv, ts), 0));
}

int futimes(int fd, const struct timeval tv[2])
{
	struct timespec ts[2];

	return fd < 0 ? fail(-EBADF) : (int)libc_result(times_at(fd, NULL, spec_of(tv, ts), 0));
}

/* --- extended attributes ------------------------------------------------------------------------ */

struct attr {
	const char *name;
	const void *value; /* NULL with size REMOVE: take it away */
	size_t size;
	int flags;
};

#define REMOVE SIZE_MAX

static long attr_path(const struct attr *a, const char *path, bool nofollow)
{
	if (a->size == REMOVE)
		return raw2(nofollow ? SYS_lremovexattr : SYS_removexattr, path, a->name);
	return raw5(nofollow ? SYS_lsetxattr : SYS_setxattr, path, a->name, a->value, a->size,
		    (long)a->flags);
}

/* There is no setxattrat before Linux 6.13: the file is held and reached by its descriptor. */
static long attr_spot(const struct attr *a, const struct spot *s)
{
	char link[40];
	long r, fd = raw4(SYS_openat, s->dirfd, s->name, O_PATH | O_CLOEXEC | (s->magic ? 0 : O_NOFOLLOW), 0);

	if (fd < 0)
		return fd;
	sys_fd_link((int)fd, link, sizeof link);
	r = attr_path(a, link, false);
	sys_close((int)fd);
	return r;
}

static int attr_change(const struct attr *a, const char *path, enum resolve_follow follow)
{
	struct spot s;
	long r;

	if (!judging() || !path || !*path)
		return (int)libc_result(attr_path(a, path, follow == RESOLVE_NOFOLLOW_LAST));
	r = check_path(&s, OP_XATTR, AT_FDCWD, path, follow);
	if (r == 0)
		r = attr_spot(a, &s);
	spot_done(&s);
	return (int)libc_result(r);
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
	struct attr a = { name, value, size, flags };

	return size == REMOVE ? fail(-E2BIG) : attr_change(&a, path, RESOLVE_FOLLOW_LAST);
}

int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
	struct attr a = { name, value, size, flags };

	return size == REMOVE ? fail(-E2BIG) : attr_change(&a, path, RESOLVE_NOFOLLOW_LAST);
}

int removexattr(const char *path, const char *name)
{
	struct attr a = { name, NULL, REMOVE, 0 };

	return attr_change(&a, path, RESOLVE_FOLLOW_LAST);
}

int lremovexattr(const char *path, const char *name)
{
	struct attr a = { name, NULL, REMOVE, 0 };

	return attr_change(&a, path, RESOLVE_NOFOLLOW_LAST);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	long r = check_fd(OP_XATTR, fd);

	return (int)libc_result(r < 0 ? r : raw5(SYS_fsetxattr, fd, name, value, size, (long)flags));
}

int fremovexattr(int fd, const char *name)
{
	long r = check_fd(OP_XATTR, fd);

	return (int)libc_result(r < 0 ? r : raw2(SYS_fremovexattr, fd, name));
}

/* --- rights, by descriptor ---------------------------------------------------------------------- */

int fchmod(int fd, mode_t mode)
{
	long r = check_fd(OP_CHMOD, fd);

	return (int)libc_result(r < 0 ? r : next_fchmod(fd, mode));
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	long r = check_fd(OP_CHOWN, fd);

	return (int)libc_result(r < 0 ? r : next_fchown(fd, uid, gid));
}
