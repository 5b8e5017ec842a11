/* Ledgers that `pale log verify` does not find.  Included by log_absent.c and log_verify.c. */
#ifndef PALE_LOG_ABSENT_H
#define PALE_LOG_ABSENT_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#define GONE "its ledger is gone"

struct ledger_ref;
struct options;

/* The user whose ledgers are verified: --user, or the caller.  NO_OWNER: any user, where root names none;
 * also where the user does not exist. */
uid_t who_asks(const struct options *o);
/*
 * Reports each session that has a kept head but no ledger, except sessions that ended by removed_until (RFC
 * 3339, or "").  refs are the n ledgers that exist.  Returns an exit code.
 */
int log_absent(const struct options *o, const struct ledger_ref *refs, size_t n, const char *removed_until,
	       json_t *list);

#endif
