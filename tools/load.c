/*
 * From options to an image that judges: gather, parse, look up real paths, parse again, compile.
 * The helper compiles the same bundle for a session, so both give the same answers.
 */
#include <errno.h>
#include <string.h>

#include "policy/path.h"

#include "tools.h"

struct resolve_ctx {
	struct bundle *b;
	struct reals reals;
	int error;
};

static bool is_known(const struct bundle *b, const char *prefix)
{
	for (size_t i = 0; i < b->n_reals; i++)
		if (strcmp(b->reals[i].prefix, prefix) == 0)
			return true;
	return false;
}

/*
 * Names that mean another file to each process: what they lead to here is ours.  Neither /proc/self is this
 * process to the session, nor the operator's redirection a place that a rule for `/dev/stdout` opens.
 */
static bool is_each_ones_own(const char *path)
{
	static const char *const list[] = { "/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr" };

	for (size_t i = 0; i < NELEM(list); i++)
		if (path_is_under(path, list[i]))
			return true;
	return false;
}

static void resolve_one(const char *prefix, void *arg)
{
	struct resolve_ctx *ctx = arg;
	char real[PATH_MAX] UNINITIALIZED;

	if (ctx->error < 0 || prefix[0] != '/' || is_each_ones_own(prefix) ||
	    reals_find(&ctx->reals, prefix, real, sizeof(real)) < 0 || strcmp(real, prefix) == 0 ||
	    is_each_ones_own(real) || is_known(ctx->b, prefix))
		return;
	ctx->error = bundle_add_real(ctx->b, prefix, real);
}

int bundle_resolve_again(struct bundle *b, const struct policy *p, const struct bundle *first,
			 struct diags *d)
{
	struct resolve_ctx ctx = { .b = b };

	policy_literals(p, resolve_one, &ctx);
	reals_done(&ctx.reals);
	return ctx.error < 0 ? ctx.error : reals_prove(b, p, first, d);
}

int bundle_resolve(struct bundle *b, const struct policy *p, struct diags *d)
{
	return bundle_resolve_again(b, p, NULL, d);
}

/* The findings of the first parse are told by the second, which finds the same. */
static int find_reals(struct bundle *b, struct diags *found)
{
	struct policy first;
	struct diags d;
	int r;

	policy_init(&first);
	diags_init(&d);
	r = policy_parse(b, &first, &d);
	if (r == 0)
		r = bundle_resolve(b, &first, found);
	policy_done(&first);
	diags_done(&d);
	return r == -EBADMSG ? 0 : r;
}

static int build(struct loaded *l, struct diags *d)
{
	int r = find_reals(&l->bundle, d);

	if (r == 0)
		r = policy_parse(&l->bundle, &l->policy, d);
	l->policy.s.level = l->level;
	if (r == 0)
		r = image_compile(&l->policy, NULL, d, &l->bytes, &l->size);
	if (r == 0)
		r = image_open(&l->image, l->bytes, l->size, IMAGE_CHECK_ALL);
	return r;
}

int loaded_from_bundle(struct loaded *l, struct bundle *b, struct diags *d)
{
	memset(l, 0, sizeof(*l));
	policy_init(&l->policy);
	l->level = LEVEL_FULL;
	l->bundle = *b;
	bundle_init(b);
	return build(l, d);
}

int loaded_init(struct loaded *l, const struct options *o, struct diags *d)
{
	int r;

	memset(l, 0, sizeof(*l));
	policy_init(&l->policy);
	l->level = o->level ? level_by_name(o->level) : LEVEL_FULL;
	r = bundle_gather(o, NULL, &l->bundle, d);
	return r < 0 ? r : build(l, d);
}

void loaded_done(struct loaded *l)
{
	free(l->bytes);
	policy_done(&l->policy);
	bundle_done(&l->bundle);
}
