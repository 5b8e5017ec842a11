/*
 * Denials that were not said on the session's terminal, because a program draws its screen there.
 *
 * Who would say one asks first; what is refused is noted by the denial's id, and told from the ledger once
 * the screen is the operator's again.  The ids are claims of the session's own processes: the ledger is what
 * is believed, so that nobody puts words into our mouth.
 */
#ifndef PALE_UNSAID_H
#define PALE_UNSAID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/wire.h"

#define UNSAID_WORDS (WIRE_SAY_NO_ID / 64)

/* Zeroed, nothing is unsaid.  Any thread of pale run notes. */
struct unsaid {
	bool draws;	       /* a known agent: it draws from its first line on, before any mode shows it */
	atomic_bool alternate; /* a program switched to the alternate screen */
	_Atomic uint64_t ids[UNSAID_WORDS];
};

/* Not said: id is a denial's, or WIRE_SAY_NO_ID for what nobody has to know afterwards. */
static inline void unsaid_note(struct unsaid *u, unsigned id)
{
	if (id < WIRE_SAY_NO_ID)
		atomic_fetch_or(&u->ids[id / 64], (uint64_t)1 << id % 64);
}
/* Tells what was noted, each once, by the ledger in dir, which is complete; forgets it. */
void unsaid_tell(struct unsaid *u, const char *dir, const char *session);

#endif
