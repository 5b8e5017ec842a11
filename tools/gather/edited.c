/*
 * Bundles with a text that is not on disk, or not yet trusted.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/edit/edit.h"

#include "gather.h"

/* The order of bundle_gather(): it counts where two files set the same key. */
static const unsigned char order[SOURCE_LAYER_COUNT] = {
	[SOURCE_FLOOR] = 0, [SOURCE_ENV] = 1,	  [SOURCE_ENV_PROJECT] = 1,	[SOURCE_PRESET] = 2,
	[SOURCE_USER] = 2,  [SOURCE_PROJECT] = 3, [SOURCE_PROJECT_TRUSTED] = 3,
};

/* Removes the sources from `from` up to `to`. */
static void drop(struct bundle *b, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		source_done(&b->sources[i]);
	memmove(&b->sources[from], &b->sources[to], (b->n_sources - to) * sizeof(*b->sources));
	b->n_sources -= to - from;
}

void bundle_drop_sources(struct bundle *b, struct diags *d)
{
	for (size_t i = 0; i < b->n_sources; i++)
		diags_forget(d, b->sources[i].path);
	drop(b, 0, b->n_sources);
}

/* Moves the sources after the first n to `at`. */
static int move_last(struct bundle *b, size_t n, size_t at)
{
	size_t added = b->n_sources - n;
	struct source *last = calloc(added + 1, sizeof(*last));

	if (!last)
		return -ENOMEM;
	memcpy(last, b->sources + n, added * sizeof(*last));
	memmove(b->sources + at + added, b->sources + at, (n - at) * sizeof(*last));
	memcpy(b->sources + at, last, added * sizeof(*last));
	free(last);
	return 0;
}

static bool is_file(const struct source *s, const char *path)
{
	char real[PATH_MAX];

	if (s->path[0] != '/' || s->as)
		return false;
	return strcmp(s->path, path) == 0 ||
	       (path_real(s->path, real, sizeof(real)) == 0 && strcmp(real, path) == 0);
}

/* The end of the layer. */
static size_t end_of(const struct bundle *b, enum source_layer layer)
{
	size_t at = b->n_sources;

	while (at > 0 && order[b->sources[at - 1].layer] > order[layer])
		at--;
	return at;
}

int bundle_put_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len, struct diags *d)
{
	_cleanup_free_ char *named = NULL;
	size_t at = 0, first, n;
	int r;

	while (at < b->n_sources && !is_file(&b->sources[at], path))
		at++;
	if (at < b->n_sources) {
		named = TAKE_PTR(b->sources[at].path);
		diags_forget(d, named);
		for (first = at; first > 0 && b->sources[first - 1].as;)
			diags_forget(d, b->sources[--first].path);
		drop(b, first, at + 1);
		at = first;
	} else {
		at = end_of(b, layer);
	}
	n = b->n_sources;
	r = bundle_add_file(b, layer, named ? named : path, text, len, d);
	return r < 0 ? r : move_last(b, n, at);
}

static void drop_users(struct bundle *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n_sources; i++) {
		if (b->sources[i].layer == SOURCE_USER) {
			source_done(&b->sources[i]);
			continue;
		}
		b->sources[kept++] = b->sources[i];
	}
	b->n_sources = kept;
}

int bundle_gather_without(const struct options *o, struct bundle *b, struct diags *d)
{
	struct options without = *o;
	bool missing = o->policy && access(o->policy, F_OK) < 0 && errno == ENOENT;
	int r;

	if (missing)
		without.policy = NULL;
	r = bundle_gather(&without, NULL, b, d);
	if (missing)
		drop_users(b);
	return r;
}
