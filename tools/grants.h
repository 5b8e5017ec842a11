/*
 * Grants as the command line sees them: those that are kept (policy/grant_file.h), and those of running
 * sessions, by their helpers.
 */
#ifndef PALE_TOOLS_GRANTS_H
#define PALE_TOOLS_GRANTS_H

#include "policy/grant_file.h"

#include "tools.h"

/* Whose file: our own, or that of a helper of another user, which it alone writes. */
enum kept_store { KEPT_OWN, KEPT_FOREIGN, KEPT_STORES };

struct kept {
	json_t *file[KEPT_STORES]; /* NULL: there is none, or nobody can read it */
	char dir[KEPT_STORES][PATH_MAX];
};

/* Reads both; what cannot be read or understood is told and left out.  kept_done() afterwards. */
void kept_read(struct kept *ret);
void kept_done(struct kept *k);
/*
 * Takes the grant with this id out of our own file, as a helper would: locked, replaced whole, durable.  0,
 * -ENOENT, -EAGAIN (a session holds it), -EBADMSG (it is no such file) or another -errno.
 */
int kept_revoke(const char *dir, const char *id);

/* A kept grant that answers a question. */
struct granted_by {
	char id[GRANT_ID_HEX], until[GRANT_DAY], section[16], line[GRANT_LINE];
	enum grant_scope scope;
};

/*
 * What the policy asks about is granted to this agent (NULL or "": to any) in this workspace: true with the
 * grant.  By the helper's own functions.
 */
bool granted_find(const struct image *img, const char *agent, const char *workspace,
		  const struct request *req, struct granted_by *ret);
/* "granted by 3fa2 (project until 2026-12-01): allow = ..." */
void granted_text(const struct granted_by *g, char *buf, size_t size);

#endif
