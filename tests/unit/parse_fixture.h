/* A bundle that sources are added to, and the policy and the findings that come of it, for the suites of the
 * parser. */
#ifndef PALE_TEST_PARSE_FIXTURE_H
#define PALE_TEST_PARSE_FIXTURE_H

#include <string.h>

#include "policy/parse/parse.h"

static struct bundle b;
static struct policy p;
static struct diags d;

static inline void setup(void)
{
	bundle_init(&b);
	policy_init(&p);
	diags_init(&d);
	b.home = strdup("/home/u");
	b.workspace = strdup("/home/u/ws");
}

static inline void teardown(void)
{
	bundle_done(&b);
	policy_done(&p);
	diags_done(&d);
}

/* The first rule of that kind about that pattern, or NULL. */
static inline const struct rule *find_rule(enum rule_kind kind, const char *pattern)
{
	for (size_t i = 0; i < p.n_rules; i++)
		if (p.rules[i].kind == kind && strcmp(p.rules[i].pattern, pattern) == 0)
			return &p.rules[i];
	return NULL;
}

#endif
