/* Repeats of an event that become one record. */
#ifndef PALE_HELPER_FOLD_H
#define PALE_HELPER_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

struct ledger;

#define FOLD_MAX 4096 /* a power of two */

struct fold_entry {
	uint64_t key;
	uint64_t deadline_ns;
	uint32_t chain; /* position + 1 of the next entry of this bucket */
	char *strings;	/* exe, target, rule, approval, detail: one block, freed with the entry */
	struct event e;
};

/* Decisions of the last two seconds, oldest first. */
struct fold {
	struct fold_entry ring[FOLD_MAX];
	uint32_t bucket[FOLD_MAX]; /* position + 1 in ring by key, 0 = none */
	uint64_t first, next;
	uint64_t repeats; /* counted, but not recorded yet */
	struct ledger *ledger;
};

enum fold_urgency { FOLD_WAIT, FOLD_NOW };

/* Records e at once, or counts it as a repeat of an equal event.  Equal events have the same key. */
void fold_add(struct fold *f, uint64_t key, const struct event *e, uint64_t now_ns);
/* Records the repeats of events that are older than the window; FOLD_NOW: of all events. */
void fold_flush(struct fold *f, enum fold_urgency urgency, uint64_t now_ns);
/* Counts a repeat, whose event need not be built then.  False where it is no repeat. */
bool fold_repeat(struct fold *f, uint64_t key);

#endif
