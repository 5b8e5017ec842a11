/*
 * Hooks of times and extended attributes, and of what changes a file through a descriptor.
 * Landlock has no right for any of these, so no floor below stands behind them.
 */
#include "preload/gate.h"
#include "preload/hooks.h"
#include "preload/next.h"

#include <sys/time.h>
#include <utime.h>

/* --- times -------------------------------------------------------------------------------------- */

static long times_at(int dirfd, const char *path, const struct timespec *times, int flags)
{
	struct name_call c = { .op = OP_UTIME,
			       .follow = flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST
								     : RESOLVE_FOLLOW_LAST,
			       .dirfd = dirfd,
			       .path = path,
			       .nr = SYS_utimensat,
			       .word = { RAW_ARG(times), flags },
			       .flags_at = 1 };
	long r;

	if (path && (*path || !(flags & AT_EMPTY_PATH)))
		return name_call(&c);
	r = check_fd(OP_UTIME, dirfd);
	return r < 0 ? r : name_plain(&c);
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

static long attr_path(const struct attr *a, const char *path, enum resolve_follow follow)
{
	bool nofollow = follow == RESOLVE_NOFOLLOW_LAST;

	if (a->size == REMOVE)
		return carried2(nofollow ? SYS_lremovexattr : SYS_removexattr, path, a->name);
	return carried5(nofollow ? SYS_lsetxattr : SYS_setxattr, path, a->name, a->value, a->size, a->flags);
}

/* There is no setxattrat before Linux 6.13: the file is held and reached by its descriptor. */
static long attr_spot(const struct attr *a, const struct spot *s)
{
	char link[40];
	long r, fd = raw4(SYS_openat, s->dirfd, s->name, O_PATH | O_CLOEXEC | (s->magic ? 0 : O_NOFOLLOW), 0);

	if (fd < 0)
		return fd;
	sys_fd_link((int)fd, link, sizeof link);
	r = attr_path(a, link, RESOLVE_FOLLOW_LAST);
	sys_close((int)fd);
	return r;
}

static int attr_change(const struct attr *a, const char *path, enum resolve_follow follow)
{
	struct spot s UNINITIALIZED;
	long r = check_path(&s, OP_XATTR, AT_FDCWD, path, follow);

	if (r == CHECK_ACT)
		r = attr_spot(a, &s);
	else if (r == CHECK_PLAIN)
		r = attr_path(a, path, follow);
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

	return (int)libc_result(r < 0 ? r : carried5(SYS_fsetxattr, fd, name, value, size, flags));
}

int fremovexattr(int fd, const char *name)
{
	long r = check_fd(OP_XATTR, fd);

	return (int)libc_result(r < 0 ? r : carried2(SYS_fremovexattr, fd, name));
}

/* --- rights, by descriptor ---------------------------------------------------------------------- */

int fchmod(int fd, mode_t mode)
{
	long r = check_fd(OP_CHMOD, fd);

	if (r == 0)
		r = real_interposed ? next_fchmod(fd, mode) : carried2(SYS_fchmod, fd, mode);
	return (int)libc_result(r);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	long r = check_fd(OP_CHOWN, fd);

	if (r == 0)
		r = real_interposed ? next_fchown(fd, uid, gid) : carried3(SYS_fchown, fd, uid, gid);
	return (int)libc_result(r);
}
