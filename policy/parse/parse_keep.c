/*
 * [session] expiry, logs and log_size: how long the remains of a session are kept, and where its output is
 * written.
 */
#include "parse_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY	     86400
#define EXPIRY_MAX   (3650 * DAY)
#define LOG_SIZE_MAX (100 * 1024) /* MiB */

/* The value of digits and one letter of units; -EINVAL if word has another form, is 0 or is above max. */
static int scaled(const char *word, const char *units, const int *factors, int max)
{
	const char *unit;
	size_t n = 0;
	long value = 0;

	for (; word[n] >= '0' && word[n] <= '9' && n < 9; n++)
		value = value * 10 + (word[n] - '0');
	unit = n && word[n] ? strchr(units, word[n]) : NULL;
	if (!unit || word[n + 1] != '\0')
		return -EINVAL;
	value *= factors[unit - units];
	return value >= 1 && value <= max ? (int)value : -EINVAL;
}

int expiry_parse(const char *word)
{
	static const int factors[] = { 1, 60, 3600, DAY };

	return scaled(word, "smhd", factors, EXPIRY_MAX);
}

int log_size_parse(const char *word)
{
	static const int factors[] = { 1, 1024 };

	return scaled(word, "MG", factors, LOG_SIZE_MAX);
}

int parser_precedence(const struct parser *ps)
{
	static const int of[SOURCE_LAYER_COUNT] = {
		[SOURCE_PRESET] = 1,
		[SOURCE_USER] = 2,
		[SOURCE_PROJECT_TRUSTED] = 3,
		[SOURCE_FLOOR] = 4,
	};

	return 2 * of[ps->src->layer] + ps->for_agent;
}

int parser_may_say(struct parser *ps, const struct key_def *def, const struct ini_pair *pair, const char *why)
{
	int r;

	if (why)
		r = parser_error(ps, pair, "bad-path", NULL, "%s", why);
	else if (ps->src->layer == SOURCE_PROJECT)
		r = parser_warning(ps, pair, "project-loosens", "trust the project first: pale trust",
				   "`%s` is ignored: a project that is not trusted may only tighten",
				   def->key);
	else
		return 0;
	return r < 0 ? r : -EBADMSG;
}

int parser_take(struct parser *ps, const char *value, char **field, int *from)
{
	char *copy;

	if (!ps->applies || parser_precedence(ps) < *from)
		return 0;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	*from = parser_precedence(ps);
	return 0;
}

int parser_logs(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	char buf[LIMIT_PATH] UNINITIALIZED;
	const char *why = NULL;
	int r;

	if (pattern_resolve(ps->b, pair->value, buf, sizeof(buf), &why) == 0)
		why = strpbrk(buf, "*?[]\\") || strcmp(buf, "/") == 0 ? "one directory is meant" : NULL;
	r = parser_may_say(ps, def, pair, why);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	return parser_take(ps, buf, &ps->p->logs, &ps->p->logs_from);
}
