/*
 * Is one commit a descendant of another?  Private to git_trunk.c and pushes.c.
 */
#ifndef PALE_SUPERVISOR_GIT_DESCENT_H
#define PALE_SUPERVISOR_GIT_DESCENT_H

#include <stdbool.h>
#include <stddef.h>

#define GIT_HASH_MAX 32 /* bytes of an object's name: SHA-1 has 20, SHA-256 has 32 */

/* An object's name, zeroed behind its end. */
struct git_name {
	unsigned char b[GIT_HASH_MAX];
};

/* From hexadecimal: how many bytes it has, 0 where the text is no object's name. */
size_t git_name_parse(const char *hex, struct git_name *ret);

enum git_descent {
	GIT_DESCENDS, /* `now` is `old`, or `old` is among what leads to it */
	GIT_LOSES,    /* it is not */
	GIT_UNSHOWN,  /* that cannot be told: too many commits, too late, or one that is missing */
};

/* Of the commits of `now` and before it those that `old` does not come after. */
struct git_count {
	unsigned n;
	bool is_known, is_exact; /* not exact: some of them may be before `old`, too */
};

/*
 * Reads commits from the repository at common by the operator's git, of which nothing is believed: each one
 * is hashed here, and only what has the name that was asked for counts.  hash_len is that of both names.
 * count: NULL, or is filled in.  May block for a second.
 */
enum git_descent git_descent(const char *program, const char *common, const struct git_name *old,
			     const struct git_name *now, size_t hash_len, struct git_count *count);

#endif
