/*
 * What the workspace's own configuration may come to say of where fetch, pull and push go: see gitconfig.h.
 *
 * None of it runs anything, so gitconfig_keys.c lets it pass; but the operator's plain `git fetch` would
 * write refs/heads/main where a refspec says so, his `git pull` on main take what another remote has, and
 * his `git push` give main away, or to it.
 */
#include "gitconfig.h"

#include <string.h>

#include "cmd.h"

#define HEADS "refs/heads/"
#define TAGS  "refs/tags/"

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has(const struct gitconfig *g, const struct gitconfig_entry *e)
{
	for (size_t i = 0; i < g->n; i++)
		if (gitconfig_same(&g->entries[i], e))
			return true;
	return false;
}

static bool is_key(const struct gitconfig_entry *e, const char *section, const char *subsection,
		   const char *name)
{
	return strcmp(e->section, section) == 0 && same_text(e->subsection, subsection) &&
	       strcmp(e->name, name) == 0;
}

/* --- refspecs ------------------------------------------------------------------------------------------ */

/* `start` of a name below `way`, and anything behind it. */
static bool may_be_trunk(const char *ref, const char *way, const struct gitconfig_trunk *t)
{
	size_t len = strlen(way), n = strcspn(ref, "*");

	if (n < len)
		return strncmp(ref, way, n) == 0;
	return strncmp(ref, way, len) == 0 && t->may_be(t->ctx, ref + len, n - len);
}

/* Where one end of a refspec leads to, whole: a protected branch, what hides one, or what replaces objects.
 */
static bool reaches(const char *ref, const struct gitconfig_trunk *t)
{
	static const char *const ways[] = { HEADS, TAGS, "refs/remotes/", "refs/" };

	if (strncmp(ref, "refs/replace", 12) == 0)
		return true;
	if (strchr(ref, '*'))
		return may_be_trunk(ref, HEADS, t);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strncmp(ref, ways[i], strlen(ways[i])) == 0)
			return t->is(t->ctx, ref + strlen(ways[i]));
	return false;
}

/* As remote.c completes a short name. */
static bool short_reaches(const char *ref, const struct gitconfig_trunk *t)
{
	char whole[1024];
	size_t n;

	if (strncmp(ref, "refs/", 5) == 0)
		return reaches(ref, t);
	if (strcmp(ref, "HEAD") == 0 || strcmp(ref, "@") == 0 || strstr(ref, "@{") ||
	    strlen(ref) > sizeof(whole) - 16)
		return true;
	n = strncmp(ref, "heads/", 6) == 0 || strncmp(ref, "tags/", 5) == 0 ||
			    strncmp(ref, "remotes/", 8) == 0
		    ? 5
		    : strlen(HEADS);
	memcpy(whole, HEADS, n);
	strcpy(whole + n, ref);
	return reaches(whole, t);
}

static bool fetch_moves(const char *spec, const struct gitconfig_trunk *t)
{
	const char *colon = strrchr(spec, ':'), *from = spec + (*spec == '+');

	if (*spec == '^' || !colon || !colon[1])
		return false;
	/* Tags come as tags; a branch that becomes one hides the branch of that name. */
	return short_reaches(colon + 1, t) || (strchr(colon, '*') && strncmp(from, TAGS, strlen(TAGS)) != 0 &&
					       may_be_trunk(colon + 1, TAGS, t));
}

/* `:` pushes what both sides have. */
static bool push_moves(const char *spec, const struct gitconfig_trunk *t)
{
	const char *colon = strrchr(spec, ':');

	if (*spec == '^')
		return false;
	if (colon)
		return !colon[1] || short_reaches(colon + 1, t);
	return short_reaches(spec + (*spec == '+'), t);
}

/* --- entries ------------------------------------------------------------------------------------------- */

static bool is_of_trunk(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	return strcmp(e->section, "branch") == 0 && e->subsection && t->is(t->ctx, e->subsection);
}

static bool is_one_of(const char *list, const char *s)
{
	return word_in_list(list, s, strlen(s));
}

bool gitconfig_names_remote(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	return is_key(e, "remote", NULL, "pushdefault") ||
	       (is_of_trunk(e, t) && is_one_of("remote pushremote", e->name));
}

/* HEAD itself, or one of its ancestors. */
static bool is_head(const char *word, size_t n)
{
	return n >= 4 && strncmp(word, "HEAD", 4) == 0 && strspn(word + 4, "~^0123456789") >= n - 4;
}

/* An option that brings the name of a branch along. */
static bool is_telling(const char *option, size_t n)
{
	const char *letter = n > 1 && option[1] != '-' ? strpbrk(option, "bBcC") : NULL;

	return memchr(option, '=', n) || (letter && letter + 1 < option + n);
}

/*
 * A command that moves branches, short of what the operator says behind it: one that says itself which, or
 * where to, is another's deed in his words.
 */
static bool alias_moves(const char *value)
{
	static const char movers[] = "branch checkout switch reset reflog tag";
	size_t n = strcspn(value, " ");

	if (!word_in_list(movers, value, n))
		return false;
	for (const char *p = value + n; *p; p += n) {
		p += strspn(p, " ");
		n = strcspn(p, " ");
		if (*p == '-' ? is_telling(p, n) : n > 0 && !is_head(p, n))
			return true;
	}
	return false;
}

/* A new entry that moves by itself. */
static bool is_mover(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	const char *value = e->value ? e->value : "true";

	if (strcmp(e->section, "remote") == 0 && e->subsection) {
		if (strcmp(e->name, "fetch") == 0)
			return fetch_moves(value, t);
		if (strcmp(e->name, "push") == 0)
			return push_moves(value, t);
		return strcmp(e->name, "mirror") == 0 && !gitconfig_is_off(value);
	}
	if (is_key(e, "push", NULL, "default"))
		return !is_one_of("simple current nothing", value);
	if (is_key(e, "core", NULL, "bare") || is_key(e, "rebase", NULL, "updaterefs"))
		return !gitconfig_is_off(value);
	if (strcmp(e->section, "alias") == 0)
		return alias_moves(value);
	return is_of_trunk(e, t) && is_one_of("merge rebase", e->name);
}

/* --- remotes ------------------------------------------------------------------------------------------- */

static bool is_url(const struct gitconfig_entry *e, const char *remote)
{
	return strcmp(e->section, "remote") == 0 && same_text(e->subsection, remote) &&
	       is_one_of("url pushurl", e->name);
}

static const struct gitconfig_entry *next_url(const struct gitconfig *g, const char *remote, size_t *at)
{
	while (*at < g->n && !is_url(&g->entries[*at], remote))
		++*at;
	return *at < g->n ? &g->entries[(*at)++] : NULL;
}

static bool has_urls(const struct gitconfig *g, const char *remote)
{
	return next_url(g, remote, &(size_t){ 0 }) != NULL;
}

/* The same URLs in the same order, to fetch from and to push to. */
static bool same_urls(const struct gitconfig *a, const char *of_a, const struct gitconfig *b,
		      const char *of_b)
{
	const struct gitconfig_entry *x, *y;
	size_t i = 0, j = 0;

	do {
		x = next_url(a, of_a, &i);
		y = next_url(b, of_b, &j);
		if (!x != !y || (x && (strcmp(x->name, y->name) != 0 || !same_text(x->value, y->value))))
			return false;
	} while (x);
	return true;
}

/* A name without URLs is a path, and that is its place. */
static bool same_place(const struct gitconfig *a, const char *of_a, const struct gitconfig *b,
		       const char *of_b)
{
	if (!of_a || !of_b)
		return of_a == of_b;
	return has_urls(a, of_a) || has_urls(b, of_b) ? same_urls(a, of_a, b, of_b) : strcmp(of_a, of_b) == 0;
}

/* A remote that stood there leads elsewhere now; an entry of it, or NULL. */
static const struct gitconfig_entry *led_away(const struct gitconfig *first, const struct gitconfig *before,
					      const struct gitconfig *now)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct gitconfig_entry *e = &now->entries[i];

		if (is_url(e, e->subsection) && e->subsection && has_urls(first, e->subsection) &&
		    !same_urls(now, e->subsection, first, e->subsection) &&
		    !same_urls(now, e->subsection, before, e->subsection))
			return e;
	}
	return NULL;
}

/* The last value of a key, or NULL. */
static const char *value_of(const struct gitconfig *g, const char *section, const char *subsection,
			    const char *name)
{
	for (size_t i = g->n; i-- > 0;)
		if (is_key(&g->entries[i], section, subsection, name))
			return g->entries[i].value ? g->entries[i].value : "";
	return NULL;
}

/* The remote of a branch that says none: the only one, or origin. */
static const char *fallback(const struct gitconfig *g)
{
	const char *only = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const struct gitconfig_entry *e = &g->entries[i];

		if (!is_url(e, e->subsection) || !e->subsection)
			continue;
		if (only && strcmp(only, e->subsection) != 0)
			return "origin";
		only = e->subsection;
	}
	return only ? only : "origin";
}

static const char *remote_of(const struct gitconfig *g, const char *branch)
{
	const char *name = value_of(g, "branch", branch, "remote");

	return name ? name : fallback(g);
}

/* A pull on the branch, which has something to merge, comes from where it came before. */
static bool is_pulled_as(const struct gitconfig *then, const struct gitconfig *now, const char *branch)
{
	const char *name = remote_of(now, branch);
	bool is_told = value_of(now, "branch", branch, "remote") != NULL;

	if (value_of(then, "branch", branch, "merge") && same_place(now, name, then, remote_of(then, branch)))
		return true;
	/* It tells no remote any more, and the one that is left stood there then. */
	return !is_told && has_urls(then, name) && same_urls(now, name, then, name);
}

/* Where a key names a remote it is one in the same place. */
static bool is_named_as(const struct gitconfig *then, const struct gitconfig *now,
			const struct gitconfig_entry *e)
{
	const char *value = value_of(then, e->section, e->subsection, e->name);

	return value && same_place(now, e->value ? e->value : "", then, value);
}

const struct gitconfig_entry *gitconfig_moves(const struct gitconfig *first, const struct gitconfig *before,
					      const struct gitconfig *now, const struct gitconfig_trunk *t,
					      enum gitconfig_part part)
{
	const struct gitconfig_entry *away = part == GITCONFIG_WHOLE ? led_away(first, before, now) : NULL;

	for (size_t i = 0; i < now->n && !away; i++) {
		const struct gitconfig_entry *e = &now->entries[i];
		bool is_new = !has(before, e) && !has(first, e);

		if (is_new &&
		    (is_mover(e, t) || (part == GITCONFIG_BESIDES && strcmp(e->section, "remote") == 0)))
			return e;
		if (part == GITCONFIG_BESIDES
			    ? is_new && gitconfig_names_remote(e, t)
			    : gitconfig_names_remote(e, t) && !is_named_as(before, now, e) &&
				      !is_named_as(first, now, e))
			return e;
		if (part == GITCONFIG_WHOLE && is_of_trunk(e, t) && strcmp(e->name, "merge") == 0 &&
		    !is_pulled_as(before, now, e->subsection) && !is_pulled_as(first, now, e->subsection))
			return e;
	}
	return away;
}

const char *gitconfig_renamed(const struct gitconfig *before, const struct gitconfig *now,
			      const char **ret_now)
{
	for (size_t i = 0; i < before->n; i++) {
		const char *old = before->entries[i].subsection;

		if (!old || !is_url(&before->entries[i], old) || has_urls(now, old))
			continue;
		for (size_t j = 0; j < now->n; j++) {
			const char *name = now->entries[j].subsection;

			if (!name || !is_url(&now->entries[j], name) || has_urls(before, name) ||
			    !same_urls(before, old, now, name))
				continue;
			*ret_now = name;
			return old;
		}
	}
	return NULL;
}
