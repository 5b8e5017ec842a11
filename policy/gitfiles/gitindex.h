/*
 * git's index: does it name only what a checkout may write?  git itself looks at names when it makes entries,
 * and believes those that it finds.
 */
#ifndef PALE_GITINDEX_H
#define PALE_GITINDEX_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Each entry lies in the work tree and in no `.git`, and nothing else in there leads to entries that were not
 * looked at.  hash: bytes of an object's name, 20 or 32.  False with a sentence in *why, static: also of what
 * is no index that is understood.  gitformat-index(5), versions 2 and 3.
 */
bool gitindex_is_sound(const char *text, size_t len, size_t hash, const char **why);

#endif
