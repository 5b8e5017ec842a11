/* Checkpoints of the ledger: the key that signs them, and when one is due. */
#ifndef PALE_HELPER_SIGNING_H
#define PALE_HELPER_SIGNING_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/record/checkpoint.h"

struct ledger;

/*
 * Loads the key that signs checkpoints from the directory root (PLACE_STATE of a setuid install).  The key is
 * made at first use, with its public key beside it for verifiers.  0, or -errno with a static sentence.  A
 * key that exists and cannot be read is not replaced.
 */
int checkpoint_key_load(int root, struct checkpoint_key *ret, const char **ret_err);
/* True where a checkpoint is due. */
bool checkpoint_due(const struct ledger *l, uint64_t now_ns);
/* Appends a checkpoint of all records before it.  0 or -errno. */
int checkpoint_add(struct ledger *l);
/* Called when all that was written is on the disk: sends a new checkpoint to the journal. */
void checkpoint_synced(struct ledger *l);

#endif
