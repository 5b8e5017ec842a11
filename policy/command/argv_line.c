/*
 * A command line as one text.
 */
#include "argv.h"

#include <string.h>

/* A word in which a shell interprets no character. */
static bool is_plain(const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	return *word && word[strspn(word, safe)] == '\0';
}

struct line {
	char *buf;
	size_t size, len;
};

static void line_put(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++, l->len++)
		if (l->len + 1 < l->size)
			l->buf[l->len] = s[i];
}

static void line_quoted(struct line *l, const char *word)
{
	line_put(l, "'", 1);
	for (; *word; word++) {
		if (*word == '\'')
			line_put(l, "'\\''", 4);
		else
			line_put(l, word, 1);
	}
	line_put(l, "'", 1);
}

size_t argv_join(const char *const *argv, size_t argc, char *buf, size_t size)
{
	struct line l = { buf, size, 0 };

	for (size_t i = 0; i < argc && argv[i]; i++) {
		if (i)
			line_put(&l, " ", 1);
		if (is_plain(argv[i]))
			line_put(&l, argv[i], strlen(argv[i]));
		else
			line_quoted(&l, argv[i]);
	}
	if (size)
		buf[l.len < size ? l.len : size - 1] = '\0';
	return l.len;
}
