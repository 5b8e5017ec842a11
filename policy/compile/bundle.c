/*
 * The bundle: everything a compilation depends on, as one value that is sent to the helper.
 *
 * The bytes have this order: a bit for each string that is present, a bit for each flag that is set, those
 * strings, the lists and the sources, each list after its length.  They are built and read through buf.h.
 * Guarantees that decode(encode(b)) gives the same policy, also with names of directories that are not
 * UTF-8, and that bytes that encode() does not make are refused whole.
 */
#include "policy/parse/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"

#define FIELD(name) offsetof(struct bundle, name)

/* The lists of a bundle are short; bytes with a longer list are refused. */
#define BUNDLE_LIST_MAX 65536
#define BUNDLE_FIRST	65536 /* bytes for most bundles */
#define BUNDLE_MAX	(1u << 30)
#define SOURCE_IS_BASE	(1u << 31) /* beside the layer */

static const size_t strings[] = {
	FIELD(home), FIELD(workspace), FIELD(cwd),	  FIELD(agent),	   FIELD(session), FIELD(preset),
	FIELD(mode), FIELD(git_own),   FIELD(git_common), FIELD(git_head), FIELD(login),   FIELD(state_dir),
};

static const size_t flags[] = {
	FIELD(danger),	   FIELD(allow_sensitive), FIELD(allow_denylisted), FIELD(allow_unhooked),
	FIELD(no_prompt),  FIELD(observe),	   FIELD(relocated),	    FIELD(judge),
	FIELD(keep_home),  FIELD(level_hooks),	   FIELD(abi_max),	    FIELD(observes),
	FIELD(git_unborn),
};

/* The lists whose entries are one string or two; struct real and struct ident are just two strings. */
static const struct list {
	size_t at, count;
	unsigned width;
} lists[] = {
	{ FIELD(self_write), FIELD(n_self_write), 1 }, { FIELD(self_hide), FIELD(n_self_hide), 1 },
	{ FIELD(git_write), FIELD(n_git_write), 1 },   { FIELD(git_keep), FIELD(n_git_keep), 1 },
	{ FIELD(git_trunk), FIELD(n_git_trunk), 1 },   { FIELD(unproven), FIELD(n_unproven), 1 },
	{ FIELD(reals), FIELD(n_reals), 2 },	       { FIELD(idents), FIELD(n_idents), 2 },
};

_Static_assert(sizeof(struct real) == 2 * sizeof(char *), "a pair of strings");
_Static_assert(sizeof(struct ident) == 2 * sizeof(char *), "a pair of strings");

static char **string_at(const struct bundle *b, size_t at)
{
	return (char **)((char *)b + at);
}

static bool *flag_at(const struct bundle *b, size_t at)
{
	return (bool *)((char *)b + at);
}

/* The memory of each of these lists, whatever its type, is an array of strings. */
typedef char **words_of_list __attribute__((may_alias));

static words_of_list *words_of_entry(const struct bundle *b, const struct list *l)
{
	return (words_of_list *)((char *)b + l->at);
}

static size_t *count_of(const struct bundle *b, const struct list *l)
{
	return (size_t *)((char *)b + l->count);
}

void bundle_init(struct bundle *b)
{
	memset(b, 0, sizeof(*b));
}

void source_done(struct source *s)
{
	free(s->path);
	free(s->text);
	free(s->as);
}

void bundle_done(struct bundle *b)
{
	for (size_t i = 0; i < NELEM(strings); i++)
		free(*string_at(b, strings[i]));
	for (size_t i = 0; i < NELEM(lists); i++) {
		for (size_t j = 0; j < *count_of(b, &lists[i]) * lists[i].width; j++)
			free((*words_of_entry(b, &lists[i]))[j]);
		free(*words_of_entry(b, &lists[i]));
	}
	for (size_t i = 0; i < b->n_sources; i++)
		source_done(&b->sources[i]);
	free(b->sources);
	memset(b, 0, sizeof(*b));
}

/* --- adding --- */

/* A copy of len bytes with a NUL after them, so that text can be printed; NULL if out of memory. */
static char *copy_bytes(const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

int bundle_add_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len)
{
	struct source *list = reallocarray(b->sources, b->n_sources + 1, sizeof(*list));
	struct source *src;

	if (!list)
		return -ENOMEM;
	b->sources = list;
	src = &list[b->n_sources];
	*src = (struct source){
		.layer = layer, .path = strdup(path), .text = copy_bytes(text, len), .len = len
	};
	if (src->path && src->text) {
		b->n_sources++;
		return 0;
	}
	source_done(src);
	return -ENOMEM;
}

/* Adds an entry to the list whose strings begin at offset at. */
static int add_words(struct bundle *b, size_t at, const char *const words[])
{
	const struct list *l = lists;
	char **grown, **entry;
	bool whole = true;

	while (l->at != at)
		l++;
	grown = reallocarray(*words_of_entry(b, l), (*count_of(b, l) + 1) * l->width, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*words_of_entry(b, l) = grown;
	entry = grown + *count_of(b, l) * l->width;
	for (unsigned i = 0; i < l->width; i++) {
		entry[i] = strdup(words[i]);
		whole = whole && entry[i];
	}
	if (whole) {
		(*count_of(b, l))++;
		return 0;
	}
	for (unsigned i = 0; i < l->width; i++)
		free(entry[i]);
	return -ENOMEM;
}

int bundle_add_self_write(struct bundle *b, const char *path)
{
	return add_words(b, FIELD(self_write), &path);
}

int bundle_add_real(struct bundle *b, const char *prefix, const char *real)
{
	return add_words(b, FIELD(reals), (const char *const[]){ prefix, real });
}

int bundle_add_ident(struct bundle *b, const char *name, const char *build_id)
{
	return add_words(b, FIELD(idents), (const char *const[]){ name, build_id });
}

int bundle_add_git_write(struct bundle *b, const char *pattern)
{
	return add_words(b, FIELD(git_write), &pattern);
}

int bundle_add_git_keep(struct bundle *b, const char *path)
{
	return add_words(b, FIELD(git_keep), &path);
}

int bundle_add_git_trunk(struct bundle *b, const char *branch)
{
	return add_words(b, FIELD(git_trunk), &branch);
}

int bundle_add_unproven(struct bundle *b, const char *prefix)
{
	return add_words(b, FIELD(unproven), &prefix);
}

/* --- encoding and decoding --- */

static void put_bundle(struct out *o, const struct bundle *b)
{
	uint32_t present = 0, set = 0;

	for (size_t i = 0; i < NELEM(strings); i++)
		present |= *string_at(b, strings[i]) ? 1u << i : 0;
	for (size_t i = 0; i < NELEM(flags); i++)
		set |= *flag_at(b, flags[i]) ? 1u << i : 0;
	put_u32(o, present);
	put_u32(o, set);
	for (size_t i = 0; i < NELEM(strings); i++)
		if (*string_at(b, strings[i]))
			put_str(o, *string_at(b, strings[i]));
	for (size_t i = 0; i < NELEM(lists); i++) {
		put_u32(o, (uint32_t)*count_of(b, &lists[i]));
		for (size_t j = 0; j < *count_of(b, &lists[i]) * lists[i].width; j++)
			put_str(o, (*words_of_entry(b, &lists[i]))[j]);
	}
	put_u32(o, (uint32_t)b->n_sources);
	for (size_t i = 0; i < b->n_sources; i++) {
		const struct source *s = &b->sources[i];

		put_u32(o, (uint32_t)s->layer | (s->base ? SOURCE_IS_BASE : 0));
		put_str(o, s->path);
		put_str(o, s->as ? s->as : "");
		put_u32(o, (uint32_t)s->len);
		put_bytes(o, s->text, s->len);
	}
}

int bundle_encode(const struct bundle *b, char **ret, size_t *ret_len)
{
	for (size_t cap = BUNDLE_FIRST; cap <= BUNDLE_MAX; cap *= 2) {
		char *bytes = malloc(cap);
		struct out o = out_of(bytes, cap);

		if (!bytes)
			return -ENOMEM;
		put_bundle(&o, b);
		if (!o.failed) {
			*ret = bytes;
			*ret_len = o.len;
			return 0;
		}
		free(bytes);
	}
	return -EMSGSIZE;
}

/* Each string takes at least the bytes of its length, which bounds the count. */
static size_t get_count(struct cursor *c, unsigned width)
{
	uint32_t n = get_u32(c);

	c->failed = c->failed || n > BUNDLE_LIST_MAX || (size_t)n * width > c->left / sizeof(uint32_t);
	return c->failed ? 0 : n;
}

static int get_list(struct cursor *c, struct bundle *b, const struct list *l)
{
	size_t n = get_count(c, l->width);

	for (size_t i = 0; i < n && !c->failed; i++) {
		const char *words[2] = { NULL };
		int r;

		for (unsigned j = 0; j < l->width; j++)
			words[j] = get_str(c);
		r = add_words(b, l->at, words);
		if (r < 0)
			return r;
	}
	return 0;
}

static int get_sources(struct cursor *c, struct bundle *b)
{
	size_t n = get_count(c, 4);

	for (size_t i = 0; i < n; i++) {
		uint32_t word = get_u32(c), layer = word & ~SOURCE_IS_BASE;
		const char *path = get_str(c), *as = get_str(c);
		size_t len = get_u32(c);
		const char *text = get_bytes(c, len);
		int r;

		if (!text || layer >= SOURCE_LAYER_COUNT)
			return -EINVAL;
		r = bundle_add_source(b, (enum source_layer)layer, path, text, len);
		if (r < 0)
			return r;
		b->sources[i].base = word & SOURCE_IS_BASE;
		b->sources[i].as = *as ? strdup(as) : NULL;
		if (*as && !b->sources[i].as)
			return -ENOMEM;
	}
	return 0;
}

static int get_bundle(struct cursor *c, struct bundle *b)
{
	uint32_t present = get_u32(c), set = get_u32(c);
	int r = present >> NELEM(strings) || set >> NELEM(flags) ? -EINVAL : 0;

	for (size_t i = 0; i < NELEM(strings) && r == 0; i++) {
		if (present & 1u << i)
			*string_at(b, strings[i]) = strdup(get_str(c));
		r = present & 1u << i && !*string_at(b, strings[i]) ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < NELEM(flags); i++)
		*flag_at(b, flags[i]) = set & 1u << i;
	for (size_t i = 0; i < NELEM(lists) && r == 0; i++)
		r = get_list(c, b, &lists[i]);
	if (r == 0)
		r = get_sources(c, b);
	return r == 0 && (c->failed || c->left) ? -EINVAL : r;
}

int bundle_decode(const char *bytes, size_t len, struct bundle *b)
{
	struct cursor c = cursor_of(bytes, len);
	int r;

	bundle_init(b);
	r = get_bundle(&c, b);
	if (r < 0)
		bundle_done(b);
	return r;
}
