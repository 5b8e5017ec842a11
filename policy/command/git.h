/*
 * git understood: which branches does this command line move, delete or check out, and does it
 * talk to another machine?
 *
 * From the words alone, in every spelling that git accepts; what the words cannot tell (an implicit
 * push, `push :`, update-ref --stdin) counts as hitting every protected branch.  Configuration
 * files are not read: an alias in one of them is a new exec, judged then.  async-signal-safe.
 */
#ifndef PALE_GIT_H
#define PALE_GIT_H

#include "argv.h"
#include "policy/image/image.h"

/* A row of SEC_BRANCH: a string's offset, and the rule that says it. */
struct branch_pattern {
	uint32_t pattern, rule;
};

/* A branch's name, or a pattern of them, without the refs/heads/ or heads/ that it may begin with. */
const char *git_short_branch(const char *ref);

/* Is it git, under either of its names? */
bool git_is(const struct command *c);

/*
 * True where c touches a branch that SEC_BRANCH protects, with the rule that says so.  head is the
 * short name of HEAD's branch in the caller's directory, NULL for unknown, or "" where it is unknown to which
 * branch a push goes that names its own, too.  Never true where nothing is protected.
 */
bool git_touches_trunk(const struct image *img, const struct command *c, const char *head,
		       uint32_t *ret_rule);

/* What does the answer to the above hang on? */
#define GIT_WANTS_HEAD	 1u /* on HEAD's branch */
#define GIT_WANTS_CONFIG 2u /* on whether configuration could send a push elsewhere: head is "" then */
#define GIT_WANTS_CALLER 4u /* of a remote helper, on who starts it: head is GIT_ITSELF where git does */
#define GIT_ITSELF	 "-"
#define GIT_UNTOLD	 "?" /* as "", and other configuration may send a push anywhere: no allow covers it */
unsigned git_wants(const struct command *c);

/*
 * Is a process that executes the file exe, with len bytes of words as /proc/PID/cmdline has them (and a NUL
 * behind), a git that starts the remote helper called `called` for a transport of its own?  A helper
 * (git-remote-https) pushes what its standard input says, and only git's own words were judged.
 */
bool git_starts_helper(const char *exe, const char *words, size_t len, const char *called);

/* Clones, fetches, pulls, pushes or otherwise speaks to a remote. */
bool git_is_online(const struct command *c);

#endif
