/*
 * The machine's ledger: what happens outside of sessions, as an ordinary ledger (record.h) that has no end.
 *
 * It lies in DIR/NAME/ledger.jsonl beside the directory of the sessions' ledgers, so nothing removes it with
 * them.  NAME is in its records in place of a session's.  Each writer locks it, continues the chain from its
 * last record, and waits until the new one is on the disk.
 */
#ifndef PALE_MACHINE_H
#define PALE_MACHINE_H

#include <sys/types.h>

#include "record.h"

#define MACHINE_PREFIX "machine"
#define MACHINE_OWN    MACHINE_PREFIX		/* written by the user's own programs */
#define MACHINE_HELPER MACHINE_PREFIX "-helper" /* written by a helper of another user */

/*
 * Appends r: the caller sets time, pid, op and, not escaped, what else it knows; the strings are borrowed.
 * `owner` is whose ledger it is.  0 with seq and hash in r; or -errno, and nothing was written: -EWOULDBLOCK
 * where another process holds the lock for too long, -EBADMSG where the last record cannot be read.
 */
int machine_append(int dir, const char *name, mode_t mode, uid_t owner, struct record *r);

#endif
