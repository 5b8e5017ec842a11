/*
 * What a question shows to a human: how much harm a yes could do, which variables matter, the card's digest.
 *
 * The risk is how much harm a yes to the question could do, and why.  The human who answers sees it, and it
 * selects what has to be confirmed a second time.  It decides nothing.  Pure, allocates nothing.
 */
#ifndef PALE_RISK_H
#define PALE_RISK_H

#include "policy/base/op.h"

enum risk_level { RISK_LOW, RISK_MEDIUM, RISK_HIGH, RISK_CRITICAL, RISK_LEVELS };

#define RISK_REASONS 6

struct risk {
	enum risk_level level;
	const char *reason[RISK_REASONS]; /* static sentence fragments, the worst first */
	enum risk_level of[RISK_REASONS]; /* the level of each reason by itself */
	size_t n;
};

const char *risk_name(enum risk_level level);
/*
 * The risk of req.  RISK_CRITICAL is what cannot be taken back: a forced push (one to a protected branch is
 * denied, not asked), publishing, releasing or deleting on a remote, a secret, the policy itself.
 */
struct risk risk_of(const struct request *req);
/* True for RISK_CRITICAL; used as eval_is_final. */
bool risk_is_final(const struct request *req);

#endif
