/*
 * Other systems choose among rules that match by strictness, pale by how specific they are.
 *
 * Guarantees that nothing the source denies is allowed because of that: an opening rule that a closing one
 * covers there is taken out, and where the two overlap, the overlap is closed by a rule of its own.
 */
#include <string.h>

#include "policy/path.h"

#include "import.h"

/* --- commands: words in order --- */

struct words {
	const char *at[64];
	size_t len[64], n;
	const char *options; /* where the options begin, or NULL */
};

static void split(const char *text, struct words *w)
{
	*w = (struct words){ .n = 0 };
	for (size_t n; *text && w->n < NELEM(w->at); text += n + strspn(text + n, " ")) {
		n = strcspn(text, " ");
		if (*text == '-' && w->n > 0 && !w->options)
			w->options = text;
		if (w->options)
			continue;
		w->at[w->n] = text;
		w->len[w->n++] = n;
	}
}

/* The one is, or may be, the other; quotes do not count. */
static bool words_meet(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len > 1 && *a == '"')
		a++, a_len -= 2;
	if (b_len > 1 && *b == '"')
		b++, b_len -= 2;
	return glob_match(a, a_len, b, b_len);
}

/* The words of general, options left out, begin every command that special names. */
static bool words_cover(const struct words *general, const struct words *special)
{
	size_t j = 0;

	for (size_t i = 0; i < general->n; i++, j++) {
		if (general->len[i] == 3 && memcmp(general->at[i], "...", 3) == 0) {
			/* Any number of words: the rest may be anywhere. */
			return true;
		}
		if (j >= special->n ||
		    !words_meet(general->at[i], general->len[i], special->at[j], special->len[j]))
			return false;
	}
	return true;
}

/* What only the two together name: "" where general covers special whole; NULL where they are apart. */
static char *command_overlap(const struct carried *open, const struct carried *closed)
{
	struct words a, d;
	char *both;
	size_t n;

	split(open->value, &a);
	split(closed->value, &d);
	if (d.n == 0 || !words_cover(&d, &a))
		return NULL;
	if (!d.options)
		return strdup("");
	/* It asks for those options already. */
	if (a.options && strstr(a.options, d.options))
		return strdup("");
	n = strlen(open->value);
	if (n > 2 && strcmp(open->value + n - 2, " $") == 0)
		n -= 2;
	return asprintf(&both, "%.*s %s", (int)n, open->value, d.options) < 0 ? NULL : both;
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

static char *host_overlap(const struct carried *open, const struct carried *closed)
{
	size_t a = name_length(open->value), d = name_length(closed->value);
	const char *open_port = open->value + a, *closed_port = closed->value + d;
	char *both;

	if (!host_covers(closed->value, d, open->value, a))
		return NULL;
	if (!*closed_port || strcmp(open_port, closed_port) == 0)
		return strdup("");
	return asprintf(&both, "%.*s%s", (int)a, open->value, closed_port) < 0 ? NULL : both;
}

/* --- files --- */

/* A path as text: absolute, of home, or of the workspace. */
static char *absolute(const char *path)
{
	char buf[PATH_MAX];
	const char *rest = path[0] == '~' ? path + 1 + strspn(path + 1, "/") : path;

	if (path_normalise(path[0] == '~' ? "/~" : "/.workspace", *rest ? rest : ".", buf, sizeof(buf)) < 0)
		return NULL;
	return strdup(buf);
}

static bool literal_covers(const char *general, const char *special)
{
	return !strchr(general, '*') && path_is_under(special, general);
}

/* The part of a path in front of its first component with a star. */
static size_t literal_length(const char *path)
{
	size_t n = strcspn(path, "*");

	if (path[n] == '\0')
		return n;
	while (n > 0 && path[n] != '/')
		n--;
	return n;
}

/*
 * "**" and a name, somewhere above what is open: the same pattern below that.  One that begins with "**" is
 * meant wherever something is open.
 */
static char *pattern_overlap(const struct carried *open, const char *a, const char *d, bool anywhere)
{
	const char *rest = strstr(d, "/**/"), *slash = strrchr(a, '/');
	size_t base = rest ? (size_t)(rest - d) : 0, n = literal_length(a);
	bool inside;
	char *both;

	if (!rest)
		return !strchr(a, '*') && glob_match(d, strlen(d), a, strlen(a)) ? strdup("") : NULL;
	rest += 3;
	inside = n >= base && strncmp(a, d, base) == 0 && (!a[base] || a[base] == '/');
	if (!inside && !anywhere)
		return NULL;
	if (!strchr(rest + 1, '/') && slash &&
	    glob_match(rest + 1, strlen(rest + 1), slash + 1, strlen(slash + 1)))
		return strdup("");
	/* In the very same directory it is the more specific one already. */
	if (inside && n == base)
		return NULL;
	n = literal_length(open->value);
	return asprintf(&both, "%.*s/**%s", (int)n, open->value, rest) < 0 ? NULL : both;
}

static char *path_overlap(const struct carried *open, const struct carried *closed)
{
	_cleanup_free_ char *a = absolute(open->value), *d = absolute(closed->value);

	if (!a || !d)
		return NULL;
	if (strcmp(a, d) == 0 || literal_covers(d, a))
		return strdup("");
	return strchr(d, '*') ? pattern_overlap(open, a, d, strncmp(closed->value, "**/", 3) == 0) : NULL;
}

/* --- both together --- */

static const struct {
	const char *section;
	size_t order; /* of struct import */
	char *(*overlap)(const struct carried *open, const struct carried *closed);
} families[] = {
	{ "commands", offsetof(struct import, commands), command_overlap },
	{ "files", offsetof(struct import, files), path_overlap },
	{ "network", offsetof(struct import, hosts), host_overlap },
};

/* A rule about reading and one about writing do not meet. */
static bool same_access(const struct carried *open, const struct carried *closed)
{
	bool writes = strcmp(closed->key, "readonly") == 0 || strcmp(closed->key, "ask_write") == 0;

	return strcmp(open->key, "read") != 0 || !writes;
}

static void close_overlap(struct import *im, size_t open, size_t closed, const char *both)
{
	const struct carried a = im->list[open], d = im->list[closed];

	if (both[0]) {
		size_t added = carry_rule(im, d.section, d.key, d.from, both);

		if (added != NONE) {
			im->list[added].origin = closed;
			im->list[added].against = open;
		}
		return;
	}
	carry_tell(im, TOLD_NOTE, a.from, "`%s = %s` left out: there `%s = %s` (%s) holds against it", a.key,
		   a.value, d.key, d.value, d.from);
	im->list[open].dropped = true;
}

bool order_is_opened(const struct import *im, size_t i)
{
	const struct carried *c = &im->list[i], *d = &im->list[c->origin];
	size_t f = 0;

	while (strcmp(families[f].section, c->section) != 0)
		f++;
	for (size_t j = 0; j < im->n; j++) {
		const struct carried *a = &im->list[j];
		_cleanup_free_ char *both = NULL;

		if (strcmp(a->section, c->section) != 0 || !carry_opens(a) || !same_access(a, d))
			continue;
		both = families[f].overlap(a, d);
		if (both && strcmp(both, c->value) == 0)
			return true;
	}
	return false;
}

static void settle_pair(struct import *im, size_t f, size_t open, size_t closed)
{
	enum carry_order order;
	char *both;

	memcpy(&order, (const char *)im + families[f].order, sizeof(order));
	if (order != ORDER_STRICTEST || strcmp(im->list[closed].section, families[f].section) != 0 ||
	    !same_access(&im->list[open], &im->list[closed]))
		return;
	/* What the source does where no rule of it matches: "(...)", and every rule of it is stronger. */
	if (im->list[closed].from[0] == '(')
		return;
	both = families[f].overlap(&im->list[open], &im->list[closed]);
	if (both)
		close_overlap(im, open, closed, both);
	free(both);
}

/* Of closing rules the stricter one likewise: an ask that a deny covers. */
static bool is_weaker(const struct carried *a, const struct carried *d)
{
	bool asks = strcmp(a->key, "ask") == 0 || strcmp(a->key, "ask_write") == 0;

	return asks && (strcmp(d->key, "deny") == 0 || strcmp(d->key, "readonly") == 0);
}

void order_settle(struct import *im)
{
	size_t n = im->n;

	for (size_t f = 0; f < NELEM(families); f++) {
		for (size_t i = 0; i < n && !im->error; i++)
			for (size_t j = 0; j < n && !im->error; j++) {
				const struct carried *a = &im->list[i], *d = &im->list[j];

				if (i != j && strcmp(a->section, families[f].section) == 0 &&
				    carry_closes(d) &&
				    (carry_opens(a) || (carry_closes(a) && is_weaker(a, d))))
					settle_pair(im, f, i, j);
			}
	}
}
