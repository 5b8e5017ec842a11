/*
 * Which branches a git command line moves, deletes or checks out, and whether it talks to another machine.
 *
 * Only the words are read, in every spelling that git accepts.  Where they do not say which branch a push or
 * a fetch writes, the command touches every protected branch; any other (update-ref --stdin) touches none by
 * its words, and the files of protected branches are held.  Configuration files are not read: an alias in one
 * of them is a new exec, judged then.  async-signal-safe.
 */
#ifndef PALE_GIT_H
#define PALE_GIT_H

#include "argv.h"
#include "policy/image/image.h"

/* A row of SEC_BRANCH: the offset of a string, and the rule that it comes from. */
struct branch_pattern {
	uint32_t pattern, rule;
};

/*
 * The name of a branch, or a pattern of names, without a leading refs/heads/ or heads/.  Points into ref.
 */
const char *git_short_branch(const char *ref);

/* True where one of its names is git. */
bool git_is(const struct command *c);

/*
 * True where c touches a branch that SEC_BRANCH protects, with the rule in *ret_rule.  head is the short name
 * of the branch that HEAD names in the caller's directory.  NULL: that branch is unknown.  "": it is unknown,
 * and so is the branch to which a push of a named branch goes.  Always false where no branch is protected.
 */
bool git_touches_trunk(const struct image *img, const struct command *c, const char *head,
		       uint32_t *ret_rule);

/* What git_touches_trunk() depends on for c, as a mask of GIT_WANTS_*. */
#define GIT_WANTS_HEAD	 1u /* HEAD's branch */
#define GIT_WANTS_CONFIG 2u /* whether configuration could send a push elsewhere: head is "" then */
#define GIT_WANTS_CALLER 4u /* which process executes a remote helper; head: GIT_ITSELF if it is git */
#define GIT_WANTS_NEW	 8u /* whether the session made the repository: head is GIT_NEW then */
#define GIT_ITSELF	 "-"
#define GIT_UNTOLD	 "?" /* as "", but new configuration may send a push anywhere: no allow covers it */
#define GIT_NEW		 "^" /* the repository has no remote, and had no branch when the session began */
unsigned git_wants(const struct command *c);

/*
 * True where a process is a git that starts the remote helper `called` for its own transport.  The process
 * executes the file exe; words has len bytes as in /proc/PID/cmdline, and a NUL after them.  A helper
 * (git-remote-https) pushes what its standard input says, so only the words of the git that starts it can
 * be judged.
 */
bool git_starts_helper(const char *exe, const char *words, size_t len, const char *called);

/* True where c clones, fetches, pulls, pushes or otherwise talks to a remote. */
bool git_is_online(const struct command *c);

#endif
