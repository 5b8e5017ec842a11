/*
 * [limits]: the limits of several layers made into one.
 *
 * Guarantees that the floor and a project that is not trusted can only lower a limit, and that each limit
 * keeps the file and line that it comes from.
 */
#include "parse_impl.h"

#include <errno.h>
#include <string.h>

/* A higher value is looser, for every limit.  This is the bound of a limit that no layer sets. */
static uint64_t loosest(unsigned which)
{
	return which == LIMITS_ENFORCE ? 0 : UINT64_MAX;
}

static const char *limit_name(unsigned which)
{
	return which == LIMITS_ENFORCE ? "enforce" : resource_name((enum resource)which);
}

static int read_value(unsigned which, const char *text, uint64_t *ret, const char **ret_expected)
{
	*ret_expected = "all or best";
	if (which != LIMITS_ENFORCE) {
		*ret_expected = resource_expected((enum resource)which);
		return resource_parse((enum resource)which, text, ret);
	}
	*ret = strcmp(text, "best") == 0;
	return *ret || strcmp(text, "all") == 0 ? 0 : -EINVAL;
}

int parser_on_limit(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	unsigned *line = &ps->seen[ps->cur_seen].limits[def->id];
	struct limit_value *mine = &ps->mine_limits[def->id];
	const char *expected;
	uint64_t value;

	if (*line)
		return parser_error(ps, pair, "duplicate-key", NULL,
				    "a second `%s`; the first stands in line %u", def->key, *line);
	*line = pair->line;
	if (read_value(def->id, pair->value, &value, &expected) < 0)
		return parser_error(ps, pair, "bad-value", NULL, "invalid value `%s`, expected %s",
				    pair->value, expected);
	if (!ps->applies || (mine->set && mine->for_agent && !ps->for_agent))
		return 0;
	*mine = (struct limit_value){ .set = true,
				      .for_agent = ps->for_agent,
				      .value = value,
				      .file = ps->src->layer == SOURCE_PRESET ? NULL : ps->src->path,
				      .line = pair->line };
	return 0;
}

void parser_publish_limits(struct parser *ps, bool tighten)
{
	struct limit_value *layer = ps->limits[ps->src->layer];

	for (unsigned i = 0; i < LIMIT_VALUES; i++)
		if (ps->mine_limits[i].set &&
		    (!layer[i].set || !tighten || ps->mine_limits[i].value < layer[i].value))
			layer[i] = ps->mine_limits[i];
}

static void take_limit(struct limit_value *now, const struct limit_value *layer)
{
	for (unsigned i = 0; i < LIMIT_VALUES; i++)
		if (layer[i].set)
			now[i] = layer[i];
}

/* Warns about each limit of an untrusted project that is ignored; d is NULL for the floor. */
static int tighten(struct limit_value *now, const struct limit_value *layer, struct diags *d)
{
	for (unsigned i = 0; i < LIMIT_VALUES; i++) {
		uint64_t bound = now[i].set ? now[i].value : loosest(i);

		if (!layer[i].set || layer[i].value == bound)
			continue;
		if (layer[i].value < bound)
			now[i] = layer[i];
		else if (d && diag_add(d, SEVERITY_WARNING, "project-loosens", layer[i].file, layer[i].line,
				       1, "trust the project first: pale trust",
				       "`%s` is ignored: a project that is not trusted may only tighten",
				       limit_name(i)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int store_limit(struct limits *l, const struct limit_value *now)
{
	for (unsigned i = 0; i < RESOURCE_COUNT; i++) {
		if (!now[i].set)
			continue;
		l->of[i].value = now[i].value;
		l->of[i].line = now[i].file ? now[i].line : 0;
		l->of[i].file = strdup(now[i].file ? now[i].file : "preset");
		if (!l->of[i].file)
			return -ENOMEM;
	}
	l->best_effort = now[LIMITS_ENFORCE].value != 0;
	return 0;
}

int parser_merge_limits(struct parser *ps)
{
	struct limit_value now[LIMIT_VALUES] = { 0 };
	int err;

	take_limit(now, ps->limits[SOURCE_PRESET]);
	take_limit(now, ps->limits[SOURCE_USER]);
	take_limit(now, ps->limits[SOURCE_PROJECT_TRUSTED]);
	err = tighten(now, ps->limits[SOURCE_FLOOR], NULL);
	if (err == 0)
		err = tighten(now, ps->limits[SOURCE_PROJECT], ps->d);
	return err < 0 ? err : store_limit(&ps->p->limits, now);
}
