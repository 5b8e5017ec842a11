/*
 * Names of refs and files in a git directory: see gitname.h.
 */
#include "gitname.h"

#include <string.h>

#include "cmd.h"

size_t gitname_skip(const char *pattern)
{
	static const char heads[] = "refs/heads/";

	if (strncmp(pattern, heads, strlen(heads)) == 0)
		return strlen(heads);
	return strncmp(pattern, heads + 5, strlen(heads + 5)) == 0 ? strlen(heads + 5) : 0;
}

/* gitrepository-layout(5), and what git-lfs and others keep there. */
bool gitname_is_gits(const char *name)
{
	static const char gits[] =
		"objects refs packed-refs HEAD config config.worktree config.pale branches hooks index "
		"sharedindex info remotes logs shallow commondir gitdir modules worktrees description "
		"sequencer rebase-apply rebase-merge rr-cache lfs svn reftable annex gc.pid gc.log "
		"COMMIT_EDITMSG FETCH_HEAD ORIG_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE AUTO_MERGE "
		"SQUASH_MSG TAG_EDITMSG CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD BISECT_LOG NOTES_EDITMSG "
		"BISECT_START BISECT_TERMS BISECT_NAMES BISECT_HEAD BISECT_EXPECTED_REV locked";

	return word_in_list(gits, name, strcspn(name, "/"));
}
