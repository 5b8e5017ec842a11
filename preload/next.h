/* What is judged is handed on to the next object: see next.c.  The kernel's results, -errno on failure. */
#ifndef PALE_NEXT_H
#define PALE_NEXT_H

#include "preload/internal.h"

long next_unlinkat(int dirfd, const char *name, int flags);
long next_renameat(int fromfd, const char *from, int tofd, const char *to);
long next_mkdirat(int dirfd, const char *name, mode_t mode);
long next_mknodat(int dirfd, const char *name, mode_t mode, dev_t dev);
long next_fchmodat(int dirfd, const char *name, mode_t mode);
long next_fchownat(int dirfd, const char *name, uid_t uid, gid_t gid, int flags);
long next_fchmod(int fd, mode_t mode);
long next_fchown(int fd, uid_t uid, gid_t gid);

#endif
