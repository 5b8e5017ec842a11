/*
 * Heads of ledgers that were told at the end of sessions, kept beside the ledgers' directory: what a ledger
 * that was cut short or made anew does not agree with.
 */
#ifndef PALE_HEADS_H
#define PALE_HEADS_H

#include <sys/types.h>

#include "policy/chain.h"

struct dirs;
struct launch_end;

/* Appends the head that the helper told at the session's end, if it did, to $XDG_STATE_HOME/pale/heads.jsonl;
 * says so where it cannot. */
void heads_keep(const struct dirs *dirs, const char *session, const struct launch_end *end);
/* Tells the chain what is known of this session's heads.  0, also where nothing is, or -errno. */
int heads_expect(const char *session, struct record_chain *c);
/* The same from the system's journal, as far as this user may read it, of a ledger of owner's: how many, or
 * -errno (-ENOENT: no journalctl). */
int heads_from_journal(const char *session, uid_t owner, struct record_chain *c);

#endif
