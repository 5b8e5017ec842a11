/*
 * A .env file as assignments: see envfile.h.  Works on text alone; reads no file and no environment.
 */
#include "envfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EOF_CHAR (-1)

/* One line; key and value each have room for the whole line. */
struct line {
	const char *start, *at, *end;
	char *key, *value;
};

static int peek_byte(const struct line *l)
{
	return l->at < l->end ? (unsigned char)*l->at : EOF_CHAR;
}

static unsigned column(const struct line *l)
{
	return (unsigned)(l->at - l->start) + 1;
}

static void skip_blanks(struct line *l)
{
	while (peek_byte(l) == ' ' || peek_byte(l) == '\t')
		l->at++;
}

static bool is_key_char(int c, size_t i)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (i > 0 && c >= '0' && c <= '9');
}

static size_t read_key(struct line *l)
{
	size_t n = 0;

	while (is_key_char(peek_byte(l), n))
		l->key[n++] = *l->at++;
	l->key[n] = '\0';
	return n;
}

/* The byte that `\` and c stand for where dotenv readers agree, else EOF_CHAR. */
static int unescape(int c)
{
	return c == 'n' ? '\n' : c == '"' || c == '\\' || c == '$' ? c : EOF_CHAR;
}

/* NULL, or the fault. */
static const char *read_quoted(struct line *l)
{
	const char *quote = l->at++;
	size_t n = 0;

	for (; peek_byte(l) != *quote; l->at++) {
		int c = peek_byte(l);

		if (c == '\\' && *quote == '"') {
			l->at++;
			c = unescape(peek_byte(l));
			if (c == EOF_CHAR && l->at < l->end)
				return "an escape that means nothing";
		}
		if (c == EOF_CHAR) {
			l->at = quote;
			return "a quote that is not closed in its line";
		}
		l->value[n++] = (char)c;
	}
	l->at++;
	l->value[n] = '\0';
	skip_blanks(l);
	return l->at == l->end || *l->at == '#' ? NULL : "something behind the closing quote";
}

static void read_plain(struct line *l)
{
	size_t n = 0;

	for (; l->at < l->end; l->at++) {
		if (*l->at == '#' && (n == 0 || l->value[n - 1] == ' ' || l->value[n - 1] == '\t'))
			break;
		l->value[n++] = *l->at;
	}
	while (n > 0 && (l->value[n - 1] == ' ' || l->value[n - 1] == '\t'))
		n--;
	l->value[n] = '\0';
}

/* KEY, with or without `export` before it, and `=`. */
static const char *read_head(struct line *l, unsigned *ret_col)
{
	*ret_col = column(l);
	if (read_key(l) == 0)
		return "no name of a variable";
	if (strcmp(l->key, "export") == 0 && (peek_byte(l) == ' ' || peek_byte(l) == '\t')) {
		skip_blanks(l);
		*ret_col = column(l);
		if (peek_byte(l) != '=' && read_key(l) == 0)
			return "no name of a variable";
	}
	skip_blanks(l);
	if (peek_byte(l) != '=')
		return "no `=` behind the name";
	l->at++;
	skip_blanks(l);
	return NULL;
}

/* NULL, or the fault at the position that the line is left at. */
static const char *read_line(struct line *l, struct env_pair *ret)
{
	const char *nul = memchr(l->start, '\0', (size_t)(l->end - l->start));
	const char *why = read_head(l, &ret->key_col);

	ret->value_col = column(l);
	if (nul && !why) {
		l->at = nul;
		return "a NUL byte";
	}
	if (why)
		return why;
	if (peek_byte(l) == '\'' || peek_byte(l) == '"')
		return read_quoted(l);
	read_plain(l);
	return NULL;
}

int env_read(const char *file, const char *text, size_t len,
	     int (*fn)(void *ctx, const struct env_pair *pair), void *ctx, struct diags *d)
{
	struct line l = { .key = malloc(len + 1), .value = malloc(len + 1) };
	size_t errors = d->n_errors, at = 0;
	int err = l.key && l.value ? 0 : -ENOMEM;

	/* Skip the byte order mark that some editors write. */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	for (unsigned number = 1; err == 0 && at < len; number++) {
		struct env_pair pair = { .key = l.key, .value = l.value, .from = at, .line = number };
		const char *nl = memchr(text + at, '\n', len - at), *why;

		l.start = l.at = text + at;
		l.end = nl ? nl : text + len;
		at = (size_t)(l.end - text) + 1;
		if (l.end > l.start && l.end[-1] == '\r')
			l.end--;
		skip_blanks(&l);
		if (l.at == l.end || *l.at == '#')
			continue;
		why = read_line(&l, &pair);
		pair.to = (size_t)(l.at - text);
		err = !why ? fn(ctx, &pair)
			   : diag_add(d, SEVERITY_ERROR, "env-line", file, number, column(&l),
				      "write KEY=VALUE, with quotes around what holds blanks", "%s", why);
	}
	free(l.key);
	free(l.value);
	return err < 0 ? err : d->n_errors > errors ? -EBADMSG : 0;
}
