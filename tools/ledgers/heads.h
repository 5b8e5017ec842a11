/*
 * The heads that ledgers had at the end of their sessions (heads.jsonl, and the system's journal).  A ledger
 * that was cut short or rewritten since does not have its head any more.
 */
#ifndef PALE_HEADS_H
#define PALE_HEADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dirs;

/* Appends the head that a session's ledger has at its end, its hash and the number of its records, to
 * $XDG_STATE_HOME/pale/heads.jsonl.  Tells the operator where it cannot. */
void heads_keep(const struct dirs *dirs, const char *session, uint64_t records, const char *hash,
		bool sealed);
/* The hash of record `count` of a session's ledger; time is "" where it is not known.  Strings are borrowed.
 */
struct head {
	const char *session, *time, *hash;
	uint64_t count;
};

/* Called for each head; it may keep nothing that head points to. */
typedef void head_fn(void *ctx, const struct head *head);
/* Calls fn for each head in heads.jsonl of this session, or of all (NULL).  0, also where none is found, or
 * -errno. */
int heads_kept(const char *session, head_fn *fn, void *ctx);
#define NO_OWNER ((uid_t)-1)
/* The same with the system's journal, as far as this user may read it: heads of the sessions of owner
 * (NO_OWNER: of any user) that came from a helper running as writer, as this user or as the user pale.  The
 * number of heads, or -errno (-ENOENT: journalctl is not found). */
int heads_from_journal(const char *session, uid_t writer, uid_t owner, head_fn *fn, void *ctx);

#endif
