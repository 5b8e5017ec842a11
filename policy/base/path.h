/*
 * Paths as strings: normalise, contain, match.  No system calls, no allocation; async-signal-safe.
 */
#ifndef PALE_PATH_H
#define PALE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Joins path to the absolute directory base (ignored where path is absolute) and removes `.`,
 * `..` and doubled slashes by text alone.  buf receives an absolute path without trailing slash.
 * Length without NUL, or -ENAMETOOLONG, -EINVAL (base not absolute, empty path).
 */
int path_normalise(const char *base, const char *path, char *buf, size_t size);
/*
 * path is absolute and already what path_normalise() would make of it, so that it need not be
 * copied: no `.`, no `..`, no doubled or trailing slash.  Its length, or 0.
 */
size_t path_plain_length(const char *path);
/* The same for a relative path, which then only needs its directory in front. */
size_t path_plain_relative(const char *path);
/* path is dir or below it; both absolute and normalised.  "/home/al" does not contain "/home/alice". */
bool path_is_under(const char *path, const char *dir);
/* One component against one glob component: `*`, `?`, `[a-z]`, `[!a]`, backslash quotes; a leading dot is
 * nothing special.  Linear in practice, no recursion on `*`. */
bool glob_match(const char *pat, size_t pat_len, const char *name, size_t name_len);
/* Can the two globs match the same name?  Only their literal beginnings are compared. */
bool globs_overlap(const char *a, const char *b);

/* Two texts, each of which may be NULL, are the same. */
static inline bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}
/* A component that holds no unquoted glob character. */
bool glob_is_literal(const char *pat, size_t len);
/* `..` as a whole segment anywhere in path. */
bool path_has_dotdot(const char *path);
/* Last component ("" for "/"). */
const char *path_basename(const char *path);

#endif
