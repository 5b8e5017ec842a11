/* Protected branches of the workspace's repository, as the files that rules hold. */
#ifndef PALE_TRUNK_H
#define PALE_TRUNK_H

#include <limits.h>

#include "policy/image.h"
#include "policy/parse.h"

#include "tools/supervisor/git_home.h"

#define TRUNK_HASH (64 + 1) /* the name of a commit, SHA-1 or SHA-256, in hexadecimal */

struct trunk_branch {
	const char *name;	/* borrowed from the bundle */
	char stood[TRUNK_HASH]; /* its commit as the session began; "": it says no commit itself */
};

struct trunk {
	const char *common; /* borrowed from the bundle */
	struct trunk_branch *list;
	size_t n;
	char git[PATH_MAX]; /* the operator's program */
};

/*
 * Finds HEAD's branch and the branches that p protects, for git_head and git_trunk of b.  Nothing where the
 * workspace has no repository, or one whose branches are no files (reftable).  0 or -ENOMEM.
 */
int trunk_gather(struct bundle *b, const struct policy *p);
/*
 * Each of them becomes a file, which git believes before packed-refs.  0, or -errno and that is said.
 * trunk_done(t) in any case.
 */
int trunk_hold(const struct bundle *b, struct trunk *t);
/* What the supervisor is told of all that; borrowed from t and b.  The agent does not run yet. */
struct git_home trunk_home(struct trunk *t, const struct bundle *b, const struct image *img);
/* Says which of them moved, and how to go back. */
void trunk_report(const struct trunk *t);
void trunk_done(struct trunk *t);

#endif
