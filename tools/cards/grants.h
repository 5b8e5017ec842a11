/*
 * Grants as the command line sees them: kept ones (policy/grant/grant_file.h), and those of running
 * sessions, from their helpers.
 */
#ifndef PALE_TOOLS_GRANTS_H
#define PALE_TOOLS_GRANTS_H

#include <limits.h>

#include "policy/grant/grant_file.h"

/*
 * This user's own file, or the file of a helper that runs as another user, which only that helper writes.
 */
enum kept_store { KEPT_OWN, KEPT_FOREIGN, KEPT_STORES };

struct kept {
	struct grant_list list[KEPT_STORES];
	char dir[KEPT_STORES][PATH_MAX];
};

/* Reads both files; errors are printed, and what cannot be read or understood is left out.  The caller must
 * call kept_done(). */
void kept_read(struct kept *ret);
void kept_done(struct kept *k);
/*
 * Removes the grant with this id from the user's own file, in the same way as a helper: locked, replaced as
 * a whole, durable.  0, -ENOENT, -EAGAIN (a session holds the lock), -EBADMSG (not a file of grants) or
 * another -errno.
 */
int kept_revoke(const char *dir, const char *id);

/* The kept grant that answers this request of the agent (NULL or "": any agent) in this workspace, as
 * grant_entry_json(); NULL where no grant does.  It uses the helper's own functions. */
json_t *granted_find(const struct image *img, const char *agent, const char *workspace,
		     const struct request *req);

#endif
