/*
 * Where a session's directories lie.  Where helper and owner are one user that is the launcher's word; a
 * helper of another user believes none of it and makes them itself:
 *
 *   /run/pale/UID/SESSION                 image, ring, sockets
 *   /var/lib/pale/UID/                    grants and other things that outlive sessions
 *   /var/lib/pale/UID/sessions/SESSION    ledger
 *
 * An access list lets the owner, and no other user, read them; nobody but the helper writes.
 */
#ifndef PALE_PLACES_H
#define PALE_PLACES_H

#include <sys/types.h>

struct helper;

/* Directories that are held open, -1 for those that are not. */
struct places {
	int root; /* PLACE_STATE; of a foreign helper alone */
	int user; /* what is kept for the session's owner: the parent of sessions/ */
	int sessions, runtime;
};

#define PLACES_NONE                                                                                          \
	(struct places)                                                                                      \
	{                                                                                                    \
		-1, -1, -1, -1                                                                               \
	}

/*
 * Opens the directories that the session's own will be made in; a foreign helper makes what is missing below
 * PLACE_RUNTIME and PLACE_STATE and says in h->runtime_dir and h->state_dir where the session is.  0, or
 * -errno with a static sentence and the path that it is about.
 */
int places_open(struct helper *h, const char **ret_err, const char **ret_path);
/* Only what there is of this owner, whatever the session, in a foreign helper. */
int places_open_owner(struct helper *h, const char **ret_err, const char **ret_path);
void places_close(struct helper *h);

/*
 * Directory (O_RDONLY, ours to write and nobody else's) of what is kept for this owner across sessions; the
 * descriptor stays the helper's.  -EPERM where the launcher's state directory is in no such place: then
 * nothing can be kept.
 */
int places_open_user(const struct helper *h);
/* PLACE_STATE, what is kept for all users (the key of the ledgers); -ENOENT where helper and owner are one.
 */
int places_open_root(struct helper *h);

/* Mode of a file that the owner may read: in a foreign install the directory keeps others out. */
mode_t places_readable(const struct helper *h);

struct bundle;
struct diags;
/*
 * floor.c: in a foreign helper the floor of b is what root wrote into PLACE_CONFIG, whatever the launcher
 * says. For every bundle that becomes a session's policy, before it is parsed.  0, -EBADMSG with findings,
 * -ENOMEM.
 */
int floor_replace(const struct helper *h, struct bundle *b, struct diags *d);

/* Lets this one user read and search the directory, and nobody else but us.  0 or -errno. */
int places_admit(int dirfd, uid_t owner);

#endif
