/* The agent's state, kept in the workspace instead of in the operator's home.  Included by run_impl.h alone.
 */
#ifndef PALE_RELOCATE_H
#define PALE_RELOCATE_H

#include <limits.h>
#include <stdbool.h>

struct bundle;
struct environment;
struct options;
struct policy;

struct relocation {
	char *state; /* below the workspace; NULL where nothing is relocated */
	bool moved;  /* we are in the workspace, and were not */
};

/* What the policy and --keep-home say: 0 or -ENOMEM.  rel is zeroed before; relocation_done() in each case.
 */
int relocation_plan(struct relocation *rel, const struct options *o, const struct policy *p);
/*
 * Makes WORKSPACE/STATE with data, config, cache, state and tmp in it and points the XDG variables and TMPDIR
 * of env there; then, from outside of it, goes to the workspace, and makes found (the program's path)
 * absolute.  0, or -errno after telling what stands in the way.
 */
int relocation_make(struct relocation *rel, const struct bundle *b, struct environment *env,
		    char found[PATH_MAX]);
/* Back to where the operator stands, and to the workspace again; nothing where nothing was moved. */
void relocation_leave(const struct relocation *rel, const struct bundle *b);
void relocation_enter(const struct relocation *rel, const struct bundle *b);
void relocation_done(struct relocation *rel);

#endif
