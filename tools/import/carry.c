/*
 * The lines of the resulting policy, the place in the source of each, and the messages of the report.
 */
#include <stdarg.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

#include "import.h"

/* Limit of a comment; a line of a policy has at most 190 bytes. */
#define COMMENT_MAX 160

/* Exits without memory; nothing is written before all is done. */
static void *must(void *p)
{
	if (p)
		return p;
	talk("out of memory");
	exit(EXIT_USAGE);
}

static char *format_va(const char *fmt, va_list ap)
{
	char *text;

	return must(vasprintf(&text, fmt, ap) < 0 ? NULL : text);
}

char *format(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = format_va(fmt, ap);
	va_end(ap);
	return text;
}

void import_done(struct import *im)
{
	for (size_t i = 0; i < im->n; i++) {
		free(im->list[i].value);
		free(im->list[i].from);
	}
	for (size_t i = 0; i < im->n_told; i++) {
		free(im->told[i].from);
		free(im->told[i].text);
	}
	free(im->list);
	free(im->told);
}

void carry_tell(struct import *im, enum told_kind kind, const char *from, const char *fmt, ...)
{
	struct told *t;
	va_list ap;

	im->told = must(reallocarray(im->told, im->n_told + 1, sizeof(*im->told)));
	t = &im->told[im->n_told++];
	va_start(ap, fmt);
	*t = (struct told){ kind, must(strdup(from)), format_va(fmt, ap) };
	va_end(ap);
}

static void append_carried(struct import *im, struct carried c, const char *from, const char *value)
{
	im->list = must(reallocarray(im->list, im->n + 1, sizeof(*im->list)));
	c.value = must(strdup(value));
	c.from = must(strdup(from));
	im->list[im->n++] = c;
}

/* The value fits in one line of a policy. */
static bool is_line(const char *value)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f)
			return false;
	return n > 0 && value[0] != ' ' && value[n - 1] != ' ';
}

bool carry_rule(struct import *im, const char *section, const char *key, const char *from, const char *value)
{
	for (const struct carried *c = im->list; c < im->list + im->n; c++)
		if (!c->dropped && strcmp(c->section, section) == 0 && strcmp(c->key, key) == 0 &&
		    strcmp(c->value, value) == 0)
			return false;
	if (is_line(value))
		append_carried(im, (struct carried){ .section = section, .key = key }, from, value);
	else
		carry_tell(im, TOLD_LOST, from, "`%s = %s` holds what a line of a policy cannot", key, value);
	return is_line(value);
}

void carry_setting(struct import *im, const char *section, const char *key, const char *from,
		   const char *value)
{
	for (struct carried *c = im->list; c < im->list + im->n; c++)
		if (c->is_setting && strcmp(c->section, section) == 0 && strcmp(c->key, key) == 0)
			c->dropped = true;
	append_carried(im, (struct carried){ .section = section, .key = key, .is_setting = true }, from,
		       value);
}

static bool key_is(const struct carried *c, const char *const *keys)
{
	if (c->dropped || c->is_setting)
		return false;
	for (; *keys; keys++)
		if (strcmp(*keys, c->key) == 0)
			return true;
	return false;
}

bool carry_opens(const struct carried *c)
{
	static const char *const keys[] = { "allow", "write", "read", "unix", NULL };

	return key_is(c, keys);
}

bool carry_closes(const struct carried *c)
{
	static const char *const keys[] = { "deny", "ask", "readonly", "ask_write", NULL };

	return key_is(c, keys);
}

/* --- the text --- */

struct writer {
	FILE *f;
	unsigned line;
	char last[COMMENT_MAX]; /* text of the last comment */
};

static void put_line(struct writer *w, const char *text)
{
	fprintf(w->f, "%s\n", text);
	w->line++;
}

/* Writes the place in the source as a comment, once for the elements of one list. */
static void put_heading(struct writer *w, const char *from)
{
	_cleanup_free_ char *shown = must(text_visible(from));
	_cleanup_free_ char *line = NULL;
	char *element = strrchr(shown, '[');

	if (element && element > shown && shown[strlen(shown) - 1] == ']')
		*element = '\0';
	line = format("# %.*s", COMMENT_MAX - 3, shown);
	if (strcmp(line, w->last) != 0)
		put_line(w, line);
	(void)snprintf(w->last, sizeof(w->last), "%s", line);
}

/* Settings come first, as in policies written by hand. */
static void put_section(struct writer *w, struct import *im, const char *section)
{
	bool begun = false;

	for (size_t k = 0; k < 2 * im->n; k++) {
		struct carried *c = &im->list[k < im->n ? k : k - im->n];

		if (c->is_setting != (k < im->n) || c->dropped || strcmp(c->section, section) != 0)
			continue;
		if (!begun) {
			fprintf(w->f, "\n[%s]\n", section);
			w->line += 2;
			w->last[0] = '\0';
			begun = true;
		}
		put_heading(w, c->from);
		c->line = ++w->line;
		fprintf(w->f, "%s = %s\n", c->key, c->value);
	}
}

char *carry_text(struct import *im)
{
	static const char *const sections[] = { "session", "files", "commands", "network", "tools" };
	_cleanup_free_ char *name = must(text_visible(im->file)), *text = NULL;
	struct writer w = { .line = 3 };
	size_t len;

	w.f = must(open_memstream(&text, &len));
	fprintf(w.f,
		"# Carried over from %.100s (%s) by pale import.\n"
		"# Above each line stands the place in that file that it comes from.\n"
		"preset = agent\n",
		name, im->source);
	for (size_t i = 0; i < NELEM(sections); i++)
		put_section(&w, im, sections[i]);
	if (fclose(w.f) != 0)
		(void)must(NULL);
	return TAKE_PTR(text);
}
