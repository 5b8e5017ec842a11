/* Records move from the rings to the ledger. */
#ifndef PALE_HELPER_DRAIN_RINGS_H
#define PALE_HELPER_DRAIN_RINGS_H

#include <stdbool.h>
#include <stddef.h>

struct helper;

#define DRAIN_MAX 20000

/* Initializes the feeds, before their rings are mapped. */
void drain_init(struct helper *h);
/* Moves up to DRAIN_MAX records from the rings to the ledger; how many. */
size_t drain_turn(struct helper *h);
/* At the end: moves all records from the rings, after a short wait for writers that are not done. */
void drain_all(struct helper *h);
bool rings_are_empty(const struct helper *h);
/* True once after tampering that was not recorded before. */
bool drain_found_tampering(struct helper *h);

#endif
