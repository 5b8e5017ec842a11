/* Questions to the helper. */
#ifndef PALE_PRELOAD_ASK_H
#define PALE_PRELOAD_ASK_H

#include <stdint.h>

#include "policy/base/op.h"
#include "policy/judge/eval.h"

struct answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};
/* Asks the helper and waits for the answer; tells the agent if that takes long.  If the helper cannot be
 * reached, the answer is a denial (REASON_NOBODY). */
void ask_helper(const struct request *req, const char *target, uint32_t rule, struct answer *ret);
/* A connection to the helper, or -errno.  The caller must close it. */
int ask_connect(void);
/* Gets the ring from the helper, at level hooks, where no supervisor gives it out.  Returns a descriptor
 * that the caller must close, or -errno.  For the constructor. */
long ask_ring(void);
/* Wakes the helper by a connection without a question. */
void ask_kick(void);

#endif
