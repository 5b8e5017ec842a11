/*
 * JSON with comments to JSON: `//`, slash-star and trailing commas become blanks, so that every line and
 * column stays where it was.  What stands in a string is left alone.
 */
#include <stdbool.h>

#include "import.h"

static void blank(char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (text[i] != '\n' && text[i] != '\r')
			text[i] = ' ';
}

/* Behind the string that begins at i. */
static size_t string_end(const char *text, size_t len, size_t i)
{
	for (i++; i < len && text[i] != '"' && text[i] != '\n'; i++)
		if (text[i] == '\\' && i + 1 < len)
			i++;
	return i < len ? i + 1 : len;
}

/* Behind the comment that begins at i; i where none does.  One that does not end is left for the parser. */
static size_t comment_end(const char *text, size_t len, size_t i)
{
	size_t j = i + 2;

	if (i + 1 >= len || text[i] != '/' || (text[i + 1] != '/' && text[i + 1] != '*'))
		return i;
	if (text[i + 1] == '/') {
		while (j < len && text[j] != '\n')
			j++;
		return j;
	}
	while (j + 1 < len && !(text[j] == '*' && text[j + 1] == '/'))
		j++;
	return j + 1 < len ? j + 2 : i;
}

static void strip_comments(char *text, size_t len)
{
	for (size_t i = 0, end; i < len;) {
		if (text[i] == '"') {
			i = string_end(text, len, i);
			continue;
		}
		end = comment_end(text, len, i);
		blank(text, i, end);
		i = end > i ? end : i + 1;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void jsonc_strip(char *text, size_t len)
{
	strip_comments(text, len);
	for (size_t i = 0, j; i < len;) {
		if (text[i] == '"') {
			i = string_end(text, len, i);
			continue;
		}
		for (j = i + 1; text[i] == ',' && j < len && is_blank(text[j]);)
			j++;
		if (text[i] == ',' && j < len && (text[j] == '}' || text[j] == ']'))
			text[i] = ' ';
		i++;
	}
}
