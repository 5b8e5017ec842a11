/* A policy ready to judge. */
#ifndef PALE_LOAD_H
#define PALE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "policy/base/op.h"
#include "policy/image/image.h"
#include "policy/parse/parse.h"
#include "policy/rules/rule.h"

struct options;

/* A policy ready to judge. */
struct loaded {
	enum level level; /* at which it would be enforced */
	struct bundle bundle;
	struct policy policy;
	uint8_t *bytes;
	size_t size;
	struct image image;
};

/* Gathers, parses, compiles.  0, -EBADMSG with findings, -errno.  loaded_done() in each case. */
int loaded_init(struct loaded *l, const struct options *o, struct diags *d);
/* The same from a bundle, which is taken over. */
int loaded_from_bundle(struct loaded *l, struct bundle *b, struct diags *d);
void loaded_done(struct loaded *l);

/*
 * Parses b into p.  Adds to b the real path of each literal prefix that leads elsewhere, and marks the
 * unproven ones; a rule that would have opened such a place gives a warning.  first: the bundle that the
 * running session began with, or NULL.  Returns as policy_parse().
 */
int bundle_parse(struct bundle *b, const struct bundle *first, struct policy *p, struct diags *d);

#endif
