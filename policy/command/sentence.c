/*
 * The text of a command rule as words: see sentence.h.
 *
 * Every byte is either in a word or refused with a message.  No allocation: the texts are in the sentence's
 * pool, and those of expanded words after them while the callback runs.
 */
#include "sentence.h"

#include <errno.h>
#include <string.h>

#define MAX_EXPANSIONS 1024

static int fault(struct sentence *s, const char *text)
{
	s->fault = text;
	return -EBADMSG;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int put_char(struct sentence *st, char c)
{
	if (st->used >= sizeof(st->pool))
		return fault(st, "rule too long");
	st->pool[st->used++] = c;
	return 0;
}

/* An unquoted word up to the next blank outside of parentheses. */
static int read_plain(const char **s, struct sentence *st)
{
	int depth = 0, r;

	for (; **s && (depth > 0 || !is_blank(**s)); (*s)++) {
		depth += (**s == '(') - (**s == ')');
		if (depth < 0)
			return fault(st, "`)` without `(`; quote the word if it is meant literally");
		if (**s == '|' && depth == 0)
			return fault(st, "alternatives are written (a|b); quote a literal `|`");
		r = put_char(st, **s);
		if (r < 0)
			return r;
	}
	return depth ? fault(st, "`(` without `)`; quote the word if it is meant literally") : 0;
}

static int read_quoted(const char **s, struct sentence *st)
{
	char quote = *(*s)++;
	int r;

	for (; **s && **s != quote; (*s)++) {
		r = put_char(st, **s);
		if (r < 0)
			return r;
	}
	if (!**s)
		return fault(st, "quote not closed");
	(*s)++;
	if (**s && !is_blank(**s))
		return fault(st, "a quoted word must stand alone, between blanks");
	return 0;
}

/* Reads one word from *s; 1 with the word, 0 at the end, a negative number for a fault. */
static int read_word(const char **s, struct sentence *st, struct word *w)
{
	int r;

	while (is_blank(**s))
		(*s)++;
	if (!**s)
		return 0;
	w->text = &st->pool[st->used];
	w->quoted = **s == '"' || **s == '\'';
	r = w->quoted ? read_quoted(s, st) : read_plain(s, st);
	if (r == 0)
		r = put_char(st, '\0');
	return r < 0 ? r : 1;
}

int sentence_read(const char *text, struct sentence *st)
{
	const char *s = text;

	st->n = 0;
	st->used = 0;
	st->closed = false;
	st->fault = NULL;
	for (;;) {
		struct word w = { "", false };
		int r = read_word(&s, st, &w);

		if (r <= 0)
			return r < 0 ? r : st->n ? 0 : fault(st, "no command");
		if (st->closed)
			return fault(st, "`$` stands at the end");
		if (!w.quoted && strcmp(w.text, "$") == 0) {
			if (st->n == 0)
				return fault(st, "no command");
			st->closed = true;
			continue;
		}
		if (st->n == SENTENCE_WORDS)
			return fault(st, "too many words");
		if (st->n == 0)
			st->first = (size_t)(s - text);
		st->words[st->n++] = w;
	}
}

/* The end of the alternative that begins at s: the next `|` or `)` of its own level. */
static const char *alternative_end(const char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (depth == 0 && (*s == '|' || *s == ')'))
			return s;
		depth += (*s == '(') - (*s == ')');
	}
	return s;
}

static int put_text(struct sentence *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		int r = put_char(s, *from);

		if (r < 0)
			return r;
	}
	return 0;
}

struct expansion {
	int (*fn)(const struct sentence *s, void *ctx);
	void *ctx;
	unsigned n;
};

static int expand(struct expansion *e, struct sentence *s);

/* Word i with its first group, at open, replaced by [from, to). */
static int expand_one(struct expansion *e, struct sentence *s, size_t i, const char *open, const char *from,
		      const char *to, const char *close)
{
	struct word whole = s->words[i];
	size_t used = s->used;
	int r;

	while (from < to && is_blank(*from))
		from++;
	while (from < to && is_blank(to[-1]))
		to--;
	if (from == to || memchr(from, ' ', (size_t)(to - from)))
		return fault(s, "each alternative of (a|b) is one word");
	s->words[i].text = &s->pool[used];
	r = put_text(s, whole.text, open);
	if (r == 0)
		r = put_text(s, from, to);
	if (r == 0)
		r = put_text(s, close + 1, close + 1 + strlen(close + 1) + 1);
	if (r == 0)
		r = expand(e, s);
	s->words[i] = whole;
	s->used = used;
	return r;
}

/* Calls fn once for each choice of alternatives. */
static int expand(struct expansion *e, struct sentence *s)
{
	const char *open = NULL, *close, *from, *to;
	size_t i;

	for (i = 0; i < s->n && !open; i++)
		open = s->words[i].quoted ? NULL : strchr(s->words[i].text, '(');
	if (!open) {
		if (++e->n > MAX_EXPANSIONS)
			return fault(s, "too many alternatives in one rule");
		return e->fn(s, e->ctx);
	}
	for (close = alternative_end(open + 1); *close == '|';)
		close = alternative_end(close + 1);
	for (from = open + 1; from <= close; from = to + 1) {
		int r;

		to = alternative_end(from);
		r = expand_one(e, s, i - 1, open, from, to, close);
		if (r < 0)
			return r;
	}
	return 0;
}

int sentence_expand(struct sentence *s, int (*fn)(const struct sentence *s, void *ctx), void *ctx)
{
	struct expansion e = { fn, ctx, 0 };

	return expand(&e, s);
}
