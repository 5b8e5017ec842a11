/*
 * The mirror: the repository of pale's own for a remote, through which the agent's git fetches and pushes.
 *
 * Each remote has one below STATE/gate.  Its branches and tags are the remote's, as the courier fetched them
 * last; refs/changes keeps what sessions pushed.
 */
#ifndef PALE_MIRROR_H
#define PALE_MIRROR_H

#include <limits.h>

#include "courier.h"

struct gate {
	const char *state, *git, *url; /* borrowed */
	char dir[PATH_MAX];	       /* STATE/gate */
	char repository[PATH_MAX];
	char head[GIT_REF_MAX]; /* the branch that the remote's HEAD names, or "" */
};

/*
 * Brings the repository to what the remote has, and makes it where it is missing; one at a time.  0, or
 * -errno with a sentence in why.
 */
int gate_refresh(struct gate *g, char why[WHY_MAX]);
/* Removes a directory with all that is in it, or a file. */
void gate_remove(const char *path);
/* What a ref is there, "" where it does not exist.  0 or -errno. */
int gate_ref(const struct gate *g, const char *ref, char ret[GIT_HEX]);
/* True where the repository borrows no objects from another one (objects/info/alternates). */
bool gate_is_whole(const char *repository);

#endif
