/*
 * How matching rules are weighed: in each layer the most specific rule wins, on a tie the one with the
 * higher rank, then the strictest; across layers the strictest verdict wins.  Paths, hosts and commands
 * share it.  Private to policy/.
 */
#ifndef PALE_BALLOT_H
#define PALE_BALLOT_H

#include "policy/image/image.h"

#define MAX_SPEC 0xffffffu

struct ballot {
	uint64_t key[LAYER_COUNT]; /* 0: no rule voted */
	uint32_t rule[LAYER_COUNT];
	enum verdict verdict[LAYER_COUNT];
};

/* 0 allow, 1 ask, 2 deny and any value that is no verdict. */
static inline unsigned verdict_weight(enum verdict v)
{
	return v == VERDICT_ALLOW ? 0 : v == VERDICT_ASK ? 1 : 2;
}

static inline uint64_t ballot_key(unsigned spec, unsigned rank, unsigned weight)
{
	return ((uint64_t)(spec < MAX_SPEC ? spec : MAX_SPEC) + 1) << 16 | (uint64_t)(rank & 0xff) << 8 |
	       weight;
}

static inline void ballot_cast(struct ballot *b, unsigned layer, uint64_t key, enum verdict v, uint32_t rule)
{
	if (layer >= LAYER_COUNT || key <= b->key[layer])
		return;
	b->key[layer] = key;
	b->rule[layer] = rule;
	b->verdict[layer] = v;
}

/*
 * False where no rule decides.  An allow of the project's own file decides nothing: the file comes with the
 * code that pale confines, so it may only tighten.
 */
static inline bool ballot_result(const struct ballot *b, struct decision *d)
{
	bool any = false;

	for (unsigned i = 0; i < LAYER_COUNT; i++) {
		if (b->key[i] == 0 || (i == LAYER_PROJECT && b->verdict[i] == VERDICT_ALLOW))
			continue;
		if (any && verdict_weight(b->verdict[i]) <= verdict_weight(d->verdict))
			continue;
		*d = (struct decision){ b->verdict[i], REASON_RULE, b->rule[i], 0 };
		any = true;
	}
	return any;
}

/* Keeps the stricter decision in *d; on a tie *d stays as it is. */
static inline void decision_tighten(struct decision *d, const struct decision *other)
{
	if (verdict_weight(other->verdict) > verdict_weight(d->verdict))
		*d = *other;
}

static inline struct decision decision_deny(enum reason reason, uint32_t rule)
{
	return (struct decision){ VERDICT_DENY, reason, rule, 0 };
}

#endif
