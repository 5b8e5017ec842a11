/*
 * syscall(): the back door of libc.  Calls that a hook knows end in that hook; io_uring, whose
 * operations would pass every hook, is not there; everything else passes through untouched
 * (torsocks refused unknown numbers and broke systemd, issue 20586).
 */
#include "preload/hooks.h"

#include <stdarg.h>

#include "preload/spaces.h"

/* Marks rows of hooks.def that have no twin, and twins that this machine's kernel has not. */
#define NONE (-1)

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

/* One thunk a twin: the kernel's words become the function's arguments. */
#define TWIN(name, call)                                                                                     \
	static long twin_##name(const long *a)                                                               \
	{                                                                                                    \
		return call;                                                                                 \
	}

#define PATH(i)	  ((const char *)a[i])
#define FD(i)	  ((int)a[i])
#define UINT(i)	  ((unsigned)a[i])
#define VECTOR(i) ((char *const *)a[i])

#ifdef SYS_open
TWIN(open, open(PATH(0), FD(1), UINT(2)))
TWIN(creat, creat(PATH(0), UINT(1)))
TWIN(unlink, unlink(PATH(0)))
TWIN(rmdir, rmdir(PATH(0)))
TWIN(rename, rename(PATH(0), PATH(1)))
TWIN(link, link(PATH(0), PATH(1)))
TWIN(symlink, symlink(PATH(0), PATH(1)))
TWIN(mkdir, mkdir(PATH(0), UINT(1)))
TWIN(mknod, mknod(PATH(0), UINT(1), (dev_t)a[2]))
TWIN(chmod, chmod(PATH(0), UINT(1)))
TWIN(chown, chown(PATH(0), UINT(1), UINT(2)))
TWIN(lchown, lchown(PATH(0), UINT(1), UINT(2)))
#endif
#ifdef SYS_renameat
TWIN(renameat, renameat(FD(0), PATH(1), FD(2), PATH(3)))
#endif
TWIN(openat, openat(FD(0), PATH(1), FD(2), UINT(3)))
TWIN(openat2, openat2(FD(0), PATH(1), (const struct open_how *)a[2], (size_t)a[3]))
TWIN(unlinkat, unlinkat(FD(0), PATH(1), FD(2)))
TWIN(renameat2, renameat2(FD(0), PATH(1), FD(2), PATH(3), UINT(4)))
TWIN(linkat, linkat(FD(0), PATH(1), FD(2), PATH(3), FD(4)))
TWIN(symlinkat, symlinkat(PATH(0), FD(1), PATH(2)))
TWIN(mkdirat, mkdirat(FD(0), PATH(1), UINT(2)))
TWIN(mknodat, mknodat(FD(0), PATH(1), UINT(2), (dev_t)a[3]))
TWIN(truncate, truncate(PATH(0), (off_t)a[1]))
TWIN(fchmodat2, fchmodat(FD(0), PATH(1), UINT(2), FD(3)))
TWIN(fchownat, fchownat(FD(0), PATH(1), UINT(2), UINT(3), FD(4)))
TWIN(execve, execve(PATH(0), VECTOR(1), VECTOR(2)))
TWIN(execveat, execveat(FD(0), PATH(1), VECTOR(2), VECTOR(3), FD(4)))
TWIN(connect, connect(FD(0), (const struct sockaddr *)a[1], UINT(2)))
TWIN(sendto, sendto(FD(0), (const void *)a[1], (size_t)a[2], FD(3), (const struct sockaddr *)a[4], UINT(5)))
TWIN(sendmsg, sendmsg(FD(0), (const struct msghdr *)a[1], FD(2)))
TWIN(bind, bind(FD(0), (const struct sockaddr *)a[1], UINT(2)))
#define TIMES(i) ((const struct timespec *)a[i])
TWIN(utimensat, a[1] ? utimensat(FD(0), PATH(1), TIMES(2), FD(3)) : futimens(FD(0), TIMES(2)))
TWIN(setxattr, setxattr(PATH(0), PATH(1), (const void *)a[2], (size_t)a[3], FD(4)))
TWIN(lsetxattr, lsetxattr(PATH(0), PATH(1), (const void *)a[2], (size_t)a[3], FD(4)))
TWIN(fsetxattr, fsetxattr(FD(0), PATH(1), (const void *)a[2], (size_t)a[3], FD(4)))
TWIN(removexattr, removexattr(PATH(0), PATH(1)))
TWIN(lremovexattr, lremovexattr(PATH(0), PATH(1)))
TWIN(fremovexattr, fremovexattr(FD(0), PATH(1)))
TWIN(fchmod, fchmod(FD(0), UINT(1)))
TWIN(fchown, fchown(FD(0), UINT(1), UINT(2)))
TWIN(sendmmsg, sendmmsg(FD(0), (struct mmsghdr *)a[1], UINT(2), FD(3)))

/* The kernel's fchmodat has no flags. */
TWIN(fchmodat, fchmodat(FD(0), PATH(1), UINT(2), 0))

TWIN(unshare, unshare(FD(0)))

/* libuv and Tokio fall back when they are told that there is no io_uring, everybody does without clone3,
 * whose flags are behind a pointer. */
TWIN(no_uring, (in_session() ? fail(-ENOSYS) : libc_result(raw6(a[6], a[0], a[1], a[2], a[3], a[4], a[5]))))

/* Ground: see hook_ground.c. */
TWIN(no_ground, (in_session() ? fail(-EPERM) : libc_result(raw6(a[6], a[0], a[1], a[2], a[3], a[4], a[5]))))

#ifdef SYS_utime
TWIN(utime, utime(PATH(0), (const struct utimbuf *)a[1]))
TWIN(utimes, utimes(PATH(0), (const struct timeval *)a[1]))
TWIN(futimesat, futimesat(FD(0), PATH(1), (const struct timeval *)a[2]))
#endif

/* A handle names a file without a path that could be judged. */
TWIN(no_handle, (in_session() ? fail(-EPERM) : libc_result(raw6(a[6], a[0], a[1], a[2], a[3], a[4], a[5]))))

typedef long (*twin_fn)(const long *a);

/* By number: the rows of hooks.def that have a twin, and the extra ones behind them. */
static const twin_fn twins[] = {
#ifdef SYS_open
	[SYS_open] = twin_open,
	[SYS_creat] = twin_creat,
	[SYS_unlink] = twin_unlink,
	[SYS_rmdir] = twin_rmdir,
	[SYS_rename] = twin_rename,
	[SYS_link] = twin_link,
	[SYS_symlink] = twin_symlink,
	[SYS_mkdir] = twin_mkdir,
	[SYS_mknod] = twin_mknod,
	[SYS_chmod] = twin_chmod,
	[SYS_chown] = twin_chown,
	[SYS_lchown] = twin_lchown,
#define TWINS_OLD 12
#else
#define TWINS_OLD   0
#define SYS_open    NONE
#define SYS_creat   NONE
#define SYS_unlink  NONE
#define SYS_rmdir   NONE
#define SYS_rename  NONE
#define SYS_link    NONE
#define SYS_symlink NONE
#define SYS_mkdir   NONE
#define SYS_mknod   NONE
#define SYS_chmod   NONE
#define SYS_chown   NONE
#define SYS_lchown  NONE
#endif
#ifdef SYS_renameat
	[SYS_renameat] = twin_renameat,
#define TWINS_RENAMEAT 1
#else
#define TWINS_RENAMEAT 0
#define SYS_renameat   NONE
#endif
	[SYS_openat] = twin_openat,
	[SYS_openat2] = twin_openat2,
	[SYS_unlinkat] = twin_unlinkat,
	[SYS_renameat2] = twin_renameat2,
	[SYS_linkat] = twin_linkat,
	[SYS_symlinkat] = twin_symlinkat,
	[SYS_mkdirat] = twin_mkdirat,
	[SYS_mknodat] = twin_mknodat,
	[SYS_truncate] = twin_truncate,
	[SYS_fchmodat2] = twin_fchmodat2,
	[SYS_fchownat] = twin_fchownat,
	[SYS_execve] = twin_execve,
	[SYS_execveat] = twin_execveat,
	[SYS_connect] = twin_connect,
	[SYS_sendto] = twin_sendto,
	[SYS_sendmsg] = twin_sendmsg,
	[SYS_sendmmsg] = twin_sendmmsg,
	[SYS_bind] = twin_bind,
	[SYS_utimensat] = twin_utimensat,
	[SYS_setxattr] = twin_setxattr,
	[SYS_lsetxattr] = twin_lsetxattr,
	[SYS_fsetxattr] = twin_fsetxattr,
	[SYS_removexattr] = twin_removexattr,
	[SYS_lremovexattr] = twin_lremovexattr,
	[SYS_fremovexattr] = twin_fremovexattr,
	[SYS_fchmod] = twin_fchmod,
	[SYS_fchown] = twin_fchown,
#define TWINS_ROWS (TWINS_OLD + TWINS_RENAMEAT + 27)
#ifdef SYS_utime
	[SYS_utime] = twin_utime,
	[SYS_utimes] = twin_utimes,
	[SYS_futimesat] = twin_futimesat,
#endif
	[SYS_mount] = twin_no_ground,
	[SYS_umount2] = twin_no_ground,
	[SYS_chroot] = twin_no_ground,
	[SYS_pivot_root] = twin_no_ground,
	[SYS_setns] = twin_no_ground,
	[SYS_move_mount] = twin_no_ground,
	[SYS_open_tree] = twin_no_ground,
	[SYS_fsmount] = twin_no_ground,
	[SYS_fsopen] = twin_no_ground,
	[SYS_fsconfig] = twin_no_ground,
	[SYS_fspick] = twin_no_ground,
	[SYS_mount_setattr] = twin_no_ground,
	[SYS_open_tree_attr] = twin_no_ground,
	[SYS_acct] = twin_no_ground,
	[SYS_swapon] = twin_no_ground,
	[SYS_swapoff] = twin_no_ground,
	[SYS_quotactl] = twin_no_ground,
	[SYS_quotactl_fd] = twin_no_ground,
	[SYS_unshare] = twin_unshare,
	[SYS_fchmodat] = twin_fchmodat,
	[SYS_clone3] = twin_no_uring,
	[SYS_io_uring_setup] = twin_no_uring,
	[SYS_io_uring_enter] = twin_no_uring,
	[SYS_io_uring_register] = twin_no_uring,
	[SYS_open_by_handle_at] = twin_no_handle,
};

/* A new twin in hooks.def must get its thunk here. */
#define HOOK(name, ret, args, op, nr) +((nr) != NONE)
_Static_assert(0
#include "preload/hooks.def"
		       == TWINS_ROWS,
	       "every twin of hooks.def has a row in twins[]");
#undef HOOK

#if defined(__x86_64__)
/* The x32 door to the same calls: numbers that nobody uses and no row knows. */
#define OTHER_ABI 0x40000000l
#else
#define OTHER_ABI 0l
#endif

/* Reads six words whether or not they were passed: so does libc's own. */
long syscall(long nr, ...)
{
	unsigned long row = (unsigned long)nr;
	long a[7];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	a[6] = nr;
	if (row < sizeof twins / sizeof twins[0] && twins[row])
		return twins[row](a);
	/* It returns twice, so nothing may stand between it and the caller. */
	if (nr == SYS_clone && in_session() && a[0] & (NEW_SPACES & ~CSIGNAL))
		return fail(-EPERM);
	if (nr & OTHER_ABI && nr > 0 && in_session())
		return fail(-ENOSYS);
	return libc_result(raw6(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}
