/*
 * The strict line reader in front of inih.
 *
 * Guarantees that inih gets only lines that it cannot misread (short, UTF-8, no control bytes, no
 * continuation, no inline comment), one at a time, and that both readers split each line alike: a
 * line that they split differently is an error, never a rule.
 */
#include "ini.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

struct reader {
	const char *file;
	const char *next, *end;
	struct diags *d;
	const struct ini_handler *h;
	unsigned line;
	bool lost; /* below a header that does not parse: the section of these keys is unknown */
	int err;
	size_t errors;
	/* The line that inih reads now, as this reader split it. */
	const char *key, *value;
	size_t key_len, value_len;
	unsigned value_col;
};

static bool line_error(struct reader *r, size_t col, const char *code, const char *hint, const char *text)
{
	r->errors++;
	if (diag_add(r->d, SEVERITY_ERROR, code, r->file, r->line, (unsigned)col, hint, "%s", text) < 0)
		r->err = -ENOMEM;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Decodes one code point.  Returns its length, or 0 if it is not UTF-8 (overlong, surrogate, cut). */
static size_t utf8_decode(const char *s, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;
	uint32_t cp;

	if (n == 0 || n > len)
		return 0;
	cp = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if (cp < least[n] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	*ret = cp;
	return n;
}

/* Characters that make a line look different from its content (Trojan Source). */
static bool is_hidden(uint32_t cp)
{
	return (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0x200e ||
	       cp == 0x200f || cp == 0x200b || cp == 0x2060 || cp == 0xfeff || cp == 0x2028 || cp == 0x2029;
}

static bool check_bytes(struct reader *r, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		size_t n;

		if (s[i] >= 0x20 && s[i] < 0x7f) {
			i++;
			continue;
		}
		n = utf8_decode(s + i, len - i, &cp);
		if (n == 0)
			return line_error(r, i + 1, "bad-utf8", NULL, "not valid UTF-8");
		if (cp == '\r')
			return line_error(r, i + 1, "control-byte", "a file from Windows: dos2unix FILE",
					  "carriage return");
		if (cp == 0xfeff && i == 0 && r->line == 1)
			return line_error(r, 1, "hidden-character", "save the file as UTF-8 without a BOM",
					  "byte order mark");
		if ((cp < 0x20 && cp != '\t') || (cp >= 0x7f && cp < 0xa0))
			return line_error(r, i + 1, "control-byte", NULL, "control character");
		if (is_hidden(cp))
			return line_error(r, i + 1, "hidden-character", NULL,
					  "invisible or direction-changing character");
		i += n;
	}
	return true;
}

/* The offset of an inline comment, which is a mark after a blank; len if there is no comment. */
static size_t find_comment(const char *s, size_t len, char mark)
{
	const char *at = s;

	while ((at = memchr(at, mark, len - (size_t)(at - s)))) {
		if (at > s && is_blank(at[-1]))
			return (size_t)(at - s);
		at++;
	}
	return len;
}

static bool check_header(struct reader *r, const char *s, size_t len)
{
	char header[INI_NAME_MAX + 1];
	const char *close = memchr(s, ']', len);
	int err;

	r->lost = true;
	if (!close)
		return line_error(r, len, "bad-header", NULL, "`[` without `]`");
	if (close != s + len - 1)
		return line_error(r, (size_t)(close - s) + 2, "bad-header",
				  "comments stand on lines of their own", "text behind `]`");
	if (len - 2 > INI_NAME_MAX)
		return line_error(r, INI_NAME_MAX + 1, "bad-header", NULL,
				  "section name longer than 49 bytes");
	if (len == 2 || find_comment(s, len, ';') < len)
		return line_error(r, 2, "bad-header", NULL, "no section name");
	r->lost = false;
	memcpy(header, s + 1, len - 2);
	header[len - 2] = '\0';
	err = r->h->section(r->h->ctx, header, r->line);
	if (err < 0)
		r->err = err;
	return true;
}

static size_t key_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (strchr("_-", s[n]) ? s[n] != '\0' : (s[n] | 32) >= 'a' && (s[n] | 32) <= 'z'))
		n++;
	return n;
}

static bool check_value(struct reader *r, const char *s, size_t start, size_t len)
{
	size_t at, n = len - start;

	if (n == 0)
		return line_error(r, start + 1, "empty-value", NULL, "nothing behind `=`");
	at = find_comment(s + start, n, ';');
	if (at < n || s[start] == ';')
		return line_error(r, start + (at < n ? at : 0) + 1, "inline-comment",
				  "comments stand on lines of their own", "` ;` inside a value");
	if (memchr(s + start, '\t', n))
		return line_error(r, start + 1, "control-byte", NULL, "tab inside a value");
	at = find_comment(s + start, n, '#');
	if (at < n &&
	    diag_add(r->d, SEVERITY_WARNING, "hash-in-value", r->file, r->line, (unsigned)(start + at + 1),
		     "comments stand on lines of their own", "` #` is part of the value, not a comment") < 0)
		r->err = -ENOMEM;
	r->value = s + start;
	r->value_len = n;
	r->value_col = (unsigned)start + 1;
	return true;
}

static bool check_pair(struct reader *r, const char *s, size_t len)
{
	size_t n = key_length(s, len), i = n;

	while (i < len && is_blank(s[i]))
		i++;
	if (n > INI_NAME_MAX)
		return line_error(r, 1, "bad-key", NULL, "key longer than 49 bytes");
	if (i < len && s[i] == ':' && n > 0)
		return line_error(r, i + 1, "missing-equals", "write `key = value`", "`:` where `=` belongs");
	if (i == len || s[i] != '=' || n == 0)
		return line_error(r, i + 1, n == 0 ? "bad-key" : "missing-equals", "write `key = value`",
				  n == 0 ? "no key at the start of the line" : "missing `=`");
	i++;
	while (i < len && is_blank(s[i]))
		i++;
	r->key = s;
	r->key_len = n;
	return check_value(r, s, i, len);
}

/* True if inih may read the line. */
static bool check_line(struct reader *r, const char *s, size_t len)
{
	if (len > INI_LINE_MAX)
		return line_error(r, INI_LINE_MAX + 1, "line-too-long", "split it into several rules",
				  "line too long (limit 190 bytes)");
	if (!check_bytes(r, s, len))
		return false;
	while (len > 0 && is_blank(s[len - 1]))
		len--;
	if (len == 0 || s[0] == '#')
		return false;
	if (s[0] == ';')
		return line_error(r, 1, "bad-key", "a comment begins with `#`",
				  "`;` at the start of the line");
	if (is_blank(s[0]))
		return line_error(r, 1, "leading-blank", "lines are not continued: start at column 1",
				  "line starts with a blank");
	if (s[0] == '[')
		return check_header(r, s, len);
	return check_pair(r, s, len) && !r->lost;
}

/* fgets() for inih: the next line, or an empty line in place of a bad one. */
static char *feed(char *str, int num, void *stream)
{
	struct reader *r = stream;
	const char *s = r->next, *nl;
	size_t len;

	if (r->err < 0 || s >= r->end || num < INI_LINE_MAX + 2)
		return NULL;
	nl = memchr(s, '\n', (size_t)(r->end - s));
	len = nl ? (size_t)(nl - s) : (size_t)(r->end - s);
	r->next = nl ? nl + 1 : r->end;
	r->line++;
	if (!check_line(r, s, len))
		len = 0;
	memcpy(str, s, len);
	str[len] = '\n';
	str[len + 1] = '\0';
	return str;
}

static bool same(const char *a, const char *b, size_t len)
{
	return strlen(a) == len && memcmp(a, b, len) == 0;
}

/* The handler for inih: non-zero means success. */
static int on_pair(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;
	const struct ini_pair pair = { name, value, r->line, 1, r->value_col };

	(void)section;
	if (r->err < 0)
		return 0;
	if (!same(name, r->key, r->key_len) || !same(value, r->value, r->value_len)) {
		line_error(r, 1, "ambiguous-line", NULL, "this line can be read in two ways");
		return 0;
	}
	r->err = r->h->pair(r->h->ctx, &pair);
	return r->err == 0;
}

int ini_read(const char *file, const char *text, size_t len, const struct ini_handler *h, struct diags *d)
{
	struct reader r = { .file = file, .next = text, .end = text + len, .d = d, .h = h };

	if (len > LIMIT_POLICY) {
		line_error(&r, 0, "file-too-long", NULL, "policy file over 8 MiB");
		return r.err < 0 ? r.err : -EBADMSG;
	}
	if (ini_parse_stream(feed, &r, on_pair, &r) != 0 && r.err == 0 && r.errors == 0)
		line_error(&r, 1, "ambiguous-line", NULL, "inih refuses the file");
	if (r.err < 0)
		return r.err;
	return r.errors ? -EBADMSG : 0;
}
