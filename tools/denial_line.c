/*
 * A denial in one line, for the operator's own command and for the supervisor's callers.
 */
#include <string.h>

#include "policy/buf.h"

#include "tools.h"

/* A target that fills the line is cut, and what follows still has room. */
static void put_target(struct out *o, const char *target)
{
	const size_t cap = o->cap;

	o->cap = o->len + (cap - o->len) / 2;
	text_escaped(o, target, strlen(target));
	o->cap = cap;
	if (o->failed) {
		o->failed = false;
		text_str(o, "...");
	}
}

void denial_put(struct out *o, const struct image *img, enum op op, const char *target,
		const struct decision *d, const char *why)
{
	unsigned id = decision_id(op, target, d);
	char rule[512];

	decision_describe(img, d, rule, sizeof(rule));
	text_str(o, "denied ");
	text_str(o, op_name(op));
	text_str(o, " ");
	put_target(o, target);
	text_str(o, " (");
	text_str(o, rule);
	if (*why) {
		text_str(o, ": ");
		text_escaped(o, why, strlen(why));
	}
	text_str(o, ") id=");
	text_hex(o, id, 4);
	text_str(o, "; see: pale explain ");
	text_hex(o, id, 4);
}
