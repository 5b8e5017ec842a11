/* The agent's state, kept in the workspace instead of in the operator's home. */
#ifndef PALE_RELOCATE_H
#define PALE_RELOCATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct bundle;
struct environment;
struct options;
struct policy;

/* Who set a variable, as `pale env` tells it. */
#define RELOCATED "[session] state"

struct relocation {
	char *state;   /* below the workspace; NULL where nothing is relocated */
	char **shares; /* "config/git": links lead there to the operator's own */
	size_t n_shares;
	bool moved; /* we are in the workspace, and were not */
};

/* What the policy and --keep-home say, the list of shares taken from p; says a note where the workspace does
 * not let the state be moved.  0 or -ENOMEM.  rel is zeroed before; relocation_done() in each case. */
int relocation_plan(struct relocation *rel, const struct options *o, const struct bundle *b,
		    struct policy *p);
/* Points the XDG variables and TMPDIR of env there, and PWD to where the agent starts; makes nothing.  0 or
 * -errno. */
int relocation_tell(const struct relocation *rel, const struct bundle *b, struct environment *env);
/*
 * Makes WORKSPACE/STATE with data, config, cache, state and tmp in it and tells env; then, from outside of
 * the workspace, goes there, and makes found (the program's path) absolute.  0, or -errno after telling what
 * stands in the way.
 */
int relocation_make(struct relocation *rel, const struct bundle *b, struct environment *env,
		    char found[PATH_MAX]);
/* Where nothing is relocated nobody inside writes what git reads below XDG_CONFIG_HOME, either (where it is,
 * the policy says so).  0 or -ENOMEM. */
int relocation_keep_git(const struct relocation *rel, struct bundle *b, const struct environment *env);
/* Back to where the operator stands, and to the workspace again; nothing where nothing was moved. */
void relocation_leave(const struct relocation *rel, const struct bundle *b);
void relocation_enter(const struct relocation *rel, const struct bundle *b);
void relocation_done(struct relocation *rel);

#endif
