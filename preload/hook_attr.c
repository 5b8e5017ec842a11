/*
 * Hooks of size and attributes: truncate, chmod, chown.  Landlock has no right for chmod and
 * chown, so no floor below stands behind these.
 */
#include "preload/hooks.h"
#include "preload/next.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6 */
#endif

/* There is no truncateat: the file is opened where it was judged.  A FIFO must not block here. */
static long truncate_path(const char *path, off_t len)
{
	struct spot s;
	long r = check_path(&s, OP_TRUNCATE, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);

	if (r == 0 && (!judging() || !path || !*path)) {
		r = raw2(SYS_truncate, path, len);
	} else if (r == 0) {
		long nofollow = s.magic ? 0 : O_NOFOLLOW;
		long fd = raw4(SYS_openat, s.dirfd, s.name, O_WRONLY | O_CLOEXEC | O_NONBLOCK | nofollow, 0);

		r = fd < 0 ? fd : raw2(SYS_ftruncate, fd, len);
		if (fd >= 0)
			sys_close((int)fd);
	}
	spot_done(&s);
	return r;
}

int truncate(const char *path, off_t len)
{
	return (int)libc_result(truncate_path(path, len));
}

int truncate64(const char *path, off64_t len)
{
	return (int)libc_result(truncate_path(path, len));
}

/* chmod of the link itself, for kernels without fchmodat2: through a descriptor, as glibc does. */
static long chmod_nofollow(const struct spot *s, mode_t mode)
{
	char link[40];
	struct out o = out_of(link, sizeof link);
	struct stat st;
	long r, fd = raw4(SYS_fchmodat2, s->dirfd, s->name, (long)mode, AT_SYMLINK_NOFOLLOW);

	if (fd != -ENOSYS)
		return fd;
	fd = raw4(SYS_openat, s->dirfd, s->name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = raw2(SYS_fstat, fd, &st);
	if (r == 0 && S_ISLNK(st.st_mode))
		r = -EOPNOTSUPP;
	text_str(&o, "/proc/self/fd/");
	text_uint(&o, (uint64_t)fd);
	text_end(&o);
	if (r == 0)
		r = raw3(SYS_fchmodat, AT_FDCWD, link, (long)mode);
	sys_close((int)fd);
	return r;
}

int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	struct spot s;
	long r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return fail(-EINVAL);
	if (flags & AT_EMPTY_PATH && path && !*path && dirfd == AT_FDCWD)
		path = ".";
	if (flags & AT_EMPTY_PATH && path && !*path) {
		r = check_fd(OP_CHMOD, dirfd);
		return (int)libc_result(r < 0 ? r
					      : raw4(SYS_fchmodat2, dirfd, path, (long)mode, (long)flags));
	}
	r = check_path(&s, OP_CHMOD, dirfd, path,
		       flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST);
	if (r == 0 && flags & AT_SYMLINK_NOFOLLOW)
		r = chmod_nofollow(&s, mode);
	else if (r == 0)
		r = next_fchmodat(s.dirfd, s.name, mode);
	spot_done(&s);
	return (int)libc_result(r);
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
	struct spot s;
	long r;

	if (flags & AT_EMPTY_PATH && path && !*path && dirfd == AT_FDCWD)
		path = ".";
	if (flags & AT_EMPTY_PATH && path && !*path) {
		r = check_fd(OP_CHOWN, dirfd);
		return (int)libc_result(r < 0 ? r : next_fchownat(dirfd, path, uid, gid, flags));
	}
	r = check_path(&s, OP_CHOWN, dirfd, path,
		       flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST);

	/* Judged with its link followed: it is not one any more. */
	if (r == 0 && judging() && !s.magic && path && *path)
		flags |= AT_SYMLINK_NOFOLLOW;
	if (r == 0)
		r = next_fchownat(s.dirfd, s.name, uid, gid, flags);
	spot_done(&s);
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
