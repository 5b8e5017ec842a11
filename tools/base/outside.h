/* Programs that pale runs outside the fence. */
#ifndef PALE_OUTSIDE_H
#define PALE_OUTSIDE_H

#include <limits.h>
#include <stdbool.h>

struct image;

/*
 * Finds a program that pale runs outside the fence, by its real path: on PATH, but only where
 * root alone may write it or img (may be NULL) denies every write to it.  0, -ENOENT, -EPERM (found, but
 * elsewhere).
 */
int outside_find(const struct image *img, const char *name, char ret[PATH_MAX]);
/* No process of the session can have written the file at this real path. */
bool outside_is(const struct image *img, const char *path);

#endif
