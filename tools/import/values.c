/*
 * Translates commands, paths and hosts of the sources to the syntax of a policy.
 */
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "import.h"

/* Characters with a meaning in a word of a rule. */
#define SPECIAL "()|<>$*\""

static bool has_special(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr(SPECIAL, s[i]))
			return true;
	return n == 3 && memcmp(s, "...", 3) == 0;
}

/* One word, taken literally. */
static char *word_literal(const char *word, size_t len, const char **why)
{
	if (memchr(word, '"', len)) {
		*why = "a word with a double quote cannot be written";
		return NULL;
	}
	/* In a rule `name=` matches any word that begins so. */
	return format(len == 0 || has_special(word, len) || memchr(word, ' ', len) ? "\"%.*s\"" : "%.*s",
		      (int)len, word);
}

/* Stars in a word stay stars, all else is literal. */
static char *word_glob(const char *word, size_t len, enum word_style style, bool first, const char **why)
{
	bool open = style == WORDS_GLOB_ALL && *word == '*';
	char *copy;

	/* A star alone matches any number of words, except in place of the program. */
	if (len == 1 && *word == '*')
		return format("%s", first ? "*" : "...");
	if (open && first)
		*why = "its star stands for more than the program's name";
	for (size_t i = 0; i < len; i++)
		if (strchr("()|<>$\"", word[i]))
			*why = "a pattern with this character cannot be written as a word";
	if (*why)
		return NULL;
	copy = format("%s%.*s", open ? "... " : "", (int)len, word);
	for (char *s = copy; *s; s++)
		if (*s == '?')
			*s = '*';
	return copy;
}

static bool is_shell(const char *s, size_t n)
{
	static const char *const operators[] = {
		"&&", "||", "|", ";", "&", ">", ">>", "<", "<<", "2>", "2>&1"
	};

	for (size_t i = 0; i < NELEM(operators); i++)
		if (strlen(operators[i]) == n && memcmp(operators[i], s, n) == 0)
			return true;
	return memchr(s, ';', n) || memchr(s, '`', n) || memchr(s, '\n', n) ||
	       (n > 1 && memcmp(s, "$(", 2) == 0);
}

/* `NAME=value` in front of a command. */
static bool is_assignment(const char *s, size_t n)
{
	size_t name = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return name > 0 && name + 1 < n && s[name] == '=';
}

char *words_of(const char *text, enum word_style style, const char **why)
{
	const char *s = text + strspn(text, " \t");
	char *words = NULL;

	*why = NULL;
	if (!*s) {
		*why = "no command";
		return NULL;
	}
	for (size_t n; *s; s += n + strspn(s + n, " \t")) {
		bool quoted = *s == '"' || *s == '\'', last;
		const char *word = s + quoted, *close = quoted ? strchr(word, *s) : NULL;
		size_t len;

		n = close ? (size_t)(close - s + 1) : strcspn(s, " \t");
		len = close ? (size_t)(close - word) : n;
		last = s[n + strspn(s + n, " \t")] == '\0';
		if (quoted && !close)
			*why = "a quote that is not closed";
		else if (!quoted && is_shell(word, len))
			*why = "a line of the shell; here each command of it is judged by itself";
		else if (!words && is_assignment(word, len))
			*why = "a variable in front of a command; here the command is judged without";
		else if (style != WORDS_LITERAL && last && words && len == 1 && *word == '*')
			continue; /* further words match anyway */
		else {
			_cleanup_free_ char *before = words,
					    *next = quoted || style == WORDS_LITERAL
							    ? word_literal(word, len, why)
							    : word_glob(word, len, style, !words, why);

			words = next ? format("%s%s%s", before ? before : "", before ? " " : "", next) : NULL;
		}
		if (*why) {
			free(words);
			return NULL;
		}
	}
	return words;
}

char *path_of(const char *text)
{
	size_t n;

	while (strncmp(text, "./", 2) == 0)
		text += 2 + strspn(text + 2, "/");
	n = strlen(text);
	for (;;) {
		if (n > 3 && memcmp(text + n - 3, "/**", 3) == 0)
			n -= 3;
		else if (n > 1 && text[n - 1] == '/')
			n--;
		else
			break;
	}
	/* "Everything below" is the directory itself in pale. */
	if (n == 0 || (n == 2 && memcmp(text, "**", 2) == 0))
		n = 1, text = ".";
	return format("%.*s", (int)n, text);
}
