/*
 * What `pale` does outside of sessions, in the machine's ledger (policy/record/machine.h): `pale log
 * --machine`.  A change is recorded before it is made, and is not made where it cannot be recorded.  What
 * only takes a right away is made in any case, and recorded afterwards.
 */
#ifndef PALE_DEEDS_H
#define PALE_DEEDS_H

#include "policy/record/machine.h"

/* Records op on target with the SHA-256 of text (NULL: none).  0, or -errno after a message. */
int machine_note(const char *op, const char *target, const char *text, size_t len);
/* Records what was refused, and why. */
void machine_refused(const char *op, const char *why);
/* Records that a noted deed failed, where r is -errno.  Returns r. */
int machine_done(const char *op, const char *target, int r);

#endif
