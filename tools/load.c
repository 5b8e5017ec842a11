/*
 * From options to an image that judges: gather, parse, look up real paths, parse again, compile.
 * The helper compiles the same bundle for a session, so both give the same answers.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tools.h"

#define CACHE_MAX 64

/* Hundreds of literals share a few directories: the real path of each directory is looked up once. */
struct resolve_ctx {
	struct bundle *b;
	int error;
	struct {
		char *dir, *real;
	} cache[CACHE_MAX];
	size_t n;
};

static const char *real_of_dir(struct resolve_ctx *ctx, const char *dir)
{
	char real[PATH_MAX];

	for (size_t i = 0; i < ctx->n; i++)
		if (strcmp(ctx->cache[i].dir, dir) == 0)
			return ctx->cache[i].real;
	if (ctx->n == CACHE_MAX) {
		ctx->n--;
		free(ctx->cache[ctx->n].dir);
		free(ctx->cache[ctx->n].real);
	}
	if (path_real(dir, real, sizeof(real)) < 0)
		return NULL;
	ctx->cache[ctx->n].dir = strdup(dir);
	ctx->cache[ctx->n].real = strdup(real);
	if (!ctx->cache[ctx->n].dir || !ctx->cache[ctx->n].real) {
		free(ctx->cache[ctx->n].dir);
		free(ctx->cache[ctx->n].real);
		ctx->error = -ENOMEM;
		return NULL;
	}
	return ctx->cache[ctx->n++].real;
}

/* A name that is no symbolic link lies where its directory lies; any other is looked up by itself. */
static int real_of_literal(struct resolve_ctx *ctx, const char *prefix, char *buf, size_t size)
{
	const char *slash = strrchr(prefix, '/'), *parent;
	char dir[PATH_MAX];
	struct stat st;

	if (slash == prefix || strlen(prefix) >= sizeof(dir) ||
	    (lstat(prefix, &st) == 0 ? S_ISLNK(st.st_mode) : errno != ENOENT))
		return path_real(prefix, buf, size);
	memcpy(dir, prefix, (size_t)(slash - prefix));
	dir[slash - prefix] = '\0';
	parent = real_of_dir(ctx, dir);
	return parent ? path_join(buf, size, parent, slash + 1) : -ENOENT;
}

static bool is_known(const struct bundle *b, const char *prefix)
{
	for (size_t i = 0; i < b->n_reals; i++)
		if (strcmp(b->reals[i].prefix, prefix) == 0)
			return true;
	return false;
}

static void resolve_one(const char *prefix, void *arg)
{
	struct resolve_ctx *ctx = arg;
	char real[PATH_MAX];

	if (ctx->error < 0 || prefix[0] != '/' || real_of_literal(ctx, prefix, real, sizeof(real)) < 0 ||
	    strcmp(real, prefix) == 0 || is_known(ctx->b, prefix))
		return;
	ctx->error = bundle_add_real(ctx->b, prefix, real);
}

int bundle_resolve(struct bundle *b, const struct policy *p)
{
	struct resolve_ctx ctx = { .b = b };

	policy_literals(p, resolve_one, &ctx);
	for (size_t i = 0; i < ctx.n; i++) {
		free(ctx.cache[i].dir);
		free(ctx.cache[i].real);
	}
	return ctx.error;
}

/* The findings of the first parse are told by the second, which finds the same. */
static int find_reals(struct bundle *b)
{
	struct policy first;
	struct diags d;
	int r;

	policy_init(&first);
	diags_init(&d);
	r = policy_parse(b, &first, &d);
	if (r == 0)
		r = bundle_resolve(b, &first);
	policy_done(&first);
	diags_done(&d);
	return r == -EBADMSG ? 0 : r;
}

static int build(struct loaded *l, struct diags *d)
{
	int r = find_reals(&l->bundle);

	if (r == 0)
		r = policy_parse(&l->bundle, &l->policy, d);
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
	l->bundle = *b;
	bundle_init(b);
	return build(l, d);
}

int loaded_init(struct loaded *l, const struct options *o, struct diags *d)
{
	int r;

	memset(l, 0, sizeof(*l));
	policy_init(&l->policy);
	r = bundle_gather(o, NULL, &l->bundle, d);
	return r < 0 ? r : build(l, d);
}

void loaded_done(struct loaded *l)
{
	free(l->bytes);
	policy_done(&l->policy);
	bundle_done(&l->bundle);
}
