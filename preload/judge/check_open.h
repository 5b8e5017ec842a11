/* open, judged. */
#ifndef PALE_PRELOAD_CHECK_OPEN_H
#define PALE_PRELOAD_CHECK_OPEN_H

#include <stdbool.h>

#include "policy/file/resolve.h"

/* True if opening it again gives only what the process has already: it has no name in the file system, or
 * is an own descriptor. */
bool check_is_own(const struct resolved *r, unsigned access);

/* The whole of open: judges, holds the place and opens it.  Returns a descriptor or -errno. */
int check_open(int dirfd, const char *path, int flags, unsigned mode);

#endif
