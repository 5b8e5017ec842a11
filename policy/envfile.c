/*
 * A .env file as assignments: see envfile.h.  Text in, calls out; looks at no file and no environment.
 */
#include "envfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EOF_CHAR (-1)

struct env_reader {
	const char *file, *text;
	size_t len, at;
	unsigned line;
	size_t line_start;
	char *key, *value; /* room for all of text each */
	struct diags *d;
};

static int peek(const struct env_reader *r)
{
	return r->at < r->len ? (unsigned char)r->text[r->at] : EOF_CHAR;
}

static void next(struct env_reader *r)
{
	if (r->text[r->at++] != '\n')
		return;
	r->line++;
	r->line_start = r->at;
}

static bool at_end(const struct env_reader *r)
{
	int c = peek(r);

	return c == EOF_CHAR || c == '\n' ||
	       (c == '\r' && (r->at + 1 == r->len || r->text[r->at + 1] == '\n'));
}

static unsigned column(const struct env_reader *r)
{
	return (unsigned)(r->at - r->line_start) + 1;
}

static void skip_blanks(struct env_reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t')
		next(r);
}

static void skip_line(struct env_reader *r)
{
	while (peek(r) != EOF_CHAR && peek(r) != '\n')
		next(r);
	if (peek(r) == '\n')
		next(r);
}

static int complain(struct env_reader *r, unsigned line, unsigned col, const char *text)
{
	return diag_add(r->d, SEVERITY_ERROR, "env-line", r->file, line, col,
			"write KEY=VALUE, with quotes around what holds blanks", "%s", text);
}

static bool is_key_char(int c, size_t i)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (i > 0 && c >= '0' && c <= '9');
}

static size_t read_key(struct env_reader *r)
{
	size_t n = 0;

	while (is_key_char(peek(r), n)) {
		r->key[n++] = (char)peek(r);
		next(r);
	}
	r->key[n] = '\0';
	return n;
}

/* The escaped byte as dotenv readers agree on it; EOF_CHAR for another. */
static int unescape(int c)
{
	return c == 'n' ? '\n' : c == '"' || c == '\\' || c == '$' ? c : EOF_CHAR;
}

static const char not_closed[] = "a quote that is not closed";

/* NULL, or what is wrong. */
static const char *read_quoted(struct env_reader *r, int quote)
{
	size_t n = 0;

	next(r);
	for (; peek(r) != quote; next(r)) {
		int c = peek(r);

		if (c == '\\' && quote == '"') {
			next(r);
			c = unescape(peek(r));
		}
		if (c == EOF_CHAR || c == '\0')
			return r->at >= r->len ? not_closed
			       : c	       ? "an escape that means nothing"
					       : "a NUL byte";
		r->value[n++] = (char)c;
	}
	next(r);
	r->value[n] = '\0';
	return NULL;
}

static const char *read_plain(struct env_reader *r)
{
	size_t n = 0;

	for (; !at_end(r); next(r)) {
		int c = peek(r);

		if (c == '\0')
			return "a NUL byte";
		if (c == '#' && n > 0 && (r->value[n - 1] == ' ' || r->value[n - 1] == '\t'))
			break;
		r->value[n++] = (char)c;
	}
	while (n > 0 && (r->value[n - 1] == ' ' || r->value[n - 1] == '\t'))
		n--;
	r->value[n] = '\0';
	return NULL;
}

static const char *read_value(struct env_reader *r)
{
	const char *why;
	int c = peek(r);

	if (c == '#')
		r->value[0] = '\0';
	why = c == '\'' || c == '"' ? read_quoted(r, c) : c == '#' ? NULL : read_plain(r);
	if (why)
		return why;
	skip_blanks(r);
	return at_end(r) || peek(r) == '#' ? NULL : "something behind the closing quote";
}

/* KEY, with or without `export` before it, and `=`. */
static const char *read_head(struct env_reader *r, unsigned *ret_col)
{
	*ret_col = column(r);
	if (read_key(r) == 0)
		return "no name of a variable";
	if (strcmp(r->key, "export") == 0 && (peek(r) == ' ' || peek(r) == '\t')) {
		skip_blanks(r);
		*ret_col = column(r);
		if (peek(r) != '=' && read_key(r) == 0)
			return "no name of a variable";
	}
	skip_blanks(r);
	if (peek(r) != '=')
		return "no `=` behind the name";
	next(r);
	skip_blanks(r);
	return NULL;
}

static int read_line(struct env_reader *r, int (*fn)(void *ctx, const struct env_pair *pair), void *ctx)
{
	struct env_pair pair = { .key = r->key, .value = r->value, .from = r->line_start, .line = r->line };
	const char *why;
	int err = 0;

	skip_blanks(r);
	if (at_end(r) || peek(r) == '#') {
		skip_line(r);
		return 0;
	}
	why = read_head(r, &pair.key_col);
	pair.value_col = column(r);
	if (!why)
		why = read_value(r);
	pair.to = r->at;
	/* What is not closed is told where it begins: it ends where the file does. */
	if (why == not_closed)
		err = complain(r, pair.line, pair.value_col, why);
	else
		err = why ? complain(r, r->line, column(r), why) : fn(ctx, &pair);
	skip_line(r);
	return err;
}

int env_read(const char *file, const char *text, size_t len,
	     int (*fn)(void *ctx, const struct env_pair *pair), void *ctx, struct diags *d)
{
	struct env_reader r = { .file = file, .text = text, .len = len, .line = 1, .d = d };
	size_t errors = d->n_errors;
	int err = 0;

	r.key = malloc(len + 1);
	r.value = malloc(len + 1);
	if (!r.key || !r.value)
		err = -ENOMEM;
	/* What editors of another system put before the first line. */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at = r.line_start = 3;
	while (err == 0 && r.at < len)
		err = read_line(&r, fn, ctx);
	free(r.key);
	free(r.value);
	return err < 0 ? err : d->n_errors > errors ? -EBADMSG : 0;
}
