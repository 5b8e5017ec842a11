/*
 * Among rules that match, other systems choose the strictest one, pale the most specific one.
 *
 * Guarantees that nothing the source denies is allowed because of that: an opening rule that a closing one
 * covers is removed, and where the two overlap, a further rule closes the overlap.
 */
#include <string.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "import.h"

#define SHOWN 3 /* most places in a line of the report */

/* --- commands: words in order --- */

static const char *next_word(const char *s)
{
	s += strcspn(s, " ");
	return s + strspn(s, " ");
}

/* The two words may match the same word; quotes do not count. */
static bool words_meet(const char *a, const char *b)
{
	size_t n = strcspn(a, " "), m = strcspn(b, " ");

	if (n > 1 && *a == '"')
		a++, n -= 2;
	if (m > 1 && *b == '"')
		b++, m -= 2;
	return glob_match(a, n, b, m);
}

/* The first option, or the end. */
static const char *options_of(const char *words)
{
	const char *options = strstr(words, " -");

	return options ? options + 1 : words + strlen(words);
}

/* The *_overlap() functions return the pattern that both rules match: "" where the closing rule covers the
 * opening one, NULL where they do not overlap. */
static char *command_overlap(const char *open, const char *closed)
{
	const char *options = options_of(closed), *own = options_of(open), *a = open;
	size_t n = strlen(open);

	for (const char *d = closed; d < options; a = next_word(a), d = next_word(d)) {
		/* Any number of words: the rest may come at any place. */
		if (strcspn(d, " ") == 3 && strncmp(d, "...", 3) == 0)
			break;
		if (a >= own || !words_meet(d, a))
			return NULL;
	}
	if (strstr(own, options))
		return format("%s", "");
	if (n > 2 && strcmp(open + n - 2, " $") == 0)
		n -= 2;
	return format("%.*s %s", (int)n, open, options);
}

/* --- hosts --- */

static size_t name_length(const char *host)
{
	const char *close = host[0] == '[' ? strchr(host, ']') : NULL;
	const char *colon = strchr(host, ':');

	if (close)
		return (size_t)(close + 1 - host);
	return colon && !strchr(colon + 1, ':') ? (size_t)(colon - host) : strlen(host);
}

static bool host_covers(const char *general, size_t g, const char *special, size_t s)
{
	if (g == 1 && *general == '*')
		return true;
	if (g > 2 && strncmp(general, "*.", 2) == 0)
		return s > g - 1 && strncasecmp(special + s - (g - 1), general + 1, g - 1) == 0;
	return g == s && strncasecmp(general, special, g) == 0;
}

static char *host_overlap(const char *open, const char *closed)
{
	size_t a = name_length(open), d = name_length(closed);

	if (!host_covers(closed, d, open, a))
		return NULL;
	return closed[d] && strcmp(open + a, closed + d) != 0 ? format("%.*s%s", (int)a, open, closed + d)
							      : format("%s", "");
}

/* --- files --- */

/* The length of a path before its first component with a star. */
static size_t literal_length(const char *path)
{
	size_t n = strcspn(path, "*");

	while (path[strcspn(path, "*")] && n > 0 && path[n] != '/')
		n--;
	return n;
}

/*
 * For a pattern with "**" above an open path: the same pattern below that path.  A pattern that begins with
 * "**" applies below each open path.
 */
static char *pattern_overlap(const char *open, const char *a, const char *d, bool anywhere)
{
	const char *rest = strstr(d, "/**/"), *slash = strrchr(a, '/');
	size_t base = rest ? (size_t)(rest - d) : 0, n = literal_length(a);
	bool inside;

	if (!rest)
		return !strchr(a, '*') && glob_match(d, strlen(d), a, strlen(a)) ? format("%s", "") : NULL;
	rest += 3;
	inside = n >= base && strncmp(a, d, base) == 0 && (!a[base] || a[base] == '/');
	if (!inside && !anywhere)
		return NULL;
	if (!strchr(rest + 1, '/') && slash &&
	    glob_match(rest + 1, strlen(rest + 1), slash + 1, strlen(slash + 1)))
		return format("%s", "");
	/* In the same directory the closing rule is already the more specific one. */
	if (inside && n == base)
		return NULL;
	return format("%.*s/**%s", (int)literal_length(open), open, rest);
}

/* Makes a path absolute: it is absolute, below the home, or below the workspace. */
static bool absolute(const char *path, char buf[PATH_MAX])
{
	const char *rest = path[0] == '~' ? path + 1 + strspn(path + 1, "/") : path;

	return path_normalise(path[0] == '~' ? "/~" : "/.workspace", *rest ? rest : ".", buf, PATH_MAX) >= 0;
}

static char *path_overlap(const char *open, const char *closed)
{
	char a[PATH_MAX], d[PATH_MAX];

	if (!absolute(open, a) || !absolute(closed, d))
		return NULL;
	if (strcmp(a, d) == 0 || (!strchr(d, '*') && path_is_under(a, d)))
		return format("%s", "");
	return strchr(d, '*') ? pattern_overlap(open, a, d, strncmp(closed, "**/", 3) == 0) : NULL;
}

/* --- tools --- */

/* Where only a part of the names is in both, the closing rule is the narrower one already, or neither is. */
static char *tool_overlap(const char *open, const char *closed)
{
	return glob_match(closed, strlen(closed), open, strlen(open)) ? format("%s", "") : NULL;
}

/* --- both together --- */

/* In the source, d wins over a where both match. */
static bool is_weaker(const struct import *im, const struct carried *a, const struct carried *d)
{
	bool asks = strcmp(a->key, "ask") == 0 || strcmp(a->key, "ask_write") == 0;
	bool writes = strcmp(d->key, "readonly") == 0 || strcmp(d->key, "ask_write") == 0;

	/* "(...)" is the source's default, and every rule of the source is stronger than that. */
	if (a->dropped || strcmp(a->section, d->section) != 0 || !carry_closes(d) || d->from[0] == '(' ||
	    (im->allow_beats_deny && strcmp(a->section, "commands") == 0))
		return false;
	/* A rule about reading and one about writing do not overlap. */
	if (strcmp(a->key, "read") == 0 && writes)
		return false;
	return carry_opens(a) || (asks && (strcmp(d->key, "deny") == 0 || strcmp(d->key, "readonly") == 0));
}

static char *overlap_of(const struct carried *a, const struct carried *d)
{
	if (strcmp(a->section, "commands") == 0)
		return command_overlap(a->value, d->value);
	if (strcmp(a->section, "tools") == 0)
		return tool_overlap(a->value, d->value);
	return strcmp(a->section, "files") == 0 ? path_overlap(a->value, d->value)
						: host_overlap(a->value, d->value);
}

/* Makes that closing rule win over the first n rules. */
static void settle_one(struct import *im, size_t closed, size_t n)
{
	const struct carried d = im->list[closed];
	_cleanup_free_ char *places = format("%s", "");
	size_t added = 0;

	for (size_t i = 0; i < n; i++) {
		struct carried *a = &im->list[i];
		_cleanup_free_ char *both = is_weaker(im, a, &d) ? overlap_of(a, &d) : NULL;

		if (both && !both[0]) {
			carry_tell(im, TOLD_NOTE, a->from,
				   "`%s = %s` left out: in that file `%s = %s` (%s) overrides it", a->key,
				   a->value, d.key, d.value, d.from);
			a->dropped = true;
		} else if (both && carry_rule(im, d.section, d.key, d.from, both) && added++ < SHOWN) {
			char *more = format("%s%s`%s`", places, added > 1 ? ", " : "", both);

			free(places);
			places = more;
		}
	}
	if (added > 0)
		carry_tell(im, TOLD_NOTE, d.from,
			   "`%s = %s` added for %zu place%s, where it holds against narrower rules: %s%s",
			   d.key, d.value, added, added == 1 ? "" : "s", places,
			   added > SHOWN ? ", ..." : "");
}

void order_settle(struct import *im)
{
	size_t n = im->n;

	for (size_t i = 0; i < n; i++)
		settle_one(im, i, n);
}
