/* The remotes that the operator is known to have set. */
#ifndef PALE_REMOTES_H
#define PALE_REMOTES_H

#include <stdbool.h>

struct ghosts;
struct policy;

/*
 * Drops from g what p does not name, and what was not there when the first session began in this workspace: a
 * session may have added that, and the operator's credentials would go where it leads.  Says so where `says`
 * is true.  The first session writes down what is there, below the state directory; anew: as if this were the
 * first.  0 or -errno: then g is empty.
 */
int remotes_known(struct ghosts *g, const struct policy *p, const char *state, const char *workspace,
		  bool anew, bool says);

#endif
