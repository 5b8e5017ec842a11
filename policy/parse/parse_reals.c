/*
 * Rules for a path that symbolic links lead elsewhere: one rule for each spelling.  The caller finds the
 * targets of the links, and the bundle has them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_impl.h"

int parser_add_plain(struct parser *ps, const struct rule *proto, const char *pattern)
{
	struct rule *r = policy_add(ps->p);

	if (!r)
		return -ENOMEM;
	*r = *proto;
	r->text = strdup(proto->text);
	r->pattern = strdup(pattern);
	r->file = strdup(proto->file);
	r->message = NULL;
	/* The policy owns a half-copied rule too, and frees it. */
	return r->text && r->pattern && r->file ? 0 : -ENOMEM;
}

static int compare_real(const void *a, const void *b)
{
	const struct real *const *x = a, *const *y = b;

	return strcmp((*x)->prefix, (*y)->prefix);
}

int parser_sort_reals(struct parser *ps)
{
	if (ps->b->n_reals == 0)
		return 0;
	ps->reals = calloc(ps->b->n_reals, sizeof(*ps->reals));
	if (!ps->reals)
		return -ENOMEM;
	for (size_t i = 0; i < ps->b->n_reals; i++)
		ps->reals[i] = &ps->b->reals[i];
	qsort(ps->reals, ps->b->n_reals, sizeof(*ps->reals), compare_real);
	return 0;
}

static const char *known_real(const struct parser *ps, const char *prefix)
{
	const struct real wanted = { .prefix = (char *)prefix }, *key = &wanted;
	const struct real **hit;

	if (!ps->reals)
		return NULL;
	hit = bsearch(&key, ps->reals, ps->b->n_reals, sizeof(*ps->reals), compare_real);
	return hit ? (*hit)->real : NULL;
}

static const char *listed_real(const struct bundle *b, const char *prefix)
{
	for (size_t i = 0; i < b->n_reals; i++)
		if (strcmp(b->reals[i].prefix, prefix) == 0)
			return b->reals[i].real;
	return NULL;
}

int parser_find_real(struct parser *ps, const char *prefix, const char **ret)
{
	int err = 0;

	*ret = ps->find ? listed_real(ps->b, prefix) : known_real(ps, prefix);
	if (!*ret && ps->find)
		err = ps->find(ps->find_ctx, ps->grown, prefix);
	if (!*ret && ps->find && err == 0)
		*ret = listed_real(ps->b, prefix);
	return err;
}

/* True if a rule of this kind opens the path that it names. */
static bool opens(enum rule_kind kind)
{
	return kind == RULE_FILE_WRITE || kind == RULE_FILE_READ || kind == RULE_FILE_SYSTEM ||
	       kind == RULE_NET_UNIX;
}

bool parser_is_unproven(const struct parser *ps, const char *prefix)
{
	for (size_t i = 0; i < ps->b->n_unproven; i++)
		if (strcmp(ps->b->unproven[i], prefix) == 0)
			return true;
	return false;
}

int parser_add_path(struct parser *ps, const struct rule *proto, const char *pattern)
{
	size_t n = pattern_literal(pattern);
	char *prefix = strndup(pattern, n), *other = NULL;
	const char *real = NULL, *rest = n > 1 ? pattern + n : pattern;
	int err;

	if (!prefix)
		return -ENOMEM;
	err = parser_add_plain(ps, proto, pattern);
	if (err == 0 && !(opens(proto->kind) && parser_is_unproven(ps, prefix)))
		err = parser_find_real(ps, prefix, &real);
	free(prefix);
	if (err < 0 || !real || (strlen(real) == n && memcmp(real, pattern, n) == 0))
		return err;
	if (asprintf(&other, "%s%s", strcmp(real, "/") == 0 ? "" : real, rest) < 0)
		return -ENOMEM;
	err = parser_add_plain(ps, proto, other[0] ? other : "/");
	free(other);
	return err;
}
