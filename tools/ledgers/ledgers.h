/* Ledgers on disk: found, read line by line, compared with the heads that were kept, removed. */
#ifndef PALE_LEDGERS_H
#define PALE_LEDGERS_H

#include <jansson.h>
#include <limits.h>
#include <stddef.h>

#include "policy/record/record.h"

#include "tools/sessions/sessions.h"

/* A ledger by its file. */
struct ledger_ref {
	char session[SESSION_ID_MAX];
	char dir[PATH_MAX];
	char started[32]; /* time of its first record, "" where it has no record */
};

/* Ledgers by the time of their first record, oldest first; prefix selects by session (NULL: all). */
int ledgers_list(const char *prefix, struct ledger_ref **ret, size_t *ret_n);
/* Appends the machine's ledgers to such a list: the user's own, and that of a helper of another user. */
int ledgers_add_machine(struct ledger_ref **list, size_t *n);
/*
 * Calls fn with each record of the ledger in dir whose line contains the text `having` (NULL: with each),
 * in order, until fn returns other than 0.  Lines that are no records are skipped: `pale log verify`
 * reports those.  fn may take rec over by setting rec->owner to NULL.  0, -errno, or fn's negative result.
 */
typedef int ledger_fn(void *ctx, struct record_owned *rec);
int ledger_each(const char *dir, const char *having, ledger_fn *fn, void *ctx);
/* DIR/session.json as an object, empty where it cannot be read (new reference). */
json_t *session_facts(const char *dir);
/* The value of `key` in DIR/session.json as text (the caller must free it), or NULL. */
char *session_fact(const char *dir, const char *key);

#endif
