/*
 * The variables of a .env that are a policy's, as rules and settings: SANDBOX_NETWORK_MODE,
 * WHITE_LIST_DOMAINS, PRIMARY_BRANCH_PATTERNS and SESSION_EXPIRY_HOURS.  Each has the effect of the same
 * value in a policy file, and its findings have the line and column of the .env file.
 */
#include "envfile.h"
#include "parse_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODE_WORD 16
#define BETWEEN	  ", \t\r\n"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* STRICT, MERGE, REPLACE or OFF.  An empty value counts as not set. */
static int take_mode(struct parser *ps, const struct env_pair *pair)
{
	static const char *const modes[] = { "strict", "merge", "replace", "off" };
	char word[MODE_WORD] = "";
	struct ini_pair as = { "mode", word, pair->line, pair->key_col, pair->value_col };
	size_t i = 0;

	if (pair->value[0] == '\0')
		return 0;
	for (; i + 1 < sizeof(word) && pair->value[i]; i++)
		word[i] = lower(pair->value[i]);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strlen(pair->value) < sizeof(word) && strcmp(word, modes[i]) == 0)
			return parser_apply(ps, key_find("network", "mode"), &as);
	return parser_error(ps, &as, "bad-value", "other modes are chosen in policy.ini: [network] mode =",
			    "invalid value `%s`, expected STRICT, MERGE, REPLACE or OFF", pair->value);
}

/* True for a host name, or one after `*.`. */
static bool is_domain(const char *item)
{
	const char *name = strncmp(item, "*.", 2) == 0 ? item + 2 : item;

	return name[0] != '\0' && !strpbrk(name, "*:/@[]") && strspn(name, "0123456789.") < strlen(name);
}

static int take_domain(struct parser *ps, const struct env_pair *pair, const char *item, size_t n)
{
	struct ini_pair as = { "allow", NULL, pair->line, pair->key_col,
			       pair->value_col + (unsigned)(item - pair->value) };
	char *copy = strndup(item, n);
	int err;

	if (!copy)
		return -ENOMEM;
	as.value = copy;
	if (is_domain(copy))
		err = parser_apply(ps, key_find("network", "allow"), &as);
	else
		err = parser_error(ps, &as, "bad-host",
				   "addresses and ports stand in policy.ini: [network] allow =",
				   "`%s` is no domain: write example.org or *.example.org", copy);
	free(copy);
	return err;
}

/* Adds a protected branch.  Those of the preset stay, so that a list without main does not open main. */
static int take_branch(struct parser *ps, const struct env_pair *pair, const char *item, size_t n)
{
	struct ini_pair as = { "protect", NULL, pair->line, pair->key_col,
			       pair->value_col + (unsigned)(item - pair->value) };
	char *copy = strndup(item, n);
	int err = copy ? 0 : -ENOMEM;

	as.value = copy;
	if (err == 0)
		err = parser_apply(ps, key_find("git", "protect"), &as);
	free(copy);
	return err;
}

typedef int take_item(struct parser *ps, const struct env_pair *pair, const char *item, size_t n);

static int take_list(struct parser *ps, const struct env_pair *pair, const char *between, take_item *take)
{
	int err = 0;

	for (const char *s = pair->value + strspn(pair->value, between); err == 0 && *s;
	     s += strspn(s, between)) {
		size_t n = strcspn(s, between);

		err = take(ps, pair, s, n);
		s += n;
	}
	return err;
}

/* Whole hours.  An empty value counts as not set. */
static int take_expiry(struct parser *ps, const struct env_pair *pair)
{
	char word[16];
	struct ini_pair as = { "expiry", word, pair->line, pair->key_col, pair->value_col };
	size_t n = strlen(pair->value);

	if (n == 0)
		return 0;
	if (n > 5 || strspn(pair->value, "0123456789") != n || strspn(pair->value, "0") == n)
		return parser_error(ps, &as, "bad-value", "write whole hours, as in 48",
				    "`%s` is no number of hours", pair->value);
	memcpy(word, pair->value, n);
	memcpy(word + n, "h", 2);
	return parser_apply(ps, key_find("session", "expiry"), &as);
}

static int on_pair(void *ctx, const struct env_pair *pair)
{
	if (strcmp(pair->key, ENV_NETWORK_MODE) == 0)
		return take_mode(ctx, pair);
	if (strcmp(pair->key, ENV_EXPIRY) == 0)
		return take_expiry(ctx, pair);
	if (strcmp(pair->key, ENV_BRANCHES) == 0)
		return take_list(ctx, pair, BETWEEN "|", take_branch);
	return strcmp(pair->key, ENV_WHITE_LIST) == 0 ? take_list(ctx, pair, BETWEEN, take_domain) : 0;
}

int parser_read_env(struct parser *ps)
{
	return env_read(ps->src->path, ps->src->text, ps->src->len, on_pair, ps, ps->d);
}
