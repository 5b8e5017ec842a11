/*
 * JSON with comments to JSON: `//`, slash-star and trailing commas become blanks, so that all lines and
 * columns stay the same.  Strings are not changed.
 */
#include <string.h>

#include "import.h"

/* The index after the string that begins at i. */
static size_t string_end(const char *text, size_t len, size_t i)
{
	for (i++; i < len && text[i] != '"' && text[i] != '\n'; i++)
		if (text[i] == '\\' && i + 1 < len)
			i++;
	return i < len ? i + 1 : len;
}

/* The index after the comment that begins at i; i where none begins.  A comment that does not end is left
 * to the parser. */
static size_t comment_end(const char *text, size_t len, size_t i)
{
	const char *end = NULL;

	if (i + 1 < len && text[i] == '/' && text[i + 1] == '/') {
		end = memchr(text + i, '\n', len - i);
		return end ? (size_t)(end - text) : len;
	}
	if (i + 1 < len && text[i] == '/' && text[i + 1] == '*')
		end = memmem(text + i + 2, len - i - 2, "*/", 2);
	return end ? (size_t)(end - text) + 2 : i;
}

void jsonc_strip(char *text, size_t len)
{
	size_t comma = len; /* the last comma, if only blanks have followed it */

	for (size_t i = 0, end; i < len; i = end) {
		bool string = text[i] == '"';

		end = string ? string_end(text, len, i) : comment_end(text, len, i);
		for (size_t k = i; !string && k < end; k++)
			if (text[k] != '\n' && text[k] != '\r')
				text[k] = ' ';
		if (comma < len && (text[i] == '}' || text[i] == ']'))
			text[comma] = ' ';
		if (!strchr(" \t\r\n", text[i]))
			comma = text[i] == ',' ? i : len;
		end += end == i;
	}
}
