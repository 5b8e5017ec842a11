/* Ledgers of sessions that ended long ago. */
#ifndef PALE_HELPER_RETENTION_H
#define PALE_HELPER_RETENTION_H

#include <stdbool.h>
#include <sys/types.h>

struct helper;

#define RETENTION_DAYS 90 /* without a record, before a ledger is removed */

/* Removes ledgers of sessions that ended long ago; bounded in time. */
void retention_run(struct helper *h);
/* Bytes of all ledgers of this owner. */
off_t retention_sum(const struct helper *h);
/* True where a helper makes a file of this name in a session's directory. */
bool retention_is_helpers(const char *name);
/* True where the helper of the session in this directory lives, or may live. */
bool retention_is_live(int dirfd);
/* Removes an ended session's ledger, and records that and why; false where it was not removed. */
bool retention_remove(struct helper *h, int sessions, const char *name, const char *why);

#endif
