/* What `pale run` prepares for the gate: the ghosts, and what pale-gate is started with. */
#ifndef PALE_GATE_PARTS_H
#define PALE_GATE_PARTS_H

#include "tools/git/ghosts.h"
#include "tools/supervisor/gate/gate_door.h"

struct bundle;
struct dirs;
struct environment;
struct image;
struct installed;
struct policy;

/* What the parts are made of; borrowed. */
struct gate_source {
	const struct installed *installed;
	const struct bundle *bundle;
	const struct policy *policy;
	const struct dirs *dirs;
	const char *session;
	bool cloned; /* by this run */
	bool quiet;
	bool stands; /* the session is of a kind that has ghosts */
	int secrets_fd;
};

struct gate_parts {
	struct gate_source from;
	struct ghosts ghosts;
	struct gate_setup setup;
	char **envp; /* owned */
};

/*
 * Writes down which remotes the workspace has, at its first session.  Where `stands`, finds the ghosts and
 * tells git of them, by env and by files below the agent's state, which must be made.  0 or -errno after
 * reporting it; call gate_done() in each case.
 */
int gate_find(struct gate_parts *g, const struct gate_source *from, struct environment *env);
/* What the supervisor needs; NULL where there are no ghosts.  git: the operator's, which no session can have
 * written; NULL: no such git was found, and every fetch and push fails with that reason. */
const struct gate_setup *gate_setup_of(struct gate_parts *g, const struct image *img, const char *git);
void gate_done(struct gate_parts *g);

#endif
