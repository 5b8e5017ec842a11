/* One record of a ring. */
#ifndef PALE_HELPER_ENTRY_H
#define PALE_HELPER_ENTRY_H

#include <stdint.h>

#include "policy/wire/ring.h"

#include "helper/ledger/programs.h"

struct helper;

/* Adds the record r of that ring to the ledger and the tally. */
void entry_add(struct helper *h, enum feed_id id, struct ring_record *r, uint64_t now_ns);

#endif
