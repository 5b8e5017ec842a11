/*
 * The hooks: functions that libpale.so puts in front of libc's.
 *
 * The prototypes of all hooks are generated from hooks.def, so that the definitions are checked against the
 * table.
 */
#ifndef PALE_HOOKS_H
#define PALE_HOOKS_H

#include <errno.h>

#include "preload/process/real.h"
#include "preload/process/sys.h"

static inline int fail(long neg_errno)
{
	errno = (int)-neg_errno;
	return -1;
}

/* A raw result in libc's form: -1 and errno, or the value. */
static inline long libc_result(long r)
{
	if (r < 0 && r > -4096)
		return fail(r);
	return r;
}

#define HOOK(name, ret, args, op, nr) EXPORT ret name args;
#include "hooks.def"
#undef HOOK

/* A hook under another name, with the same code.  Both are in the same file, where `other` is defined. */
#define SAME_HOOK(name, other) extern __typeof__(other) name __attribute__((alias(#other), copy(other)))

#endif
