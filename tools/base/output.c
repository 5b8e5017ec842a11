/*
 * Output of the tools: colour where it is wanted, untrusted bytes escaped, findings, JSON.
 */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/legible.h"
#include "policy/record/record.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

/* --- progress --- */

#define STEPS	   256 /* between two looks at the clock */
#define NS_BETWEEN (NS_S / 5)
#define BLANKS	   50

static struct {
	uint64_t done, next_ns;
	bool on, shown;
} now;

static void show(void)
{
	uint64_t ns = clock_awake_ns();

	if (now.next_ns == 0) {
		now.on = isatty(STDERR_FILENO);
		now.next_ns = ns + NS_S;
	}
	if (!now.on || ns < now.next_ns)
		return;
	now.next_ns = ns + NS_BETWEEN;
	now.shown = true;
	fprintf(stderr, "\rpale: %llu records read", (unsigned long long)now.done);
	(void)fflush(stderr);
}

void progress_step(void)
{
	if (now.done++ % STEPS == 0)
		show();
}

void progress_end(void)
{
	if (!now.shown)
		return;
	now.shown = false;
	fprintf(stderr, "\r%*s\r", BLANKS, "");
	(void)fflush(stderr);
}

void talk(const char *fmt, ...)
{
	_cleanup_free_ char *line = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		line = NULL;
	progress_end();
	fputs("pale: ", stderr);
	print_recorded(stderr, line ? line : "out of memory");
	fputc('\n', stderr);
}

/* Standard output is a pager, which shows on the terminal. */
static bool is_paged;

static bool has_colour(FILE *f)
{
	const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");

	if (none && *none)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return (isatty(fileno(f)) || (f == stdout && is_paged)) && term && strcmp(term, "dumb") != 0;
}

const char *paint_on(FILE *f, enum paint p)
{
	static const char *const codes[] = {
		[PAINT_RED] = "\033[31m", [PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m",
		[PAINT_DIM] = "\033[2m",  [PAINT_BOLD] = "\033[1m",
	};

	return has_colour(f) ? codes[p] : "";
}

const char *paint_off(FILE *f)
{
	return has_colour(f) ? "\033[0m" : "";
}

FILE *pager_open(void)
{
	const char *name = getenv("PAGER");
	FILE *pager;

	if (!name || !*name)
		name = access("/usr/bin/less", X_OK) == 0 ? "/usr/bin/less" : "cat";
	if (!isatty(STDOUT_FILENO) || strcmp(name, "cat") == 0)
		return NULL;
	/* As git-config(1) has it under core.pager: end where it fits, keep the screen, show colours.  To
	 * open at the end would fill the screen above what fits, so its prompt says how to get there. */
	(void)setenv("LESS", "FRXPsG goes to the newest$", 0);
	(void)fflush(stdout);
	pager = popen(name, "we");
	is_paged = pager && dup2(fileno(pager), STDOUT_FILENO) >= 0;
	return pager;
}

void pager_close(FILE *pager)
{
	if (!pager)
		return;
	(void)fclose(stdout);
	(void)pclose(pager);
}

enum paint paint_of_verdict(const char *verdict)
{
	if (strcmp(verdict, "deny") == 0)
		return PAINT_RED;
	if (strcmp(verdict, "allow") == 0)
		return PAINT_GREEN;
	return strcmp(verdict, "ask") == 0 ? PAINT_YELLOW : PAINT_DIM;
}

/* Whether f is a terminal, or a pager on one, where the locale's characters are UTF-8. */
static bool has_utf8(FILE *f)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL;

	if (!isatty(fileno(f)) && !(f == stdout && is_paged))
		return false;
	for (size_t i = 0; i < NELEM(names) && !(locale && *locale); i++)
		locale = getenv(names[i]);
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

enum form {
	FORM_BYTES,    /* backslashes are doubled */
	FORM_RECORDED, /* backslashes stay, since the ledger escaped with them */
};

/* Escapes what could mislead; text_escaped() does the same without a locale, for the library and the helper.
 * Where utf8 is true, a word that legible_word() lets through is left as it is. */
static char *visible(const char *s, enum form form, bool utf8)
{
	static const char hex[] = "0123456789abcdef";
	char *out = malloc(strlen(s) * 4 + 1), *at = out;

	while (out && *s) {
		bool legible = false;
		size_t n = utf8 ? legible_word(s, &legible) : 0;

		for (n += n == 0; n > 0; n--, s++) {
			unsigned char c = (unsigned char)*s;

			if (legible || (c >= 0x20 && c < 0x7f)) {
				*at++ = (char)c;
				if (c == '\\' && form == FORM_BYTES)
					*at++ = '\\';
				continue;
			}
			*at++ = '\\';
			*at++ = 'x';
			*at++ = hex[c >> 4];
			*at++ = hex[c & 15];
		}
	}
	if (out)
		*at = '\0';
	return out;
}

char *text_visible(const char *s)
{
	return visible(s, FORM_BYTES, false);
}

char *recorded_visible(const char *s)
{
	return visible(s, FORM_RECORDED, false);
}

static bool is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < 0x20 || s[i] == 0x7f)
			return false;
	return true;
}

/* Whether f takes UTF-8 is asked only where it matters: a log has many fields, and most of them are ASCII. */
static void print_visible(FILE *f, const char *s, enum form form)
{
	_cleanup_free_ char *shown = visible(s, form, !is_ascii(s, strlen(s)) && has_utf8(f));

	fputs(shown ? shown : "?", f);
}

void print_escaped(FILE *f, const char *s)
{
	print_visible(f, s, FORM_BYTES);
}

void print_recorded(FILE *f, const char *s)
{
	print_visible(f, s, FORM_RECORDED);
}

char *text_unescape(const char *s)
{
	char *out = strdup(s);

	if (out)
		(void)record_unescape(out);
	return out;
}

/* JSON_ENSURE_ASCII leaves DEL as it is. */
static void print_ascii(const char *json)
{
	for (const char *del; (del = strchr(json, 0x7f)); json = del + 1)
		printf("%.*s\\u007f", (int)(del - json), json);
	puts(json);
}

void print_json(json_t *j)
{
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;

	if (text)
		print_ascii(text);
	json_decref(j);
}

void print_json_line(const char *line, size_t len)
{
	_cleanup_json_ json_t *j = NULL;
	_cleanup_free_ char *text = NULL;

	if (is_ascii(line, len)) {
		fwrite(line, 1, len, stdout);
		putchar('\n');
		return;
	}
	j = json_loadb(line, len, 0, NULL);
	text = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER) : NULL;
	if (text)
		print_ascii(text);
}

json_t *json_text(const char *s)
{
	_cleanup_free_ char *escaped = NULL;
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	escaped = record_escape(s, strlen(s));
	return escaped ? json_string(escaped) : json_null();
}

const char *json_str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {
		[SEVERITY_ERROR] = "error",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_NOTE] = "note",
	};

	return (size_t)s < NELEM(names) ? names[s] : "error";
}

static enum paint paint_of_severity(enum severity s)
{
	if (s == SEVERITY_ERROR)
		return PAINT_RED;
	return s == SEVERITY_WARNING ? PAINT_YELLOW : PAINT_DIM;
}

static void print_diag(FILE *f, const struct diag *d)
{
	print_escaped(f, d->file ? d->file : "?");
	/* Line 0 means that the finding is about the whole file. */
	if (d->line)
		fprintf(f, ":%u:%u", d->line, d->col);
	fprintf(f, ": %s%s%s: ", paint_on(f, paint_of_severity(d->severity)), severity_name(d->severity),
		paint_off(f));
	print_escaped(f, d->text ? d->text : "");
	fprintf(f, " [%s]\n", d->code);
	if (!d->hint)
		return;
	fputs("    try: ", f);
	print_escaped(f, d->hint);
	fputc('\n', f);
}

void print_diags(FILE *f, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		print_diag(f, &d->list[i]);
}

json_t *diags_to_json(const struct diags *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct diag *g = &d->list[i];

		json_array_append_new(list,
				      json_pack("{so, si, si, ss, ss, so, so}", "file", json_text(g->file),
						"line", (int)g->line, "column", (int)g->col, "severity",
						severity_name(g->severity), "code", g->code, "text",
						json_text(g->text), "hint", json_text(g->hint)));
	}
	return list;
}
