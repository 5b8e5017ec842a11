/*
 * git's configuration grammar: see gitconfig.h.
 *
 * Follows git_parse_source() of git's config.c character by character.  Stricter in two things: a NUL
 * ends nothing but the reading, and a carriage return stands before a newline or is refused.
 */
#include "gitconfig.h"
#include "policy/base/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 65536

struct reader {
	const char *p, *end;
	unsigned line;
	bool at_end;
	struct gitconfig *to;
	char *section, *subsection; /* of the lines that follow */
	char *text;		    /* as long as the file: what is being read */
	size_t len;
};

#define BAD (-2) /* what git may read otherwise than we */

/* The end is a newline, as git has it. */
static int next_char(struct reader *r)
{
	int c;

	if (r->p == r->end) {
		r->at_end = true;
		return '\n';
	}
	c = (unsigned char)*r->p++;
	if (c == '\r') {
		if (r->p == r->end || *r->p != '\n')
			return BAD;
		c = *r->p++; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c): it is a newline */
	}
	if (c == '\n')
		r->line++;
	return c == '\0' ? BAD : c;
}

static bool is_key_char(int c)
{
	return c > 0 && c < 128 && (isalnum(c) || c == '-');
}

/* git's own isspace() knows no more. */
static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void put(struct reader *r, int c)
{
	r->text[r->len++] = (char)c;
}

/* What was read so far, as a string of its own. */
static int take(struct reader *r, char **ret)
{
	char *s = strndup(r->text, r->len);

	r->len = 0;
	if (!s)
		return -ENOMEM;
	free(*ret);
	*ret = s;
	return 0;
}

/* `"name"]`, behind the blanks that end a section's own name. */
static int read_subsection(struct reader *r)
{
	int c;

	do
		c = next_char(r);
	while (c == ' ' || c == '\t');
	if (c != '"')
		return -EINVAL;
	for (;;) {
		c = next_char(r);
		if (c == '\\')
			c = next_char(r);
		else if (c == '"')
			break;
		if (c == '\n' || c == BAD)
			return -EINVAL;
		put(r, c);
	}
	return next_char(r) == ']' ? take(r, &r->subsection) : -EINVAL;
}

/* `[a]`, `[a "b"]` and the old `[a.b]`, whose subsection is lower case. */
static int read_section(struct reader *r)
{
	bool dotted = false;
	int c, e;

	free(r->subsection);
	r->subsection = NULL;
	for (;;) {
		c = next_char(r);
		if (c == ']' || c == ' ' || c == '\t')
			break;
		if (c == '.' && !dotted) {
			e = take(r, &r->section);
			if (e < 0)
				return e;
			dotted = true;
			continue;
		}
		if (!is_key_char(c) && c != '.')
			return -EINVAL;
		put(r, tolower(c));
	}
	if (dotted && c != ']')
		return -EINVAL; /* [a.b "c"]: nobody writes that */
	e = take(r, dotted ? &r->subsection : &r->section);
	return e < 0 || c == ']' ? e : read_subsection(r);
}

static int escape_of(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return BAD;
	}
}

/* The text behind `=`, its blanks at both ends gone. */
static int read_value(struct reader *r, char **ret)
{
	bool quote = false, comment = false;
	size_t keep = 0; /* what stands up to here stays, blanks or not */

	for (;;) {
		int c = next_char(r);

		if (c == BAD || (c == '\n' && quote))
			return -EINVAL;
		if (c == '\n')
			break;
		if (comment)
			continue;
		if (is_blank(c) && !quote) {
			if (r->len)
				put(r, ' ');
			continue;
		}
		if (!quote && (c == ';' || c == '#')) {
			comment = true;
			continue;
		}
		if (c == '"') {
			quote = !quote;
			keep = r->len;
			continue;
		}
		if (c == '\\') {
			c = next_char(r);
			if (c == '\n' && !r->at_end) {
				keep = r->len; /* blanks before it are no end's */
				continue;
			}
			c = escape_of(c);
			if (c == BAD)
				return -EINVAL;
		}
		put(r, c);
		keep = r->len;
	}
	r->len = keep;
	return take(r, ret);
}

static struct gitconfig_entry *entry_new(struct gitconfig *g)
{
	struct gitconfig_entry *e = g->n < ENTRIES_MAX ? LIST_NEW(g->entries, g->n) : NULL;

	g->n += e != NULL;
	return e;
}

/* A variable, of which c is the first character. */
static int read_entry(struct reader *r, int c)
{
	struct gitconfig_entry *e;
	int err;

	if (!r->section || !isalpha(c))
		return -EINVAL;
	e = entry_new(r->to);
	if (!e)
		return -ENOMEM;
	e->line = r->line;
	for (; is_key_char(c); c = next_char(r))
		put(r, tolower(c));
	err = take(r, &e->name);
	while (c == ' ' || c == '\t')
		c = next_char(r);
	if (err == 0 && c != '\n')
		err = c == '=' ? read_value(r, &e->value) : -EINVAL;
	if (err < 0)
		return err;
	e->section = strdup(r->section);
	e->subsection = r->subsection ? strdup(r->subsection) : NULL;
	return e->section && !e->subsection == !r->subsection ? 0 : -ENOMEM;
}

static int read_all(struct reader *r)
{
	bool comment = false;
	int err = 0;

	while (err == 0 && !r->at_end) {
		int c = next_char(r);

		if (c == BAD)
			err = -EINVAL;
		else if (c == '\n')
			comment = false;
		else if (comment || is_blank(c))
			continue;
		else if (c == '#' || c == ';')
			comment = true;
		else
			err = c == '[' ? read_section(r) : read_entry(r, c);
	}
	return err;
}

int gitconfig_parse(const char *text, size_t len, struct gitconfig *ret, unsigned *ret_line)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct reader r = { .line = 1, .to = ret };
	int err;

	*ret = (struct gitconfig){ .n = 0 };
	*ret_line = 0;
	if (len > GITCONFIG_MAX)
		return -E2BIG;
	if (len >= 3 && memcmp(text, bom, 3) == 0) {
		text += 3;
		len -= 3;
	}
	r.p = text;
	r.end = text + len;
	r.text = malloc(len + 1);
	err = r.text ? read_all(&r) : -ENOMEM;
	free(r.text);
	free(r.section);
	free(r.subsection);
	if (err < 0) {
		gitconfig_done(ret);
		*ret_line = r.line;
	}
	return err;
}

void gitconfig_done(struct gitconfig *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->entries[i].section);
		free(g->entries[i].subsection);
		free(g->entries[i].name);
		free(g->entries[i].value);
	}
	free(g->entries);
	*g = (struct gitconfig){ .n = 0 };
}
