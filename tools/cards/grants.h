/*
 * Grants as the command line sees them: those that are kept (policy/grant/grant_file.h), and those of running
 * sessions, by their helpers.
 */
#ifndef PALE_TOOLS_GRANTS_H
#define PALE_TOOLS_GRANTS_H

#include "policy/grant/grant_file.h"

#include "tools/base/tools.h"

/* Whose file: our own, or that of a helper of another user, which it alone writes. */
enum kept_store { KEPT_OWN, KEPT_FOREIGN, KEPT_STORES };

struct kept {
	struct grant_list list[KEPT_STORES];
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

/*
 * The kept grant that answers what the policy asks this agent (NULL or "": any) in this workspace, as
 * grant_entry_json(); NULL where none does.  By the helper's own functions.
 */
json_t *granted_find(const struct image *img, const char *agent, const char *workspace,
		     const struct request *req);

#endif
