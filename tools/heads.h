/*
 * Heads of ledgers that were told at the end of sessions, kept beside the ledgers' directory: what a ledger
 * that was cut short or made anew does not agree with.
 */
#ifndef PALE_HEADS_H
#define PALE_HEADS_H

#include <stdint.h>
#include <sys/types.h>

struct dirs;
struct launch_end;

/* Appends the head that the helper told at the session's end, if it did, to $XDG_STATE_HOME/pale/heads.jsonl;
 * says so where it cannot. */
void heads_keep(const struct dirs *dirs, const char *session, const struct launch_end *end);
/* A head that was told before; time is "" where it is not known. */
struct head {
	const char *session, *time, *hash;
	uint64_t count;
};

/* What is done with each. */
typedef void head_fn(void *ctx, const struct head *head);
/* The heads that were kept of this session, or of all (NULL).  0, also where there are none, or -errno. */
int heads_kept(const char *session, head_fn *fn, void *ctx);
#define NO_OWNER ((uid_t)-1)
/* The same from the system's journal, as far as this user may read it: what writer's helper, one of ours or
 * one that is a user of its own told of owner's sessions (NO_OWNER: whosever).  How many, or -errno
 * (-ENOENT: no journalctl). */
int heads_from_journal(const char *session, uid_t writer, uid_t owner, head_fn *fn, void *ctx);

#endif
