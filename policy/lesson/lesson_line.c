/*
 * The line that is proposed for a group of deeds: the narrowest that covers all of them.
 *
 * Guarantees that grant_check() accepts the line, so that it allows no more than a human may grant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/grant/grant_impl.h"

#define WORDS_MAX 8

/* --- files --- */

/* Directories of the system, for which no line is proposed. */
static const char *const systems[] = { "/etc", "/usr",	"/bin", "/sbin", "/lib",  "/lib32", "/lib64", "/boot",
				       "/dev", "/proc", "/sys", "/run",	 "/root", "/var",   "/snap" };

/* Directories below the home that hold one directory for each program. */
static const char *const shared[] = { ".cache",	      ".config",    ".local/share",
				      ".local/state", ".local/lib", ".var/app" };

/* The length of path's first n components. */
static size_t components(const char *path, unsigned n)
{
	size_t at = 0;

	while (n-- > 0 && path[at]) {
		at += path[at] == '/';
		at += strcspn(path + at, "/");
	}
	return at;
}

/* The number of components below the home that name the directory of one program or project. */
static unsigned depth_at_home(const char *below)
{
	for (size_t i = 0; i < NELEM(shared); i++)
		if (path_is_under(below, shared[i]))
			return strchr(shared[i], '/') ? 3 : 2;
	return below[0] == '.' ? 1 : 2;
}

/* The part of path below the home, or NULL if path is not in the home. */
static const char *below_home(const struct image *img, const char *path)
{
	const char *home = image_str(img, img->h->home);
	size_t n = strlen(home);

	return n > 1 && path_is_under(path, home) ? path + n + (path[n] == '/') : NULL;
}

bool lesson_root_is_own(const struct image *img, const char *root)
{
	const char *below = below_home(img, root);

	return below && below[0] == '.';
}

/* True if below is one of shared, or above one. */
static bool is_shared(const char *below)
{
	for (size_t i = 0; i < NELEM(shared); i++)
		if (path_is_under(shared[i], below))
			return true;
	return false;
}

bool lesson_root(const struct image *img, const char *path, char *buf, size_t size, const char **ret_why)
{
	const char *home = image_str(img, img->h->home);
	size_t n = home[0] && path_is_under(path, home) ? strlen(home) : 0;

	for (size_t i = 0; i < NELEM(systems); i++)
		if (!n && path_is_under(path, systems[i])) {
			*ret_why = "it is the machine's own";
			return false;
		}
	*ret_why = "many programs share this directory: a rule for a path below it allows this, too";
	if (n && path[n] && is_shared(path + n + 1))
		return false;
	n += n ? components(path + n, depth_at_home(path[n] ? path + n + 1 : "")) : components(path, 2);
	/* If the directory holds a secret, take the one below it on the path instead. */
	for (; n < size; n += components(path + n, 1)) {
		memcpy(buf, path, n);
		buf[n] = '\0';
		if (!grant_holds_sensitive(img, buf))
			return true;
		*ret_why = "it holds what stays closed: a rule for a place in it allows it too";
		if (!path[n])
			return false;
	}
	*ret_why = "it is too long for a rule";
	return false;
}

/* Cuts a to the longest directory that holds both a and b. */
static void common(char *a, const char *b)
{
	size_t i = 0, end = 0;

	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			end = i;
	if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/'))
		end = i;
	a[end] = '\0';
}

void lesson_set_line(struct lesson *g, const char *key, const char *value)
{
	if (snprintf(g->line, GRANT_LINE, "%s = %s", key, value) >= GRANT_LINE)
		g->line[0] = '\0';
}

bool lesson_path_text(const struct image *img, const char *path, char *buf, size_t size)
{
	const char *home = image_str(img, img->h->home);
	size_t n = 0;

	if (home[0] && home[1] && path_is_under(path, home)) {
		buf[n++] = '~';
		path += strlen(home);
	}
	for (; *path && n + 3 < size; path++) {
		if (strchr("*?[]\\", *path))
			buf[n++] = '\\';
		buf[n++] = *path;
	}
	buf[n] = '\0';
	return !*path;
}

static void line_of_files(const struct lessons *l, struct lesson *g)
{
	const struct lesson_event *first = &l->events[g->events[0]];
	bool read = strcmp(first->r.access, "r") == 0;
	struct deed d;
	char path[LIMIT_PATH] = "", text[GRANT_LINE];

	for (size_t i = 0; i < g->n_events; i++) {
		if (deed_init(&d, &l->events[g->events[i]].r, l->workspace) == 0 && d.req.path) {
			d.text[grant_place(d.req.path)] = '\0';
			if (!path[0])
				snprintf(path, sizeof(path), "%s", d.req.path);
			else
				common(path, d.req.path);
		}
		deed_done(&d);
	}
	/* The names in a program's own directory change, so propose the whole directory. */
	if (!read && lesson_root_is_own(l->img, first->root))
		snprintf(path, sizeof(path), "%s", first->root);
	if (lesson_path_text(l->img, path, text, sizeof(text)))
		lesson_set_line(g, read ? "read" : "write", text);
}

/* --- commands --- */

/* Appends a word in the form in which it means itself in the language; false if there is no such form. */
static bool put_word(char *line, size_t size, const char *word)
{
	size_t n = strlen(word), at = strlen(line);
	bool plain = n > 0 && !strpbrk(word, " \t\"'()|*?[]\\<>$;#`~") && strcmp(word, "...") != 0 &&
		     word[n - 1] != '=';
	const char *quote = plain ? "" : strchr(word, '"') ? "'" : "\"";

	if ((quote[0] && strchr(word, quote[0])) || at + n + 4 > size)
		return false;
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p < 0x20)
			return false;
	snprintf(line + at, size - at, "%s%s%s%s", at ? " " : "", quote, word, quote);
	return true;
}

struct words {
	char *word[WORDS_MAX];
	size_t n;
	bool all; /* no deed has more words than these */
};

static void words_done(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->word[i]);
	w->n = 0;
}

static void take_words(struct words *w, const struct deed *d)
{
	for (size_t i = 0; i < d->req.argc && i < WORDS_MAX; i++) {
		w->word[w->n] = strdup(i ? d->words[i] : path_basename(d->words[0]));
		if (!w->word[w->n])
			break;
		w->n++;
	}
	w->all = w->n == d->req.argc;
}

static void cut_words(struct words *w, const struct deed *d)
{
	size_t n = 1;

	while (n < w->n && n < d->req.argc && strcmp(w->word[n], d->words[n]) == 0)
		n++;
	w->all = w->all && n == w->n && n == d->req.argc;
	for (; w->n > n; w->n--)
		free(w->word[w->n - 1]);
}

static bool set_words(struct lesson *g, const struct words *w, const char *end)
{
	char line[GRANT_LINE] = "";

	for (size_t i = 0; i < w->n; i++)
		if (!put_word(line, sizeof(line) - 3, w->word[i]))
			return false;
	strcat(line, end);
	lesson_set_line(g, "allow", line);
	return true;
}

/* A line for the words that all commands begin with, or for exactly the words of a single command. */
static void line_of_commands(const struct lessons *l, struct lesson *g)
{
	struct words w = { .n = 0 };
	struct deed d;

	for (size_t i = 0; i < g->n_events; i++) {
		if (deed_init(&d, &l->events[g->events[i]].r, l->workspace) == 0) {
			if (i == 0)
				take_words(&w, &d);
			else
				cut_words(&w, &d);
		}
		deed_done(&d);
	}
	if (!w.all || !set_words(g, &w, " $"))
		while (w.n > 1 && !set_words(g, &w, ""))
			free(w.word[--w.n]);
	words_done(&w);
}

/* A line that is cut would name another tool. */
static void line_of_tool(const struct lessons *l, struct lesson *g)
{
	const char *name = l->events[g->events[0]].root;

	if (snprintf(g->line, sizeof(g->line), "allow = %s", name) >= (int)sizeof(g->line))
		g->line[0] = '\0';
}

const char *lesson_line(const struct lessons *l, struct lesson *g)
{
	bool commands = strcmp(g->section, "commands") == 0, network = strcmp(g->section, "network") == 0;
	char why[256];

	g->line[0] = '\0';
	if (commands)
		line_of_commands(l, g);
	else if (network)
		lesson_net_line(l, g);
	else if (strcmp(g->section, "tools") == 0)
		line_of_tool(l, g);
	else
		line_of_files(l, g);
	if (g->line[0] && (lesson_is_bind(g->line) ||
			   grant_check(l->img, g->section, g->line, NULL, why, sizeof(why)) == 0))
		return NULL;
	return commands	 ? "no rule says just this: the program alone would be too much"
	       : network ? "anyone can register a name there"
			 : "no directory that could be named is small enough";
}
