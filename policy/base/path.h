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
 * Returns its length without NUL, or -ENAMETOOLONG, -EINVAL (base not absolute, empty path).
 */
int path_normalise(const char *base, const char *path, char *buf, size_t size);
/*
 * The length of path where it is absolute and already normalised, so that it need not be copied: no `.`, no
 * `..`, no doubled or trailing slash.  Otherwise 0, and also where a component begins with `..`.
 */
size_t path_plain_length(const char *path);
/* The same for a relative path, which then needs only its directory before it. */
size_t path_plain_relative(const char *path);
/* True where path is dir or below it; both absolute and normalised.  "/home/al" does not contain
 * "/home/alice". */
bool path_is_under(const char *path, const char *dir);
/* True where the pattern of a path rule matches path or a directory above it. */
bool path_is_covered(const char *path, const char *pattern);
/* Matches one component against one glob component: `*`, `?`, `[a-z]`, `[!a]`, backslash quotes; a leading
 * dot is not special.  Linear in practice, no recursion on `*`. */
bool glob_match(const char *pat, size_t pat_len, const char *name, size_t name_len);
/* True where the two globs may match the same name: only their literal beginnings are compared. */
bool globs_overlap(const char *a, const char *b);

/* True where the two texts, each of which may be NULL, are the same. */
static inline bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}
/* True where the component holds no unquoted glob character. */
bool glob_is_literal(const char *pat, size_t len);
/* True where a component of the pattern holds a `[` that nothing closes; glob_match() takes it for itself. */
bool path_has_open_class(const char *pattern);
/* True where any component of path is `..`. */
bool path_has_dotdot(const char *path);
/* Last component ("" for "/"). */
const char *path_basename(const char *path);

#endif
