/* A policy built rule by rule and its image, for the suites of the evaluator. */
#ifndef PALE_TEST_IMAGE_FIXTURE_H
#define PALE_TEST_IMAGE_FIXTURE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

struct fixture {
	struct policy p;
	struct diags d;
	struct image img;
	uint8_t *bytes;
	size_t size;
	unsigned line;
};

static inline void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	policy_init(&f->p);
	diags_init(&f->d);
	f->p.s.mode = MODE_WORKSPACE_WRITE;
	f->p.s.approvals = APPROVALS_ASK;
	f->p.s.network = NETWORK_MERGE;
	f->p.s.net_default = VERDICT_DENY;
	f->p.s.cmd_default = VERDICT_ALLOW;
	f->p.workspace = strdup("/ws");
}

/* The n-th call makes line n of policy.ini. */
static inline struct rule *fixture_rule(struct fixture *f, enum rule_kind kind, const char *pattern)
{
	struct rule *r = policy_add(&f->p);

	ck_assert_ptr_nonnull(r);
	r->kind = kind;
	r->layer = LAYER_USER;
	r->rank = RANK_USER;
	r->text = strdup(pattern);
	r->pattern = strdup(pattern);
	r->file = strdup("/home/u/.config/pale/policy.ini");
	r->line = ++f->line;
	return r;
}

static inline void fixture_workspace(struct fixture *f)
{
	struct rule *r = fixture_rule(f, RULE_FILE_WRITE, "/ws");

	free(r->text);
	free(r->file);
	r->text = strdup("the workspace");
	r->file = strdup("built in");
	r->rank = RANK_PRESET;
	r->line = 0;
	f->line--;
}

static inline int fixture_try(struct fixture *f, const struct image *outer)
{
	int err = image_compile(&f->p, outer, &f->d, &f->bytes, &f->size);

	return err ? err : image_open_checked(&f->img, f->bytes, f->size);
}

static inline void fixture_compile(struct fixture *f)
{
	ck_assert_int_eq(fixture_try(f, NULL), 0);
}

static inline void fixture_done(struct fixture *f)
{
	policy_done(&f->p);
	diags_done(&f->d);
	free(f->bytes);
	memset(f, 0, sizeof(*f));
}

static inline const char *fixture_describe(const struct fixture *f, const struct decision *d)
{
	static char buf[512];

	decision_describe(&f->img, d, buf, sizeof(buf));
	return buf;
}

#endif
