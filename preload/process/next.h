/* What another preload's object wants to hear of is handed on to it: see next.c.  For struct name_call.act;
 * the kernel's results, -errno on failure. */
#ifndef PALE_NEXT_H
#define PALE_NEXT_H

#include "internal.h"

/* fn where another object stands between us and libc, else NULL: the kernel itself. */
#define NEXT(fn) (real_interposed ? (fn) : NULL)

long next_unlinkat(const struct name_call *c, int dirfd, const char *name);
long next_mkdirat(const struct name_call *c, int dirfd, const char *name);
long next_mknodat(const struct name_call *c, int dirfd, const char *name);
long next_renameat(int fromfd, const char *from, int tofd, const char *to);

#endif
