/* Ledgers that are past their retention. */
#ifndef PALE_PRUNE_H
#define PALE_PRUNE_H

struct ledger_ref;
struct options;

/* Removes old ledgers.  Exit code. */
int log_prune(const struct options *o, int argc);
/* A ledger that is past its retention and whose session is over. */
struct old_ledger {
	const struct ledger_ref *ref;
	int dirfd; /* its directory */
	long days;
};
/* Calls f for each such ledger of sessions whose id begins with session (NULL: of all).  0 or -errno. */
int ledgers_each_old(const char *session, void (*f)(void *ctx, const struct old_ledger *old), void *ctx);
/* Removes the ledger and its directory; a file that no helper made stays, and so does the directory then.
 * 0 or -errno. */
int ledger_remove(const struct old_ledger *old);

#endif
