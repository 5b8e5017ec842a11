/* Limits for each owner. */
#ifndef PALE_HELPER_BOUNDS_H
#define PALE_HELPER_BOUNDS_H

#include <stddef.h>
#include <sys/types.h>

struct helper;

/* Takes one of the owner's slots for sessions and limits memory, before anything is read: 0, or -errno with a
 * sentence and the path that it is about (-EUSERS: all slots are taken). */
int bounds_enter(struct helper *h, const char **ret_err, const char **ret_path);
/* As file_create, in the runtime directory: -EDQUOT where this session, or all of the owner's, have too much
 * there. */
int bounds_create(struct helper *h, const char *name, mode_t mode, const void *bytes, size_t len);
/*
 * Renames `fresh` to `name` there.  A foreign helper keeps the replaced file under another name, and counts
 * it until the session ends.  0 or -errno.
 */
int bounds_replace(struct helper *h, const char *fresh, const char *name);
/* Removes all files of a foreign helper's runtime directory, and what they hold. */
void bounds_empty(int dirfd);
/* For ledger.room: 0, or -EDQUOT where this session, or all of the owner's, may write no more. */
int bounds_room(void *helper);
/* Bytes of a session's ledger with all its parts. */
off_t ledger_bytes(int sessions, const char *session);

#endif
