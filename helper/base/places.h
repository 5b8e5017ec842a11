/*
 * Where a session's directories lie.  Where helper and owner are one user, the launcher names them; a helper
 * that runs as another user ignores these names and makes the directories itself:
 *
 *   /run/pale/UID/SESSION                 image, ring, sockets
 *   /var/lib/pale/UID/                    grants and other things that outlive sessions
 *   /var/lib/pale/UID/sessions/SESSION    ledger
 *
 * An access list lets the owner, and no other user, read them; only the helper writes.
 */
#ifndef PALE_PLACES_H
#define PALE_PLACES_H

#include <sys/types.h>

struct helper;

/* Directories that are held open, -1 for those that are not. */
struct places {
	int root; /* PLACE_STATE; only in a foreign helper */
	int user; /* what is kept for the session's owner: the parent of sessions/ */
	int sessions, runtime;
};

#define PLACES_NONE                                                                                          \
	(struct places)                                                                                      \
	{                                                                                                    \
		-1, -1, -1, -1                                                                               \
	}

/*
 * Opens the directories in which the session's own are created; a foreign helper creates what is missing
 * below PLACE_RUNTIME and PLACE_STATE, and sets h->runtime_dir and h->state_dir.  0, or -errno with a
 * static sentence and the path that it is about.
 */
int places_open(struct helper *h, const char **ret_err, const char **ret_path);
/* In a foreign helper: opens only what belongs to this owner, without a session. */
int places_open_owner(struct helper *h, const char **ret_err, const char **ret_path);
void places_close(struct helper *h);

/*
 * Directory (O_RDONLY, writable by the helper's user only) of what is kept for this owner across sessions;
 * the descriptor stays the helper's.  -EPERM where the launcher's state directory is in no such place: then
 * nothing can be kept.
 */
int places_open_user(const struct helper *h);
/*
 * PLACE_STATE, what is kept for all users (the key of the ledgers); -ENOENT where helper and owner are one
 * user.
 */
int places_open_root(struct helper *h);

/* Mode of a file that the owner may read: in a foreign install the directory keeps others out. */
mode_t places_readable(const struct helper *h);

/* Lets this one user, besides the helper's own, read and search the directory.  0 or -errno. */
int places_admit(int dirfd, uid_t owner);

#endif
