/*
 * Files that a policy takes in: `include = PATH sha256:HEX` and `extends = PATH sha256:HEX`.
 *
 * A file with the right hash is trusted as the policy itself is: its author chose that exact text.  A
 * project's policy names files of its workspace alone, so that it can make pale read no other.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/op.h"
#include "policy/base/path.h"
#include "policy/parse/ini.h"
#include "policy/record/digest.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "gather.h"

#define TAKE_DEPTH 4
#define TAKE_FILES 32 /* in all of a bundle's files */

/* One file while it is read, below the one that takes it in. */
struct taker {
	const struct taker *above;
	struct bundle *b;
	struct diags *d;
	enum source_layer layer;
	const char *path;
	bool base;
	bool in_section; /* further down, these words are unknown keys */
};

/* One line of it. */
struct take {
	const struct taker *t;
	const struct ini_pair *pair;
	char name[INI_LINE_MAX + 1], path[LIMIT_PATH];
	const char *hex;
};

static int read_source(struct taker *t, const char *as, const char *text, size_t len);

__attribute__((format(printf, 4, 5))) static int refuse(const struct take *k, const char *code,
							const char *hint, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return diag_add(k->t->d, SEVERITY_ERROR, code, k->t->path, k->pair->line, k->pair->value_col, hint,
			"%s", text);
}

static int find_file(struct take *k)
{
	char dir[LIMIT_PATH];
	int r;

	if (strncmp(k->name, "~/", 2) == 0)
		return path_normalise(k->t->b->home, k->name + 2, k->path, sizeof(k->path));
	r = snprintf(dir, sizeof(dir), "%.*s/", (int)(path_basename(k->t->path) - k->t->path), k->t->path);
	return r >= (int)sizeof(dir) ? -ENAMETOOLONG : path_normalise(dir, k->name, k->path, sizeof(k->path));
}

static bool is_project(enum source_layer layer)
{
	return layer == SOURCE_PROJECT || layer == SOURCE_PROJECT_TRUSTED;
}

/* In the workspace, and not reached by a symbolic link. */
static bool is_in_workspace(const struct take *k)
{
	char real[LIMIT_PATH];

	return path_is_under(k->path, k->t->b->workspace) &&
	       (path_real(k->path, real, sizeof(real)) < 0 || strcmp(real, k->path) == 0);
}

/* Why the file may not be taken in here, whatever it says; NULL if it may. */
static const char *wrong_place(const struct take *k)
{
	unsigned depth = 1, files;

	for (const struct taker *t = k->t; t; t = t->above, depth++)
		if (strcmp(t->path, k->path) == 0)
			return "is this file, or one that takes it in";
	/* Those that are being read are not in the bundle yet. */
	files = depth - 2;
	for (size_t i = 0; i < k->t->b->n_sources; i++)
		files += k->t->b->sources[i].as != NULL;
	if (depth > TAKE_DEPTH + 1)
		return "is too deep: four files below each other may be taken in";
	if (files >= TAKE_FILES)
		return "is one too many: 32 files may be taken in";
	if (is_project(k->t->layer) && !is_in_workspace(k))
		return "is not in the workspace, or is reached by a symbolic link: a project's policy takes "
		       "in no "
		       "such file";
	return NULL;
}

/* 1, 0 after a finding, -ENOMEM. */
static int read_text(const struct take *k, char **ret, size_t *ret_len)
{
	struct diags own;
	int r;

	diags_init(&own);
	r = policy_file_read(k->path, ret, ret_len, &own);
	if (r == -ENOENT)
		r = refuse(k, "take-in", NULL, "%s: there is no such file", k->path);
	else if (r < 0 && own.n)
		r = refuse(k, own.list[0].code, own.list[0].hint, "%s: %s", k->path, own.list[0].text);
	else if (r == 0)
		r = 1;
	diags_done(&own);
	return r;
}

static int check_hash(const struct take *k, const char *text, size_t len)
{
	char hex[DIGEST_HEX], hint[INI_LINE_MAX + 128];

	sha256_hex(text, len, hex);
	if (k->hex && strcmp(k->hex, hex) == 0)
		return 1;
	snprintf(hint, sizeof(hint), "read that file; if it is right: %s = %s sha256:%s", k->pair->key,
		 k->name, hex);
	if (!k->hex)
		return refuse(k, "unpinned", hint, "`%s` needs the hash of what it takes in", k->pair->key);
	return refuse(k, "other-hash", hint, "%s has sha256:%s, not sha256:%s", k->path, hex, k->hex);
}

/* A session must not write it, as it must not write the file that takes it in. */
static int protect(struct bundle *b, const char *path)
{
	char real[LIMIT_PATH];
	int r = bundle_add_self_write(b, path);

	if (r < 0 || path_real(path, real, sizeof(real)) < 0 || strcmp(real, path) == 0)
		return r;
	return bundle_add_self_write(b, real);
}

static int take_file(struct take *k)
{
	_cleanup_free_ char *text = NULL;
	struct taker below = { .above = k->t,
			       .b = k->t->b,
			       .d = k->t->d,
			       .layer = k->t->layer,
			       .path = k->path,
			       .base = k->t->base || strcmp(k->pair->key, "extends") == 0 };
	const char *why;
	size_t len;
	int r = find_file(k);

	if (r < 0)
		return refuse(k, "take-in", NULL, "%s: %s", k->name, strerror(-r));
	why = wrong_place(k);
	if (why)
		return refuse(k, "take-in", NULL, "%s %s", k->path, why);
	r = read_text(k, &text, &len);
	if (r > 0)
		r = check_hash(k, text, len);
	if (r > 0)
		r = read_source(&below, k->pair->value, text, len);
	return r < 0 ? r : 0;
}

static int on_section(void *ctx, const char *header, unsigned line)
{
	struct taker *t = ctx;

	(void)header;
	(void)line;
	t->in_section = true;
	return 0;
}

static int on_pair(void *ctx, const struct ini_pair *pair)
{
	struct take k = { .t = ctx, .pair = pair };
	struct taking is;

	if (k.t->in_section || (strcmp(pair->key, "include") != 0 && strcmp(pair->key, "extends") != 0))
		return 0;
	if (taking_parse(pair->value, &is) < 0)
		return refuse(&k, "bad-value", NULL,
			      "`%s` is PATH sha256: and 64 digits, as sha256sum prints them", pair->key);
	snprintf(k.name, sizeof(k.name), "%.*s", (int)is.path_len, pair->value);
	k.hex = is.hex;
	return take_file(&k);
}

/* Other findings about the lines are the parser's. */
static int read_source(struct taker *t, const char *as, const char *text, size_t len)
{
	const struct ini_handler h = { on_section, on_pair, t };
	struct source *added;
	struct diags ignored;
	int r = 0;

	diags_init(&ignored);
	if (t->layer == SOURCE_USER || is_project(t->layer))
		r = ini_read(t->path, text, len, &h, &ignored);
	diags_done(&ignored);
	if (r == -ENOMEM)
		return r;
	r = bundle_add_source(t->b, t->layer, t->path, text, len);
	if (r < 0 || !as)
		return r;
	added = &t->b->sources[t->b->n_sources - 1];
	added->as = strdup(as);
	added->base = t->base;
	return added->as ? protect(t->b, t->path) : -ENOMEM;
}

int bundle_add_file(struct bundle *b, enum source_layer layer, const char *path, const char *text, size_t len,
		    struct diags *d)
{
	struct taker t = { .b = b, .d = d, .layer = layer, .path = path };

	return read_source(&t, NULL, text, len);
}
