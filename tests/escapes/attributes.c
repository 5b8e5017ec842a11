/* Ways to change modes, owners, times, attributes and flags of what stands outside: Landlock has a right for
 * none of them. */
#include "escape.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif

static int opened(void)
{
	return (int)DO(open, outside("file"), O_RDONLY, 0);
}

static const char *magic(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

PROBE(attr_chmod)
{
	return if_done(DO(chmod, outside("file"), 0777));
}

PROBE(attr_chmod_directory)
{
	return if_done(DO(chmod, outside("dir"), 0777));
}

PROBE(attr_chmod_key)
{
	return if_done(DO(chmod, escape_key, 0644));
}

PROBE(attr_chmod_by_symlink)
{
	if (symlink(outside("file"), "l") < 0)
		return STOPPED;
	return if_done(DO(chmod, "l", 0777));
}

PROBE(attr_fchmodat)
{
	int dir = (int)DO(open, outside("sub"), O_PATH | O_DIRECTORY, 0);

	return if_done(SC(fchmodat, dir, "inner", 0777));
}

PROBE(attr_fchmodat2)
{
	return if_done(SC(fchmodat2, AT_FDCWD, outside("file"), 0777, 0));
}

PROBE(attr_fchmodat2_empty)
{
	int fd = (int)DO(open, outside("file"), O_PATH, 0);

	return if_done(SC(fchmodat2, fd, "", 0777, AT_EMPTY_PATH));
}

PROBE(attr_fchmod_read_only)
{
	return if_done(DO(fchmod, opened(), 0777));
}

PROBE(attr_chmod_held)
{
	return if_done(DO(chmod, magic((int)DO(open, outside("file"), O_PATH, 0)), 0777));
}

PROBE(attr_chmod_opened)
{
	return if_done(DO(chmod, magic(opened()), 0777));
}

PROBE(attr_chown)
{
	return if_done(DO(chown, outside("file"), getuid(), getgid()));
}

PROBE(attr_lchown)
{
	return if_done(DO(lchown, outside("file"), getuid(), getgid()));
}

PROBE(attr_fchown_read_only)
{
	return if_done(DO(fchown, opened(), getuid(), getgid()));
}

PROBE(attr_fchownat)
{
	return if_done(DO(fchownat, AT_FDCWD, outside("file"), getuid(), getgid(), 0));
}

PROBE(attr_fchownat_empty)
{
	return if_done(DO(fchownat, opened(), "", getuid(), getgid(), AT_EMPTY_PATH));
}

PROBE(attr_utimensat)
{
	return if_done(DO(utimensat, AT_FDCWD, outside("file"), NULL, 0));
}

PROBE(attr_utimensat_link)
{
	return if_done(DO(utimensat, AT_FDCWD, outside("file"), NULL, AT_SYMLINK_NOFOLLOW));
}

PROBE(attr_futimens_read_only)
{
	return if_done(SC(utimensat, opened(), NULL, NULL, 0));
}

PROBE(attr_utimensat_empty)
{
	int fd = (int)DO(open, outside("file"), O_PATH, 0);

	return if_done(SC(utimensat, fd, "", NULL, AT_EMPTY_PATH));
}

PROBE(attr_utimes)
{
	return if_done(DO(utimes, outside("file"), NULL));
}

PROBE(attr_utime)
{
	struct utimbuf t = { 1, 1 };

	return if_done(DO(utime, outside("file"), &t));
}

PROBE(attr_futimesat)
{
	return if_done(SC(futimesat, AT_FDCWD, outside("file"), NULL));
}

PROBE(attr_setxattr)
{
	return if_done(DO(setxattr, outside("file"), "user.pale", "x", 1, 0));
}

PROBE(attr_lsetxattr)
{
	return if_done(DO(lsetxattr, outside("file"), "user.pale", "x", 1, 0));
}

PROBE(attr_fsetxattr_read_only)
{
	return if_done(DO(fsetxattr, opened(), "user.pale", "x", 1, 0));
}

PROBE(attr_setxattrat)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} a = { (uint64_t)(uintptr_t) "x", 1, 0 };

	return if_done(SC(setxattrat, AT_FDCWD, outside("file"), 0, "user.pale", &a, sizeof(a)));
}

PROBE(attr_setfacl)
{
	static const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} e[3];
	} acl = { 2, { { 1, 7, ~0u }, { 4, 7, ~0u }, { 0x20, 7, ~0u } } };

	return if_done(DO(setxattr, outside("file"), "system.posix_acl_access", &acl, sizeof(acl), 0));
}

PROBE(attr_flags)
{
	int flags = 0;
	int fd = opened();

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return NOT_HERE;
	flags |= FS_NODUMP_FL;
	return if_done(DO(ioctl, fd, FS_IOC_SETFLAGS, &flags));
}

PROBE(attr_flags_high_bits)
{
	int flags = 0;
	int fd = opened();

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return NOT_HERE;
	flags |= FS_NODUMP_FL;
	return if_done(SC(ioctl, fd, FS_IOC_SETFLAGS | 1UL << 32, &flags));
}

PROBE(attr_project)
{
	struct fsxattr x;
	int fd = opened();

	if (ioctl(fd, FS_IOC_FSGETXATTR, &x) < 0)
		return NOT_HERE;
	x.fsx_xflags |= FS_XFLAG_NODUMP;
	return if_done(DO(ioctl, fd, FS_IOC_FSSETXATTR, &x));
}

PROBE(attr_file_setattr)
{
	uint64_t a[3] = { FS_XFLAG_NODUMP, 0, 0 };

	return if_done(SC(file_setattr, AT_FDCWD, outside("file"), a, sizeof(a), 0));
}
