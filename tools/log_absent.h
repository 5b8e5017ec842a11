/* What `pale log verify` misses, and of whom.  Included by log_absent.c and log_verify.c. */
#ifndef PALE_LOG_ABSENT_H
#define PALE_LOG_ABSENT_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#define GONE "its ledger is gone"

struct ledger_ref;
struct options;

/* The user whose ledgers are meant; NO_OWNER for root who names none, and for a --user that is not there. */
uid_t who_asks(const struct options *o);
/*
 * Reports the sessions, but for those of refs and those that ended by removed_until (RFC 3339, or ""), of
 * which a head was told and that left no ledger.  An exit code.
 */
int log_absent(const struct options *o, const struct ledger_ref *refs, size_t n, const char *removed_until,
	       json_t *list);

#endif
