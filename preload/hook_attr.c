/*
 * Hooks of size and attributes: truncate, chmod, chown.  Landlock has no right for chmod and
 * chown, so no floor below stands behind these.
 */
#include "preload/gate.h"
#include "preload/hooks.h"
#include "preload/next.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6 */
#endif

/* There is no truncateat: the file is opened where it was judged.  A FIFO must not block here. */
static long truncate_spot(const struct spot *s, off_t len)
{
	long nofollow = s->magic ? 0 : O_NOFOLLOW;
	long r, fd = raw4(SYS_openat, s->dirfd, s->name, O_WRONLY | O_CLOEXEC | O_NONBLOCK | nofollow, 0);

	if (fd < 0)
		return fd;
	r = raw2(SYS_ftruncate, fd, len);
	sys_close((int)fd);
	return r;
}

static int truncate_path(const char *path, off_t len)
{
	struct spot s UNINITIALIZED;
	long r = check_path(&s, OP_TRUNCATE, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);

	if (r == CHECK_ACT)
		r = truncate_spot(&s, len);
	else if (r == CHECK_PLAIN)
		r = carried2(SYS_truncate, path, len);
	spot_done(&s);
	return (int)libc_result(r);
}

int truncate(const char *path, off_t len)
{
	return truncate_path(path, len);
}

int truncate64(const char *path, off64_t len)
{
	return truncate_path(path, len);
}

/* chmod of the link itself, for kernels without fchmodat2: through a descriptor, as glibc does. */
static long chmod_nofollow(const struct name_call *c, int dirfd, const char *name)
{
	char link[40];
	struct stat st;
	long r, fd = carried4(SYS_fchmodat2, dirfd, name, c->word[0], AT_SYMLINK_NOFOLLOW);

	if (fd != -ENOSYS)
		return fd;
	fd = raw4(SYS_openat, dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = raw2(SYS_fstat, fd, &st);
	if (r == 0 && S_ISLNK(st.st_mode))
		r = -EOPNOTSUPP;
	sys_fd_link((int)fd, link, sizeof link);
	if (r == 0)
		r = carried3(SYS_fchmodat, AT_FDCWD, link, c->word[0]);
	sys_close((int)fd);
	return r;
}

static bool is_descriptor(int *dirfd, const char **path, int flags)
{
	if (!(flags & AT_EMPTY_PATH) || !*path || **path)
		return false;
	if (*dirfd != AT_FDCWD)
		return true;
	*path = ".";
	return false;
}

static enum resolve_follow follow_by(int flags)
{
	return flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST;
}

int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	bool nofollow = flags & AT_SYMLINK_NOFOLLOW;
	struct name_call c = { .op = OP_CHMOD,
			       .follow = follow_by(flags),
			       .nr = SYS_fchmodat,
			       .word = { mode },
			       .act = nofollow ? chmod_nofollow : NEXT(next_fchmodat) };
	long r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return fail(-EINVAL);
	if (is_descriptor(&dirfd, &path, flags)) {
		r = check_fd(OP_CHMOD, dirfd);
		return (int)libc_result(r < 0 ? r : carried4(SYS_fchmodat2, dirfd, path, mode, flags));
	}
	c.dirfd = dirfd;
	c.path = path;
	return (int)libc_result(name_call(&c));
}

int chmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, 0);
}

int lchmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}

int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
	struct name_call c = { .op = OP_CHOWN,
			       .follow = follow_by(flags),
			       .nr = SYS_fchownat,
			       .word = { uid, gid, flags },
			       .flags_at = 2,
			       .act = NEXT(next_fchownat) };
	bool by_fd = is_descriptor(&dirfd, &path, flags);
	long r = by_fd ? check_fd(OP_CHOWN, dirfd) : 0;

	c.dirfd = dirfd;
	c.path = path;
	if (r == 0)
		r = by_fd ? name_plain(&c) : name_call(&c);
	return (int)libc_result(r);
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	return fchownat(AT_FDCWD, path, uid, gid, 0);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	return fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}
