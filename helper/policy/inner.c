/*
 * The bundle comes from inside the fence and so is hostile.  It can only narrow the policy, whatever it
 * says, because the new image includes the whole image of the process that asks, which is judged first to
 * last; launch flags that would lift limits are dropped here.
 */
#include "inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/parse/parse.h"

#include "helper/base/images.h"
#include "helper/base/state.h"

#include "incoming.h"

static const char *compile_sentence(int r)
{
	if (r == -EBADMSG)
		return "the policy of the nested run has errors";
	if (r == -E2BIG)
		return "too many runs inside each other, or the policy is too large";
	return "the policy of the nested run cannot be compiled";
}

static int compile_inner(const struct image *around, bool may_ask, struct bundle *b, struct inner *ret)
{
	size_t size = 0;
	struct policy p;
	struct diags d;
	int r;

	b->observe = false;
	b->danger = b->allow_sensitive = b->allow_denylisted = b->allow_unhooked = false;
	policy_init(&p);
	diags_init(&d);
	r = policy_parse(b, &p, &d);
	if (r == 0)
		r = image_compile(&p, around, &d, &ret->made.bytes, &size);
	if (r == 0)
		r = image_open_checked(&ret->made.image, ret->made.bytes, size);
	if (r == 0)
		((struct image_header *)ret->made.bytes)->counts_from = around->h->counts_from;
	if (r == 0) {
		ret->made.no_prompt = b->no_prompt || !may_ask;
		ret->mode = p.s.mode;
		ret->workspace = strdup(p.workspace);
		ret->sources = sources_text(b, p.preset ? p.preset : "");
	}
	if (r == 0 && (!ret->workspace || !ret->sources))
		r = -ENOMEM;
	diags_done(&d);
	policy_done(&p);
	return r;
}

int inner_make(const struct image *around, bool may_ask, const char *text, size_t len, struct inner *ret,
	       const char **ret_err)
{
	struct bundle b;
	int r;

	*ret_err = "the bundle cannot be read";
	bundle_init(&b);
	r = bundle_decode(text, len, &b);
	if (r == 0) {
		r = compile_inner(around, may_ask, &b, ret);
		*ret_err = compile_sentence(r);
	}
	bundle_done(&b);
	return r;
}

int inner_again(const struct narrowed *old, const struct image *around, struct narrowed *ret)
{
	struct inner in = { .made.bytes = NULL };
	const char *err;
	int r = -ENOMEM;

	if (old->bundle)
		r = inner_make(around, !old->no_prompt, old->bundle, old->bundle_len, &in, &err);
	free(in.workspace);
	free(in.sources);
	if (r < 0) {
		free(in.made.bytes);
		return r;
	}
	*ret = in.made;
	ret->no_prompt = old->no_prompt;
	ret->outer = old->outer;
	return 0;
}
