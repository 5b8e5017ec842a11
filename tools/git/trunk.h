/* Protected branches of the workspace's repository: each becomes a file, so that a rule on a path protects
 * it. */
#ifndef PALE_TRUNK_H
#define PALE_TRUNK_H

#include <limits.h>

#include "policy/image/image.h"
#include "policy/parse/parse.h"

#include "git_home.h"

#define TRUNK_HASH (64 + 1) /* the name of a commit, SHA-1 or SHA-256, in hexadecimal */

struct trunk_branch {
	const char *name;	/* borrowed from the bundle */
	char stood[TRUNK_HASH]; /* its commit at the session's start; "": the file names no commit */
};

struct trunk {
	const char *common; /* borrowed from the bundle */
	struct trunk_branch *list;
	size_t n;
	char git[PATH_MAX]; /* path of the operator's git */
};

/*
 * trunk_links.c: where the file of a branch lies, behind symbolic links or not.  How many of them, or -ELOOP
 * where that cannot be told or held.  Adds to keeps (or NULL) what holds the links and the file, or -ENOMEM.
 */
int trunk_locate(const char *common, const char *branch, char path[PATH_MAX], struct bundle *keeps);
/*
 * Fills git_head and git_trunk of b: HEAD's branch and the branches that p protects.  What is behind symbolic
 * links goes into git_keep, and HEAD's branch does not count then.  Finds none where the
 * workspace has no repository, or one that keeps its branches in a reftable.  0 or -ENOMEM.
 */
int trunk_gather(struct bundle *b, const struct policy *p);
/*
 * Writes each of them to a file of its own, which git reads before packed-refs.  0, or -errno; a branch that
 * cannot be written is reported to the operator.  Call trunk_done(t) in any case.
 */
int trunk_hold(const struct bundle *b, struct trunk *t);
/* What the supervisor needs to know of these branches; borrows from t and b.  Before the agent runs. */
struct git_home trunk_home(struct trunk *t, const struct bundle *b, const struct image *img);
/* Tells the operator which of them moved, and how to go back. */
void trunk_report(const struct trunk *t);
void trunk_done(struct trunk *t);

#endif
