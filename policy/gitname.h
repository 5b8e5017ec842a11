/*
 * Names of refs and files in a git directory.  Pure.
 */
#ifndef PALE_GITNAME_H
#define PALE_GITNAME_H

#include <stdbool.h>
#include <stddef.h>

/* How much of a protected branch's pattern says that it is one: `refs/heads/` or `heads/`. */
size_t gitname_skip(const char *pattern);
/* The first component is a name that git itself has for something else there. */
bool gitname_is_gits(const char *name);

#endif
