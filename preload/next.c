/*
 * What is done to names and owners is handed on to the next object, not to the kernel: fakeroot and its
 * like stand behind us and pretend that a chown or a device was made, and must hear of every name that
 * goes.  What was judged is what is handed on.  Results are the kernel's, -errno on failure; the
 * kernel itself where our constructor has not run.  async-signal-safe, vfork-safe.
 */
#include "preload/next.h"

static long next_result(int r)
{
	return r < 0 ? -errno : r;
}

long next_unlinkat(int dirfd, const char *name, int flags)
{
	return real.unlinkat ? next_result(real.unlinkat(dirfd, name, flags))
			     : raw3(SYS_unlinkat, dirfd, name, (long)flags);
}

long next_renameat(int fromfd, const char *from, int tofd, const char *to)
{
	return real.renameat ? next_result(real.renameat(fromfd, from, tofd, to))
			     : raw4(SYS_renameat, fromfd, from, tofd, to);
}

long next_mkdirat(int dirfd, const char *name, mode_t mode)
{
	return real.mkdirat ? next_result(real.mkdirat(dirfd, name, mode))
			    : raw3(SYS_mkdirat, dirfd, name, (long)mode);
}

long next_mknodat(int dirfd, const char *name, mode_t mode, dev_t dev)
{
	/* The kernel takes 32 bits of device number here. */
	if (dev != (unsigned)dev)
		return -EINVAL;
	/* Not mknodat: fakeroot's calls __xmknodat, which is ours, which would call it again. */
	return real.__xmknodat ? next_result(real.__xmknodat(0, dirfd, name, mode, &dev))
			       : raw4(SYS_mknodat, dirfd, name, (long)mode, (long)dev);
}

long next_fchmodat(int dirfd, const char *name, mode_t mode)
{
	return real.fchmodat ? next_result(real.fchmodat(dirfd, name, mode, 0))
			     : raw3(SYS_fchmodat, dirfd, name, (long)mode);
}

long next_fchownat(int dirfd, const char *name, uid_t uid, gid_t gid, int flags)
{
	return real.fchownat ? next_result(real.fchownat(dirfd, name, uid, gid, flags))
			     : raw5(SYS_fchownat, dirfd, name, (long)uid, (long)gid, (long)flags);
}

long next_fchmod(int fd, mode_t mode)
{
	return real.fchmod ? next_result(real.fchmod(fd, mode)) : raw2(SYS_fchmod, fd, (long)mode);
}

long next_fchown(int fd, uid_t uid, gid_t gid)
{
	return real.fchown ? next_result(real.fchown(fd, uid, gid))
			   : raw3(SYS_fchown, fd, (long)uid, (long)gid);
}
