/*
 * What --observe allows is judged by the policy as it is, record by record, so that the ledger says what
 * would have been denied or asked, and by which rule.
 */
#include "observed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/lesson/rejudge.h"
#include "policy/parse/parse.h"
#include "policy/record/record.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"

#include "helper/base/images.h"
#include "helper/base/state.h"

struct observed {
	uint8_t *bytes;
	struct image image;
};

static void drop_observed(struct observed *ob)
{
	if (ob)
		free(ob->bytes);
	free(ob);
}

static int compile_observed(struct helper *h, const struct bundle *b, struct observed *ob, struct diags *d)
{
	struct policy p;
	size_t size = 0;
	int r;

	policy_init(&p);
	r = policy_parse(b, &p, d);
	p.s.level = h->level;
	if (r == 0)
		r = image_compile(&p, NULL, d, &ob->bytes, &size);
	if (r == 0)
		r = image_open(&ob->image, ob->bytes, size);
	policy_done(&p);
	return r;
}

int observed_init(struct helper *h, struct bundle *b, struct diags *d)
{
	struct observed *ob = calloc(1, sizeof(*ob));
	bool was = b->observe;
	int r = -ENOMEM;

	b->observe = false;
	if (ob)
		r = compile_observed(h, b, ob, d);
	b->observe = was;
	if (r < 0) {
		drop_observed(ob);
		return r;
	}
	drop_observed(h->observed);
	h->observed = ob;
	return 0;
}

bool observed_judge(const struct helper *h, const struct ring_record *r, const char *target, const char *addr,
		    struct decision *ret, const struct image **ret_img)
{
	_cleanup_free_ char *escaped = record_escape(target, r->target_len);
	char detail[80];
	const struct record rec = { .op = op_name(r->op),
				    .target = escaped,
				    .access = access_name(r->access),
				    .verdict = "allow",
				    .detail = detail };

	snprintf(detail, sizeof(detail), "%s%s", *addr ? " addr=" : "", addr);
	if (!escaped || record_judge(&h->observed->image, &rec, h->workspace, ret) < 0)
		return false;
	/* The supervisor decides what git obeys, by what is written; it did so here, too. */
	if (ret->verdict == VERDICT_ALLOW || (ret->verdict == VERDICT_ASK && ret->reason == REASON_GIT))
		return false;
	*ret_img = &h->observed->image;
	return true;
}

void observed_done(struct helper *h)
{
	drop_observed(h->observed);
	h->observed = NULL;
}
