/* A question to the helper in a caller's name, and the operator's answer. */
#ifndef PALE_VERDICT_ANSWER_H
#define PALE_VERDICT_ANSWER_H

#include <stdint.h>

#include "policy/base/op.h"
#include "policy/judge/eval.h"

struct caller;
struct supervisor;

/* The operator's answer. */
struct verdict_answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};

/* Asks the helper in the caller's name, tells the caller that it waits, and waits.  Blocks: the lead must
 * have been passed on. */
void ask_helper(struct caller *c, const struct request *req, const char *target, uint32_t rule,
		struct verdict_answer *ret);
/* Wakes the helper by a connection that carries no question. */
void ask_kick(const struct supervisor *s);

#endif
