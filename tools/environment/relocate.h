/* The agent's state, kept in a directory of its own instead of in the operator's home. */
#ifndef PALE_RELOCATE_H
#define PALE_RELOCATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct bundle;
struct environment;
struct options;
struct policy;

/* The source of such a variable, for `pale env`. */
#define RELOCATED "[session] state"

struct relocation {
	char *state;   /* below the workspace, or absolute; NULL where nothing is relocated */
	char **shares; /* "config/git": links to the operator's own */
	size_t n_shares;
	bool moved; /* the working directory was changed to the workspace */
};

/*
 * Plans what the policy and --keep-home say, and takes the list of shares from p; prints a note where the
 * workspace does not allow the state to be moved.  0 or -ENOMEM.  rel must be zeroed before; the caller
 * must call relocation_done() in each case.
 */
int relocation_plan(struct relocation *rel, const struct options *o, const struct bundle *b,
		    struct policy *p);
/* Points the XDG variables and TMPDIR of env to the state directory, and PWD to where the agent starts;
 * makes no files.  0 or -errno. */
int relocation_tell(const struct relocation *rel, const struct bundle *b, struct environment *env);
/*
 * Makes the directory with data, config, cache, state and tmp in it and calls relocation_tell().  Where
 * the working directory is outside the workspace, it changes to the workspace and makes found (the
 * program's path) absolute.  0, or -errno after reporting what is in the way.
 */
int relocation_make(struct relocation *rel, const struct bundle *b, struct environment *env,
		    char found[PATH_MAX]);
/* Where nothing is relocated: denies writing of what git reads below XDG_CONFIG_HOME; otherwise the policy
 * denies it.  0 or -ENOMEM. */
int relocation_keep_git(const struct relocation *rel, struct bundle *b, const struct environment *env);
/* Change to the operator's working directory, and to the workspace again; without effect where nothing was
 * moved. */
void relocation_leave(const struct relocation *rel, const struct bundle *b);
void relocation_enter(const struct relocation *rel, const struct bundle *b);
void relocation_done(struct relocation *rel);

#endif
