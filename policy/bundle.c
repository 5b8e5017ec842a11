/*
 * The bundle: everything a compilation depends on, as one value that travels to the helper.
 *
 * Guarantees that decode(encode(b)) gives the same policy, bytes that are no UTF-8 (names of
 * directories) included, and that JSON which is no bundle is refused whole, unknown fields and
 * doubled ones too.
 */
#include "parse.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

#define NELEM(a)    (sizeof(a) / sizeof((a)[0]))
#define FIELD(name) #name, offsetof(struct bundle, name)

/* Sources, reals and protected files are few; a list longer than this is no bundle. */
#define BUNDLE_LIST_MAX 65536

static const struct {
	const char *name;
	size_t at;
} strings[] = {
	{ FIELD(home) },       { FIELD(workspace) }, { FIELD(cwd) },   { FIELD(agent) },
	{ FIELD(session) },    { FIELD(preset) },    { FIELD(mode) },  { FIELD(git_own) },
	{ FIELD(git_common) }, { FIELD(git_head) },  { FIELD(login) },
};

static const struct {
	const char *name;
	size_t at;
} flags[] = {
	{ FIELD(danger) },	   { FIELD(allow_sensitive) }, { FIELD(allow_denylisted) },
	{ FIELD(allow_unhooked) }, { FIELD(no_prompt) },       { FIELD(observe) },
	{ FIELD(relocated) },	   { FIELD(judge) },	       { FIELD(keep_home) },
	{ FIELD(level_hooks) },	   { FIELD(abi_max) },	       { FIELD(observes) },
};

static const struct {
	const char *name;
	size_t at, count;
} lists[] = {
	{ FIELD(self_write), offsetof(struct bundle, n_self_write) },
	{ FIELD(self_hide), offsetof(struct bundle, n_self_hide) },
	{ FIELD(git_write), offsetof(struct bundle, n_git_write) },
	{ FIELD(git_keep), offsetof(struct bundle, n_git_keep) },
	{ FIELD(git_trunk), offsetof(struct bundle, n_git_trunk) },
	{ FIELD(unproven), offsetof(struct bundle, n_unproven) },
};

static void *field(const struct bundle *b, size_t at)
{
	return (char *)b + at;
}

void bundle_init(struct bundle *b)
{
	memset(b, 0, sizeof(*b));
}

static void free_strings(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void bundle_done(struct bundle *b)
{
	for (size_t i = 0; i < NELEM(strings); i++)
		free(*(char **)field(b, strings[i].at));
	for (size_t i = 0; i < NELEM(lists); i++)
		free_strings(*(char ***)field(b, lists[i].at), *(size_t *)field(b, lists[i].count));
	for (size_t i = 0; i < b->n_sources; i++) {
		free(b->sources[i].path);
		free(b->sources[i].text);
	}
	free(b->sources);
	for (size_t i = 0; i < b->n_reals; i++) {
		free(b->reals[i].prefix);
		free(b->reals[i].real);
	}
	free(b->reals);
	for (size_t i = 0; i < b->n_idents; i++) {
		free(b->idents[i].name);
		free(b->idents[i].build_id);
	}
	free(b->idents);
	memset(b, 0, sizeof(*b));
}

/* len bytes and a NUL, so that text stays printable; NULL on ENOMEM. */
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
	free(src->path);
	free(src->text);
	return -ENOMEM;
}

int bundle_add_real(struct bundle *b, const char *prefix, const char *real)
{
	struct real *list = reallocarray(b->reals, b->n_reals + 1, sizeof(*list));
	struct real *r;

	if (!list)
		return -ENOMEM;
	b->reals = list;
	r = &list[b->n_reals];
	*r = (struct real){ .prefix = strdup(prefix), .real = strdup(real) };
	if (r->prefix && r->real) {
		b->n_reals++;
		return 0;
	}
	free(r->prefix);
	free(r->real);
	return -ENOMEM;
}

static int add_string(char ***list, size_t *n, const char *s)
{
	char **grown = reallocarray(*list, *n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*n] = strdup(s);
	if (!grown[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

int bundle_add_git_write(struct bundle *b, const char *pattern)
{
	return add_string(&b->git_write, &b->n_git_write, pattern);
}

int bundle_add_git_keep(struct bundle *b, const char *path)
{
	return add_string(&b->git_keep, &b->n_git_keep, path);
}

int bundle_add_git_trunk(struct bundle *b, const char *branch)
{
	return add_string(&b->git_trunk, &b->n_git_trunk, branch);
}

int bundle_add_unproven(struct bundle *b, const char *prefix)
{
	return add_string(&b->unproven, &b->n_unproven, prefix);
}

int bundle_add_ident(struct bundle *b, const char *name, const char *build_id)
{
	struct ident *list = reallocarray(b->idents, b->n_idents + 1, sizeof(*list));
	struct ident *id;

	if (!list)
		return -ENOMEM;
	b->idents = list;
	id = &list[b->n_idents];
	*id = (struct ident){ .name = strdup(name), .build_id = strdup(build_id) };
	if (id->name && id->build_id) {
		b->n_idents++;
		return 0;
	}
	free(id->name);
	free(id->build_id);
	return -ENOMEM;
}

/* A JSON string, or {"hex": "..."} for bytes that JSON text cannot hold. */
static json_t *json_of_bytes(const char *s, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	json_t *value = memchr(s, '\0', len) ? NULL : json_stringn(s, len);
	char *hex;

	if (value)
		return value;
	hex = malloc(len * 2 + 1);
	if (!hex)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		hex[i * 2] = digits[(unsigned char)s[i] >> 4];
		hex[i * 2 + 1] = digits[s[i] & 15];
	}
	value = json_pack("{s:s#}", "hex", hex, (int)(len * 2));
	free(hex);
	return value;
}

static json_t *json_of_strings(char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < n; i++) {
		if (json_array_append_new(array, json_of_bytes(list[i], strlen(list[i]))) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *json_of_sources(const struct bundle *b)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < b->n_sources; i++) {
		const struct source *s = &b->sources[i];
		json_t *one = json_pack("[i,o,o]", (int)s->layer, json_of_bytes(s->path, strlen(s->path)),
					json_of_bytes(s->text, s->len));

		if (json_array_append_new(array, one) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static int append_pair(json_t *array, char *first, char *second)
{
	char *pair[] = { first, second };

	return json_array_append_new(array, json_of_strings(pair, 2));
}

/* Both are lists of two strings. */
static json_t *json_of_pairs(const struct bundle *b, const char *name)
{
	json_t *array = json_array();
	int bad = array ? 0 : -1;

	for (size_t i = 0; !bad && strcmp(name, "reals") == 0 && i < b->n_reals; i++)
		bad = append_pair(array, b->reals[i].prefix, b->reals[i].real);
	for (size_t i = 0; !bad && strcmp(name, "idents") == 0 && i < b->n_idents; i++)
		bad = append_pair(array, b->idents[i].name, b->idents[i].build_id);
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

int bundle_encode(const struct bundle *b, char **ret_json, size_t *ret_len)
{
	json_t *o = json_object();
	char *text = NULL;
	int bad = o ? 0 : -1;

	for (size_t i = 0; i < NELEM(strings); i++) {
		const char *s = *(char **)field(b, strings[i].at);

		if (s)
			bad |= json_object_set_new(o, strings[i].name, json_of_bytes(s, strlen(s)));
	}
	for (size_t i = 0; i < NELEM(flags); i++)
		bad |= json_object_set_new(o, flags[i].name, json_boolean(*(bool *)field(b, flags[i].at)));
	for (size_t i = 0; i < NELEM(lists); i++)
		bad |= json_object_set_new(o, lists[i].name,
					   json_of_strings(*(char ***)field(b, lists[i].at),
							   *(size_t *)field(b, lists[i].count)));
	bad |= json_object_set_new(o, "sources", json_of_sources(b));
	bad |= json_object_set_new(o, "reals", json_of_pairs(b, "reals"));
	bad |= json_object_set_new(o, "idents", json_of_pairs(b, "idents"));
	if (!bad)
		text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	if (!text)
		return -ENOMEM;
	*ret_json = text;
	*ret_len = strlen(text);
	return 0;
}

/* Bytes and their NUL (caller frees). 0, -EINVAL, -ENOMEM. */
static int bytes_of_json(const json_t *v, char **ret, size_t *ret_len)
{
	const json_t *hex = json_object_size(v) == 1 ? json_object_get(v, "hex") : NULL;
	const char *s = json_string_value(hex ? hex : v);
	size_t len = json_string_length(hex ? hex : v);
	char *out;

	if (!s || (hex && len % 2 != 0))
		return -EINVAL;
	out = copy_bytes(s, len);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; hex && i < len; i += 2) {
		int hi = hex_digit(s[i]), lo = hex_digit(s[i + 1]);

		if (hi < 0 || lo < 0) {
			free(out);
			return -EINVAL;
		}
		out[i / 2] = (char)(hi << 4 | lo);
	}
	if (hex)
		len /= 2;
	out[len] = '\0';
	*ret = out;
	*ret_len = len;
	return 0;
}

/* As above for what may hold no NUL. */
static int string_of_json(const json_t *v, char **ret)
{
	size_t len;
	char *s;
	int err = bytes_of_json(v, &s, &len);

	if (err < 0)
		return err;
	if (strlen(s) != len) {
		free(s);
		return -EINVAL;
	}
	*ret = s;
	return 0;
}

static int strings_of_json(const json_t *v, char ***ret, size_t *ret_n)
{
	size_t n = json_array_size(v);
	char **list;

	if (!json_is_array(v) || n > BUNDLE_LIST_MAX)
		return -EINVAL;
	if (n == 0)
		return 0;
	list = calloc(n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int err = string_of_json(json_array_get(v, i), &list[i]);

		if (err < 0) {
			free_strings(list, i);
			return err;
		}
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static int source_of_json(struct bundle *b, const json_t *v)
{
	json_int_t layer = json_integer_value(json_array_get(v, 0));
	char *path = NULL, *text = NULL;
	size_t len = 0;
	int err;

	if (json_array_size(v) != 3 || !json_is_integer(json_array_get(v, 0)) || layer < SOURCE_FLOOR ||
	    layer >= SOURCE_LAYER_COUNT)
		return -EINVAL;
	err = string_of_json(json_array_get(v, 1), &path);
	if (err == 0)
		err = bytes_of_json(json_array_get(v, 2), &text, &len);
	if (err == 0)
		err = bundle_add_source(b, (enum source_layer)layer, path, text, len);
	free(path);
	free(text);
	return err;
}

static int pair_of_json(struct bundle *b, const json_t *v,
			int (*add)(struct bundle *, const char *, const char *))
{
	char **pair = NULL;
	size_t n = 0;
	int err = strings_of_json(v, &pair, &n);

	if (err == 0)
		err = n == 2 ? add(b, pair[0], pair[1]) : -EINVAL;
	free_strings(pair, n);
	return err;
}

static int real_of_json(struct bundle *b, const json_t *v)
{
	return pair_of_json(b, v, bundle_add_real);
}

static int ident_of_json(struct bundle *b, const json_t *v)
{
	return pair_of_json(b, v, bundle_add_ident);
}

static int each_of_json(struct bundle *b, const json_t *v, int (*one)(struct bundle *, const json_t *))
{
	int err = json_is_array(v) && json_array_size(v) <= BUNDLE_LIST_MAX ? 0 : -EINVAL;

	for (size_t i = 0; err == 0 && i < json_array_size(v); i++)
		err = one(b, json_array_get(v, i));
	return err;
}

static int member_of_json(struct bundle *b, const char *name, const json_t *v)
{
	for (size_t i = 0; i < NELEM(strings); i++)
		if (strcmp(name, strings[i].name) == 0)
			return string_of_json(v, field(b, strings[i].at));
	for (size_t i = 0; i < NELEM(flags); i++) {
		if (strcmp(name, flags[i].name) != 0)
			continue;
		*(bool *)field(b, flags[i].at) = json_is_true(v);
		return json_is_boolean(v) ? 0 : -EINVAL;
	}
	for (size_t i = 0; i < NELEM(lists); i++)
		if (strcmp(name, lists[i].name) == 0)
			return strings_of_json(v, field(b, lists[i].at), field(b, lists[i].count));
	if (strcmp(name, "sources") == 0)
		return each_of_json(b, v, source_of_json);
	if (strcmp(name, "idents") == 0)
		return each_of_json(b, v, ident_of_json);
	return strcmp(name, "reals") == 0 ? each_of_json(b, v, real_of_json) : -EINVAL;
}

int bundle_decode(const char *json, size_t len, struct bundle *b)
{
	json_t *o = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL), *v;
	const char *name;
	int err = json_is_object(o) ? 0 : -EINVAL;

	bundle_init(b);
	json_object_foreach(o, name, v)
	{
		err = member_of_json(b, name, v);
		if (err < 0)
			break;
	}
	json_decref(o);
	if (err < 0)
		bundle_done(b);
	return err;
}
