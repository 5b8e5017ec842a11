/*
 * Bundles with a text that is not on disk, or not yet trusted.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/edit/edit.h"

#include "gather.h"

/* The order of bundle_gather(): it counts where two files set the same key. */
static const unsigned char order[SOURCE_LAYER_COUNT] = {
	[SOURCE_FLOOR] = 0, [SOURCE_ENV] = 1,	  [SOURCE_ENV_PROJECT] = 1,	[SOURCE_PRESET] = 2,
	[SOURCE_USER] = 2,  [SOURCE_PROJECT] = 3, [SOURCE_PROJECT_TRUSTED] = 3,
};

static int replace_text(struct source *s, enum source_layer layer, const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = '\0';
	free(s->text);
	s->text = copy;
	s->len = len;
	s->layer = layer;
	return 0;
}

/* Moves the last source to the end of its layer. */
static void move_last_source(struct bundle *b)
{
	size_t last = b->n_sources - 1, at = last;
	struct source s = b->sources[last];

	while (at > 0 && order[b->sources[at - 1].layer] > order[s.layer])
		at--;
	memmove(&b->sources[at + 1], &b->sources[at], (last - at) * sizeof(s));
	b->sources[at] = s;
}

static bool is_file(const struct source *s, const char *path)
{
	char real[PATH_MAX];

	if (s->path[0] != '/')
		return false;
	return strcmp(s->path, path) == 0 ||
	       (path_real(s->path, real, sizeof(real)) == 0 && strcmp(real, path) == 0);
}

int bundle_put_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len)
{
	int r;

	for (size_t i = 0; i < b->n_sources; i++)
		if (is_file(&b->sources[i], path))
			return replace_text(&b->sources[i], layer, text, len);
	r = bundle_add_source(b, layer, path, text, len);
	if (r == 0)
		move_last_source(b);
	return r;
}

static void drop_users(struct bundle *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n_sources; i++) {
		if (b->sources[i].layer == SOURCE_USER) {
			free(b->sources[i].path);
			free(b->sources[i].text);
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
