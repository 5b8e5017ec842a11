/*
 * Secrets out of command lines before they are written down.  A table of known shapes; it errs
 * towards masking, since the record also names program, rule and time.  What is asked of a human
 * is never masked: only what is kept.
 */
#include "helper.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Where a shape may begin: anywhere, or not behind a letter or digit (ri`sk-`y). */
enum shape_start { START_ANY, START_WORD };

static const struct shape {
	const char *lead; /* kept */
	enum shape_start start;
	size_t least; /* so many characters of secret must follow, or it is no secret */
} shapes[] = {
	{ "ghp_", START_WORD, 8 },    { "gho_", START_WORD, 8 },       { "ghs_", START_WORD, 8 },
	{ "ghu_", START_WORD, 8 },    { "ghr_", START_WORD, 8 },       { "github_pat_", START_WORD, 8 },
	{ "glpat-", START_WORD, 8 },  { "sk-", START_WORD, 12 },       { "AKIA", START_WORD, 12 },
	{ "ASIA", START_WORD, 12 },   { "xoxb-", START_WORD, 8 },      { "xoxp-", START_WORD, 8 },
	{ "xoxa-", START_WORD, 8 },   { "xoxs-", START_WORD, 8 },      { "xoxr-", START_WORD, 8 },
	{ "npm_", START_WORD, 20 },   { "AIza", START_WORD, 20 },      { "hf_", START_WORD, 16 },
	{ "Bearer ", START_ANY, 4 },  { "Basic ", START_WORD, 8 },     { "password=", START_ANY, 1 },
	{ "passwd=", START_ANY, 1 },  { "pwd=", START_WORD, 1 },       { "token=", START_ANY, 1 },
	{ "secret=", START_ANY, 1 },  { "api_key=", START_ANY, 1 },    { "apikey=", START_ANY, 1 },
	{ "api-key=", START_ANY, 1 }, { "access_key=", START_ANY, 1 }, { "--password ", START_ANY, 1 },
	{ "--token ", START_ANY, 1 }, { "_authToken=", START_ANY, 1 },
};

static bool is_secret_char(char c)
{
	return (c > ' ' && !strchr("'\"`&;|<>(),", c)) || (unsigned char)c >= 0x80;
}

/* Replaces n bytes at p by three stars (or as many as there is room for); the byte behind. */
static char *blot(char *p, size_t n)
{
	size_t stars = n < 3 ? n : 3;

	memset(p, '*', stars);
	memmove(p + stars, p + n, strlen(p + n) + 1);
	return p + stars;
}

/* Masks behind a lead that stands at p; where to go on, or NULL if nothing was there. */
static char *mask_shape(char *p, bool at_word)
{
	for (size_t i = 0; i < NELEM(shapes); i++) {
		size_t lead = strlen(shapes[i].lead), n = 0;
		char *at = p + lead;

		if ((shapes[i].start == START_WORD && !at_word) || strncasecmp(p, shapes[i].lead, lead) != 0)
			continue;
		if (*at == '\'' || *at == '"')
			at++;
		while (is_secret_char(at[n]))
			n++;
		if (n >= shapes[i].least)
			return blot(at, n);
	}
	return NULL;
}

/* scheme://user:password@host */
static char *mask_userinfo(char *p)
{
	char *colon, *end;
	size_t n;

	if (strncmp(p, "://", 3) != 0)
		return NULL;
	n = strcspn(p + 3, "/ \t\n'\"");
	end = memrchr(p + 3, '@', n);
	colon = end ? memchr(p + 3, ':', (size_t)(end - p - 3)) : NULL;
	return colon && colon + 1 < end ? blot(colon + 1, (size_t)(end - colon - 1)) : NULL;
}

/* Everything behind the head of a PEM private key, up to its END line. */
static char *mask_private_key(char *p)
{
	char *head, *end;

	if (strncmp(p, "-----BEGIN ", 11) != 0)
		return NULL;
	head = strstr(p + 11, "PRIVATE KEY");
	if (!head || (size_t)(head - p) > 64)
		return NULL;
	head += 11;
	end = strstr(head, "-----END ");
	return blot(head, end ? (size_t)(end - head) : strlen(head));
}

void mask_secrets(char *text)
{
	char before = ' ';

	for (char *p = text; *p != '\0';) {
		char *next = mask_private_key(p);

		if (!next)
			next = mask_userinfo(p);
		if (!next)
			next = mask_shape(p, !isalnum((unsigned char)before));
		if (next && next > p)
			before = next[-1];
		else
			before = *p;
		p = next && next > p ? next : p + 1;
	}
}
