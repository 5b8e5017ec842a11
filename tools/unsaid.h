/*
 * Denials that were not said on the session's terminal, because a program draws its screen there.
 *
 * What is not said is noted by the denial's id, and told from the ledger once the screen is the operator's
 * again: the ledger is what is believed, so that nobody puts words into our mouth.
 */
#ifndef PALE_UNSAID_H
#define PALE_UNSAID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNSAID_MAX 512

/* Zeroed, nothing is unsaid.  Any thread of pale run notes. */
struct unsaid {
	bool draws;	       /* a known agent: it draws from its first line on, before any mode shows it */
	atomic_bool alternate; /* a program switched to the alternate screen */
	_Atomic uint32_t ids[UNSAID_MAX];
	_Atomic uint32_t beyond; /* denials that found no place any more */
};

/* Not said: id is a denial's, or 0 for what nobody has to know afterwards. */
static inline void unsaid_note(struct unsaid *u, uint32_t id)
{
	for (size_t i = 0; id && i < UNSAID_MAX; i++) {
		uint32_t seen = 0;

		if (atomic_compare_exchange_strong(&u->ids[i], &seen, id) || seen == id)
			return;
	}
	if (id)
		atomic_fetch_add(&u->beyond, 1);
}

/* Tells what was noted, each once, by the ledger in dir, which is complete; forgets it. */
void unsaid_tell(struct unsaid *u, const char *dir, const char *session);

#endif
