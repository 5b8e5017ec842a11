/* Calls that another preloaded object must see are passed on to it: see next.c.  For struct name_call.act;
 * they return the kernel's result, -errno on failure. */
#ifndef PALE_NEXT_H
#define PALE_NEXT_H

#include "preload/process/real.h"

#include "name_call.h"

/* fn if another object stands between the preload and libc; else NULL, and the system call is made. */
#define NEXT(fn) (real_interposed ? (fn) : NULL)

long next_unlinkat(const struct name_call *c, int dirfd, const char *name);
long next_mkdirat(const struct name_call *c, int dirfd, const char *name);
long next_mknodat(const struct name_call *c, int dirfd, const char *name);
long next_renameat(int fromfd, const char *from, int tofd, const char *to);

#endif
