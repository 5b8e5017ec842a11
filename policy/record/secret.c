/*
 * Finds what has the shape of a secret: tokens with a known beginning, values after a name such as
 * `password=`, passwords in addresses and options, private keys.  Text in, a place out; no state.
 */
#include "policy/base/util.h"
#include "secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define PEM_SPAN 64 /* the most bytes of a PEM block's head */

/* Where a shape may begin: anywhere, or not after a letter or digit (ri`sk-`y). */
enum shape_start { START_ANY, START_WORD };

/* The characters of a secret: letters and digits; with - and _; with - _ and . too; all up to a blank, a
 * quote or a delimiter of the shell; all up to a quote or the line's end. */
enum charset { ALNUM, DASHED, DOTTED, WORD, QUOTED };

/* A lead that names a value (`password=`) matches in any case.  One that is the beginning of the token
 * itself matches exactly. */
enum shape_case { EXACT, ANY_CASE };

static const struct shape {
	const char *lead; /* the text before the secret, which is not masked */
	enum shape_start start;
	enum shape_case how;
	enum charset of;
	size_t least; /* with fewer characters after the lead it is not a secret */
} shapes[] = {
	/* Tokens with a known beginning. */
	{ "ghp_", START_WORD, EXACT, ALNUM, 16 },
	{ "gho_", START_WORD, EXACT, ALNUM, 16 },
	{ "ghs_", START_WORD, EXACT, ALNUM, 16 },
	{ "ghu_", START_WORD, EXACT, ALNUM, 16 },
	{ "ghr_", START_WORD, EXACT, ALNUM, 16 },
	{ "github_pat_", START_WORD, EXACT, DASHED, 16 },
	{ "glpat-", START_WORD, EXACT, DASHED, 16 },
	{ "gldt-", START_WORD, EXACT, DASHED, 16 },
	{ "sk-ant-", START_WORD, EXACT, DASHED, 12 },
	{ "sk-proj-", START_WORD, EXACT, DASHED, 12 },
	{ "sk-svcacct-", START_WORD, EXACT, DASHED, 12 },
	{ "sk-or-v1-", START_WORD, EXACT, ALNUM, 16 },
	{ "sk-", START_WORD, EXACT, ALNUM, 20 },
	{ "sk_live_", START_WORD, EXACT, ALNUM, 16 },
	{ "sk_test_", START_WORD, EXACT, ALNUM, 16 },
	{ "rk_live_", START_WORD, EXACT, ALNUM, 16 },
	{ "AKIA", START_WORD, EXACT, ALNUM, 12 },
	{ "ASIA", START_WORD, EXACT, ALNUM, 12 },
	{ "AIza", START_WORD, EXACT, DASHED, 30 },
	{ "ya29.", START_WORD, EXACT, DASHED, 20 },
	{ "xoxb-", START_WORD, EXACT, DASHED, 10 },
	{ "xoxp-", START_WORD, EXACT, DASHED, 10 },
	{ "xoxa-", START_WORD, EXACT, DASHED, 10 },
	{ "xoxs-", START_WORD, EXACT, DASHED, 10 },
	{ "xoxr-", START_WORD, EXACT, DASHED, 10 },
	{ "xapp-", START_WORD, EXACT, DASHED, 10 },
	{ "npm_", START_WORD, EXACT, ALNUM, 30 },
	{ "pypi-AgE", START_WORD, EXACT, DASHED, 20 },
	{ "hf_", START_WORD, EXACT, ALNUM, 30 },
	{ "dop_v1_", START_WORD, EXACT, ALNUM, 32 },
	{ "SG.", START_WORD, EXACT, DOTTED, 40 },
	{ "AGE-SECRET-KEY-1", START_WORD, EXACT, ALNUM, 20 },
	{ "eyJ", START_WORD, EXACT, DOTTED, 30 },
	/* Names of secret values. */
	{ "authorization:", START_ANY, ANY_CASE, QUOTED, 4 },
	{ "x-api-key:", START_ANY, ANY_CASE, QUOTED, 4 },
	{ "private-token:", START_ANY, ANY_CASE, QUOTED, 4 },
	{ "cookie:", START_WORD, ANY_CASE, QUOTED, 4 },
	{ "bearer ", START_WORD, ANY_CASE, WORD, 8 },
	{ "password=", START_ANY, ANY_CASE, WORD, 1 },
	{ "passwd=", START_ANY, ANY_CASE, WORD, 1 },
	{ "passphrase=", START_ANY, ANY_CASE, WORD, 1 },
	{ "_pass=", START_ANY, ANY_CASE, WORD, 1 },
	{ "pwd=", START_WORD, ANY_CASE, WORD, 1 },
	{ "token=", START_ANY, ANY_CASE, WORD, 1 },
	{ "secret=", START_ANY, ANY_CASE, WORD, 1 },
	{ "api_key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "apikey=", START_ANY, ANY_CASE, WORD, 1 },
	{ "api-key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "access_key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "access-key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "private_key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "secret_key=", START_ANY, ANY_CASE, WORD, 1 },
	{ "--password ", START_ANY, ANY_CASE, WORD, 1 },
	{ "--passphrase ", START_ANY, ANY_CASE, WORD, 1 },
	{ "--token ", START_ANY, ANY_CASE, WORD, 1 },
	{ "--secret ", START_ANY, ANY_CASE, WORD, 1 },
	{ "--api-key ", START_ANY, ANY_CASE, WORD, 1 },
	{ "_authtoken=", START_ANY, ANY_CASE, WORD, 1 },
	{ "_auth=", START_ANY, ANY_CASE, WORD, 1 },
};

static bool is_in_charset(enum charset of, char c)
{
	unsigned char u = (unsigned char)c;

	if (isalnum(u))
		return true;
	switch (of) {
	case ALNUM:
		return false;
	case DASHED:
		return c == '-' || c == '_';
	case DOTTED:
		return c == '-' || c == '_' || c == '.';
	case WORD:
		return u >= 0x80 || (u > ' ' && !strchr("'\"`&;|<>(),", c));
	case QUOTED:
		return u >= ' ' && c != '\'' && c != '"';
	}
	return false;
}

/* text[i] and what follows. */
struct spot {
	const char *text;
	size_t len, i;
};

static bool starts(const struct spot *s, const char *lead, size_t n, enum shape_case how)
{
	if (n > s->len - s->i)
		return false;
	return how == EXACT ? memcmp(s->text + s->i, lead, n) == 0
			    : strncasecmp(s->text + s->i, lead, n) == 0;
}

static bool find_shape(const struct spot *s, struct secret_hit *ret)
{
	bool at_word = s->i == 0 || !isalnum((unsigned char)s->text[s->i - 1]);

	for (size_t k = 0; k < NELEM(shapes); k++) {
		const struct shape *p = &shapes[k];
		size_t lead = strlen(p->lead), at = s->i + lead, n = 0;

		if (tolower((unsigned char)p->lead[0]) != tolower((unsigned char)s->text[s->i]) ||
		    (p->start == START_WORD && !at_word) || !starts(s, p->lead, lead, p->how))
			continue;
		if (p->of == QUOTED && at < s->len && s->text[at] == ' ')
			at++;
		if (p->of == WORD && at < s->len && (s->text[at] == '\'' || s->text[at] == '"'))
			at++;
		while (at + n < s->len && is_in_charset(p->of, s->text[at + n]))
			n++;
		if (n < p->least)
			continue;
		*ret = (struct secret_hit){ at, n };
		return true;
	}
	return false;
}

/* True where text[0..n) ends with http or https. */
static bool is_http(const char *text, size_t n)
{
	n -= n > 0 && text[n - 1] == 's';
	return n >= 4 && memcmp(text + n - 4, "http", 4) == 0;
}

/* True for `host`, `host:` or `host:443` before a query or fragment, in which an @ ends no user's name. */
static bool is_host_before(const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n);

	for (size_t i = colon ? (size_t)(colon + 1 - p) : n; i < n; i++)
		if (!isdigit((unsigned char)p[i]))
			return false;
	return true;
}

/* scheme://user:password@host; with http a name alone may be a token. */
static bool find_userinfo(const struct spot *s, struct secret_hit *ret)
{
	const char *p = s->text + s->i + 3, *end, *colon;
	size_t n = 0, host;

	if (!starts(s, "://", 3, EXACT))
		return false;
	while (s->i + 3 + n < s->len && !strchr("/ \t\n'\"", p[n]))
		n++;
	for (host = 0; host < n && !strchr("?#\\", p[host]); host++)
		;
	if (host < n && is_host_before(p, host))
		return false;
	end = memrchr(p, '@', n);
	colon = end ? memchr(p, ':', (size_t)(end - p)) : NULL;
	if (end && !colon && is_http(s->text, s->i))
		colon = p - 1;
	if (!colon || colon + 1 == end)
		return false;
	*ret = (struct secret_hit){ (size_t)(colon + 1 - s->text), (size_t)(end - colon - 1) };
	return true;
}

/* `-u name:password` and `--user name:password`, where the option is a word of its own. */
static bool find_user_option(const struct spot *s, struct secret_hit *ret)
{
	size_t lead = starts(s, "-u ", 3, EXACT) ? 3 : starts(s, "--user ", 7, EXACT) ? 7 : 0, n = 0;
	const char *p = s->text + s->i + lead, *colon;

	if (lead == 0 || (s->i > 0 && s->text[s->i - 1] != ' '))
		return false;
	while (s->i + lead + n < s->len && p[n] != ' ' && p[n] != '\n')
		n++;
	colon = memchr(p, ':', n);
	/* A numeric pair is a user and a group (chown, docker run). */
	if (!colon || (isdigit((unsigned char)p[0]) && isdigit((unsigned char)colon[1])))
		return false;
	n -= (size_t)(colon + 1 - p);
	*ret = (struct secret_hit){ (size_t)(colon + 1 - s->text), n };
	return n > 0;
}

/* Everything after the head of a PEM private key, up to its END line. */
static bool find_private_key(const struct spot *s, struct secret_hit *ret)
{
	const char *p = s->text + s->i, *head, *end;
	size_t left = s->len - s->i;

	if (!starts(s, "-----BEGIN ", 11, EXACT))
		return false;
	head = memmem(p, left < PEM_SPAN ? left : PEM_SPAN, "PRIVATE KEY", 11);
	if (!head)
		return false;
	head += 11;
	left = (size_t)(s->text + s->len - head);
	end = memmem(head, left, "-----END ", 9);
	*ret = (struct secret_hit){ (size_t)(head - s->text), end ? (size_t)(end - head) : left };
	return ret->len > 0;
}

bool secret_at(const char *text, size_t len, size_t i, struct secret_hit *ret)
{
	const struct spot s = { text, len, i };

	return find_private_key(&s, ret) || find_userinfo(&s, ret) || find_user_option(&s, ret) ||
	       find_shape(&s, ret);
}

bool secret_in_url(const char *text, size_t len, size_t i, struct secret_hit *ret)
{
	const struct spot s = { text, len, i };

	if (!find_userinfo(&s, ret))
		return false;
	/* Where a shell reads the text, these begin another command. */
	for (size_t k = 0; k < ret->len; k++)
		if (strchr("$`;&|<>()\\", text[ret->at + k]))
			return false;
	return true;
}

bool secret_is_in(const char *text, size_t len)
{
	struct secret_hit hit;

	for (size_t i = 0; i + 1 < len; i++)
		if (secret_at(text, len, i, &hit))
			return true;
	return false;
}

void secret_leads(void (*fn)(void *ctx, const char *lead, bool any_case), void *ctx)
{
	for (size_t i = 0; i < NELEM(shapes); i++)
		fn(ctx, shapes[i].lead, shapes[i].how == ANY_CASE);
	fn(ctx, "://", false);
	fn(ctx, "-u", false);
	fn(ctx, "--", false);
}
