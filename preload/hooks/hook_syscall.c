/*
 * syscall(), which makes any system call.  A call that has a hook goes to that hook.  io_uring, whose
 * operations would bypass every hook, is reported as missing.  Every other call passes through unchanged
 * (torsocks refused unknown numbers and broke systemd, issue 20586).
 */
#include <stdarg.h>

#include "preload/process/gate.h"
#include "preload/process/session.h"

#include "hooks.h"
#include "spaces.h"

/* Marks rows of hooks.def without a twin, and twins that the kernel of this machine does not have. */
#define NONE (-1)

/* Numbers that the headers of Debian 12 lack; they are the same on every machine. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

/* The words of the system call as arguments of a function; a[6] is its number. */
#define PATH(i)	  ((const char *)a[i])
#define FD(i)	  ((int)a[i])
#define UINT(i)	  ((unsigned)a[i])
#define VECTOR(i) ((char *const *)a[i])
#define ADDR(i)	  ((const struct sockaddr *)a[i])

static long as_it_stands(const long *a)
{
	return libc_result(raw6(a[6], a[0], a[1], a[2], a[3], a[4], a[5]));
}

static long not_here(const long *a, int error)
{
	return in_session() ? fail(error) : as_it_stands(a);
}

/* Calls the hook of the system call, if it has one: *ret is then the result of syscall(). */
static bool hooked(long nr, const long *a, long *ret)
{
	switch (nr) {
#define TWIN(name, call)                                                                                     \
	case SYS_##name:                                                                                     \
		*ret = (long)(call);                                                                         \
		return true;
#define EXTRA TWIN
#include "twins.def"
#undef EXTRA
#undef TWIN
	default:
		return false;
	}
}

#ifndef SYS_open
#define SYS_open    NONE
#define SYS_creat   NONE
#define SYS_unlink  NONE
#define SYS_rmdir   NONE
#define SYS_rename  NONE
#define SYS_link    NONE
#define SYS_symlink NONE
#define SYS_mkdir   NONE
#define SYS_mknod   NONE
#endif
#ifndef SYS_renameat
#define SYS_renameat NONE
#endif

#define HOOK(name, ret, args, op, nr) +((nr) != NONE)
#define TWIN(name, call)	      -1
#define EXTRA(name, call)
_Static_assert(0
#include "hooks.def"
#include "twins.def"
		       == 0,
	       "every twin of hooks.def has a row in twins.def");
#undef HOOK

#if defined(__x86_64__)
/* The bit of x32 system calls: a second set of numbers for the same calls, which no row covers. */
#define OTHER_ABI 0x40000000l
#else
#define OTHER_ABI 0l
#endif

/* Reads six arguments whether or not they were passed, as libc's own function does. */
long syscall(long nr, ...)
{
	long a[7], r;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	a[6] = nr;
	if (hooked(nr, a, &r))
		return r;
	/* clone returns twice, so there must be no function between it and the caller. */
	if (nr == SYS_clone && in_session() && a[0] & (NEW_SPACES & ~CSIGNAL))
		return refuse_spaces();
	if (nr & OTHER_ABI && nr > 0 && in_session())
		return fail(-ENOSYS);
	return libc_result(raw6(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}
