/*
 * The lines of the policy that comes out, where each came from, and what is told beside them.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "import.h"

/* Of a comment; a line of a policy has at most 190 bytes. */
#define COMMENT_MAX 160

char *format(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return text;
	talk("out of memory");
	exit(EXIT_USAGE);
}

void import_init(struct import *im, const struct options *o, const char *file)
{
	*im = (struct import){ .o = o, .file = file };
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
	memset(im, 0, sizeof(*im));
}

void carry_tell(struct import *im, enum told_kind kind, const char *from, const char *fmt, ...)
{
	struct told *grown = im->error ? NULL : reallocarray(im->told, im->n_told + 1, sizeof(*grown));
	va_list ap;
	int n;

	if (!grown) {
		im->error = -ENOMEM;
		return;
	}
	im->told = grown;
	grown += im->n_told;
	*grown = (struct told){ .kind = kind, .from = strdup(from) };
	va_start(ap, fmt);
	n = vasprintf(&grown->text, fmt, ap);
	va_end(ap);
	if (n < 0)
		grown->text = NULL;
	im->n_told++;
	if (!grown->from || !grown->text)
		im->error = -ENOMEM;
}

static bool append(struct import *im, const struct carried *c, const char *value, const char *from)
{
	struct carried *grown = im->error ? NULL : reallocarray(im->list, im->n + 1, sizeof(*grown));

	if (!grown) {
		im->error = -ENOMEM;
		return false;
	}
	im->list = grown;
	grown[im->n] = *c;
	grown[im->n].value = strdup(value);
	grown[im->n].from = strdup(from);
	if (!grown[im->n].value || !grown[im->n].from)
		im->error = -ENOMEM;
	im->n++;
	return !im->error;
}

/* A line of its own, whatever is in it. */
static bool is_line(const char *value)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f)
			return false;
	return n > 0 && value[0] != ' ' && value[n - 1] != ' ';
}

static bool is_carried(const struct import *im, const struct carried *c, const char *value)
{
	for (size_t i = 0; i < im->n; i++) {
		const struct carried *l = &im->list[i];

		if (!l->dropped && strcmp(l->section, c->section) == 0 && strcmp(l->key, c->key) == 0 &&
		    strcmp(l->value, value) == 0)
			return true;
	}
	return false;
}

bool carry_rule(struct import *im, const char *section, const char *key, const char *from, const char *value)
{
	const struct carried c = { .section = section, .key = key };

	if (im->error || is_carried(im, &c, value))
		return false;
	if (!is_line(value)) {
		carry_tell(im, TOLD_LOST, from, "`%s = %s` holds what a line of a policy cannot", key, value);
		return false;
	}
	return append(im, &c, value, from);
}

void carry_setting(struct import *im, const char *section, const char *key, const char *from,
		   const char *value)
{
	const struct carried c = { .section = section, .key = key, .is_setting = true };

	for (size_t i = 0; i < im->n; i++)
		if (im->list[i].is_setting && strcmp(im->list[i].section, section) == 0 &&
		    strcmp(im->list[i].key, key) == 0)
			im->list[i].dropped = true;
	(void)append(im, &c, value, from);
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
	static const char *const keys[] = { "allow", "write", "read", "unix", "udp", "bind", NULL };

	return key_is(c, keys);
}

bool carry_closes(const struct carried *c)
{
	static const char *const keys[] = { "deny", "ask", "readonly", "ask_write", "keep", NULL };

	return key_is(c, keys);
}

/* --- the text --- */

struct writer {
	FILE *f;
	unsigned line;
	const char *from; /* what the last comment said */
	size_t from_len;
};

static void put_line(struct writer *w, const char *text)
{
	fprintf(w->f, "%s\n", text);
	w->line++;
}

/* "a.b[3]" and "a.b[4]" are one heading. */
static size_t heading(const char *from)
{
	size_t n = strlen(from), i;

	if (n == 0 || from[n - 1] != ']')
		return n;
	for (i = n - 1; i > 0 && from[i - 1] >= '0' && from[i - 1] <= '9'; i--)
		;
	return i > 0 && i < n - 1 && from[i - 1] == '[' ? i - 1 : n;
}

static void put_heading(struct writer *w, const char *from)
{
	_cleanup_free_ char *shown = NULL;
	size_t n = heading(from);
	char line[COMMENT_MAX + 8];

	if (w->from && n == w->from_len && strncmp(from, w->from, n) == 0)
		return;
	w->from = from;
	w->from_len = n;
	shown = text_visible(from);
	if (!shown)
		return;
	if (heading(shown) < strlen(shown))
		shown[heading(shown)] = '\0';
	(void)snprintf(line, sizeof(line), "# %.*s", COMMENT_MAX, shown);
	put_line(w, line);
}

static void put_carried(struct writer *w, struct import *im, size_t i)
{
	struct carried *c = &im->list[i];

	put_heading(w, c->from);
	c->line = ++w->line;
	fprintf(w->f, "%s = %s\n", c->key, c->value);
}

/* Settings first, as people write them. */
static void put_section(struct writer *w, struct import *im, const char *section)
{
	bool begun = false;
	char head[32];

	for (size_t k = 0; k < 2 * im->n; k++) {
		size_t i = k < im->n ? k : k - im->n;
		const struct carried *c = &im->list[i];

		if (c->is_setting != (k < im->n) || c->dropped || strcmp(c->section, section) != 0)
			continue;
		if (!begun) {
			(void)snprintf(head, sizeof(head), "[%s]", section);
			put_line(w, "");
			put_line(w, head);
			w->from = NULL;
			begun = true;
		}
		put_carried(w, im, i);
	}
}

char *carry_text(struct import *im)
{
	static const char *const sections[] = { "session", "files", "commands", "network" };
	_cleanup_free_ char *name = text_visible(im->file);
	struct writer w = { .line = 0 };
	char line[COMMENT_MAX + 64];
	char *text = NULL;
	size_t len;

	w.f = open_memstream(&text, &len);
	if (!w.f || !name) {
		im->error = -ENOMEM;
		if (w.f)
			(void)fclose(w.f);
		free(text);
		return NULL;
	}
	(void)snprintf(line, sizeof(line), "# Carried over from %.*s (%s) by pale import.", 100, name,
		       im->source);
	put_line(&w, line);
	put_line(&w, "# Above each line stands the place in that file that it comes from.");
	put_line(&w, "preset = agent");
	for (size_t i = 0; i < NELEM(sections); i++)
		put_section(&w, im, sections[i]);
	if (fclose(w.f) != 0) {
		im->error = -ENOMEM;
		free(text);
		return NULL;
	}
	return text;
}
