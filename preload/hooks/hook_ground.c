/*
 * Calls that change what paths mean: mounts, another root, another namespace.  A bind mount gives a
 * sensitive directory a harmless name, and no path can be judged after a chroot.  An ordinary user can make
 * such a call only in an own user namespace.  Here it fails as it does outside of one: EPERM.
 *
 * Only a change of the working directory is allowed; it is counted.
 */
#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"

int chdir(const char *path)
{
	return (int)libc_result(sys_wander(SYS_chdir, RAW_ARG(path)));
}

int fchdir(int fd)
{
	return (int)libc_result(sys_wander(SYS_fchdir, fd));
}

#define GROUND(name, params, ...)                                                                            \
	int name params                                                                                      \
	{                                                                                                    \
		return in_session() ? fail(-EPERM) : (int)libc_result(__VA_ARGS__);                          \
	}

GROUND(mount,
       (const char *source, const char *target, const char *type, unsigned long flags, const void *data),
       raw5(SYS_mount, source, target, type, (long)flags, data))
GROUND(umount, (const char *target), raw2(SYS_umount2, target, 0))
GROUND(umount2, (const char *target, int flags), raw2(SYS_umount2, target, (long)flags))
GROUND(chroot, (const char *path), raw1(SYS_chroot, path))
GROUND(pivot_root, (const char *new_root, const char *put_old), raw2(SYS_pivot_root, new_root, put_old))
GROUND(setns, (int fd, int type), raw2(SYS_setns, (long)fd, (long)type))
GROUND(move_mount, (int fromfd, const char *from, int tofd, const char *to, unsigned flags),
       raw5(SYS_move_mount, (long)fromfd, from, (long)tofd, to, (long)flags))
GROUND(open_tree, (int dirfd, const char *path, unsigned flags),
       raw3(SYS_open_tree, (long)dirfd, path, (long)flags))
GROUND(fsmount, (int fd, unsigned flags, unsigned attr), raw3(SYS_fsmount, (long)fd, (long)flags, (long)attr))
GROUND(fsopen, (const char *type, unsigned flags), raw2(SYS_fsopen, type, (long)flags))
GROUND(fsconfig, (int fd, unsigned command, const char *key, const void *value, int aux),
       raw5(SYS_fsconfig, (long)fd, (long)command, key, value, (long)aux))
GROUND(fspick, (int dirfd, const char *path, unsigned flags),
       raw3(SYS_fspick, (long)dirfd, path, (long)flags))
GROUND(mount_setattr, (int dirfd, const char *path, unsigned flags, struct mount_attr *attr, size_t size),
       raw5(SYS_mount_setattr, (long)dirfd, path, (long)flags, attr, size))
/* A handle names a file without a path that could be judged. */
GROUND(open_by_handle_at, (int mount, struct file_handle *handle, int flags),
       raw3(SYS_open_by_handle_at, (long)mount, handle, (long)flags))
GROUND(acct, (const char *path), raw1(SYS_acct, path))
GROUND(swapon, (const char *path, int flags), raw2(SYS_swapon, path, (long)flags))
GROUND(swapoff, (const char *path), raw1(SYS_swapoff, path))
GROUND(quotactl, (int command, const char *special, int id, caddr_t addr),
       raw4(SYS_quotactl, (long)command, special, (long)id, addr))
