/* Heads of the ledger in the system's journal. */
#ifndef PALE_HELPER_JOURNAL_H
#define PALE_HELPER_JOURNAL_H

struct ledger;

/* Whether the system's journal takes entries now: 0, also where the system has no journal, or -errno. */
int journal_look(void);
/* Sends it the last checkpoint; never blocks for long.  0, also without a journal, or -errno. */
int journal_head(const struct ledger *l);

#endif
