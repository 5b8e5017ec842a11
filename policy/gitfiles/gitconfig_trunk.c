/*
 * What the workspace's own configuration may come to say of where fetch, pull and push go: see gitconfig.h.
 *
 * None of it runs anything, so gitconfig_keys.c lets it pass; but the operator's plain `git fetch` would
 * write refs/heads/main where a refspec says so, `git pull` on main would take what another remote has, `git
 * push` would give main away, or to another remote, and `git diff` would ask a promisor for a missing object.
 */
#include "gitconfig.h"

#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"

static bool has(const struct gitconfig *g, const struct gitconfig_entry *e)
{
	for (size_t i = 0; i < g->n; i++)
		if (gitconfig_same(&g->entries[i], e))
			return true;
	return false;
}

static bool is_one_of(const char *list, const char *s)
{
	return word_in_list(list, s, strlen(s));
}

bool gitconfig_is_key(const struct gitconfig_entry *e, const char *section, const char *subsection,
		      const char *name)
{
	return strcmp(e->section, section) == 0 && same_text(e->subsection, subsection) &&
	       strcmp(e->name, name) == 0;
}

const char *gitconfig_value(const struct gitconfig *g, const char *section, const char *subsection,
			    const char *name)
{
	for (size_t i = g->n; i-- > 0;)
		if (gitconfig_is_key(&g->entries[i], section, subsection, name))
			return g->entries[i].value ? g->entries[i].value : "";
	return NULL;
}

static bool is_of_remote(const struct gitconfig_entry *e)
{
	return strcmp(e->section, "remote") == 0 && e->subsection;
}

static bool is_of_trunk(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	return strcmp(e->section, "branch") == 0 && e->subsection && t->is(t->ctx, e->subsection);
}

/* --- what moves by itself ------------------------------------------------------------------------------ */

/* It writes below refs/remotes/, no name that hides a protected branch, or nothing; tags come as tags. */
static bool fetch_is_tame(const char *spec, const struct gitconfig_trunk *t)
{
	static const char way[] = "refs/remotes/";
	const char *colon = strrchr(spec, ':'), *to = colon ? colon + 1 : "";

	return *spec == '^' || !*to || strcmp(spec + (*spec == '+'), "refs/tags/*:refs/tags/*") == 0 ||
	       (strncmp(to, way, strlen(way)) == 0 && !t->is(t->ctx, to + strlen(way)));
}

/* An alias of a command that moves branches adds nothing to it: what moves, and where to, the operator says.
 */
static bool alias_moves(const char *value)
{
	size_t n = strcspn(value, " ");

	return value[n] && word_in_list("branch checkout switch reset reflog tag", value, n);
}

/* A new entry that moves, or reaches for a remote, by itself. */
static bool is_mover(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	const char *value = e->value ? e->value : "true";

	if (is_of_remote(e))
		return (strcmp(e->name, "fetch") == 0 && !fetch_is_tame(value, t)) ||
		       strcmp(e->name, "push") == 0 ||
		       (is_one_of("mirror promisor", e->name) && !gitconfig_is_off(value));
	/* It makes that remote a promisor. */
	if (gitconfig_is_key(e, "extensions", NULL, "partialclone"))
		return true;
	if (gitconfig_is_key(e, "push", NULL, "default"))
		return !is_one_of("simple current nothing", value);
	if (gitconfig_is_key(e, "push", NULL, "followtags"))
		return !gitconfig_is_off(value);
	/* Only as files are they held. */
	if (gitconfig_is_key(e, "extensions", NULL, "refstorage"))
		return strcmp(value, "files") != 0;
	if (gitconfig_is_key(e, "core", NULL, "bare") || gitconfig_is_key(e, "rebase", NULL, "updaterefs"))
		return !gitconfig_is_off(value);
	return strcmp(e->section, "alias") == 0 && alias_moves(value);
}

/* --- what stays ---------------------------------------------------------------------------------------- */

/* It names the remote of a protected branch, or of all that have none of their own. */
static bool names_remote(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	return gitconfig_is_key(e, "remote", NULL, "pushdefault") ||
	       (is_of_trunk(e, t) && is_one_of("remote pushremote", e->name));
}

/* It says where a remote is, or what a protected branch follows. */
static bool stays(const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	return (is_of_remote(e) && is_one_of("url pushurl", e->name)) || strcmp(e->section, "url") == 0 ||
	       names_remote(e, t) || (is_of_trunk(e, t) && is_one_of("merge rebase", e->name));
}

/* The next entry with the section of e, and its name or that one. */
static const struct gitconfig_entry *next_like(const struct gitconfig *g, const struct gitconfig_entry *e,
					       const char *name, size_t *at)
{
	while (*at < g->n) {
		const struct gitconfig_entry *x = &g->entries[(*at)++];

		if (strcmp(x->section, e->section) == 0 && same_text(x->subsection, e->subsection) &&
		    (!name || strcmp(x->name, name) == 0))
			return x;
	}
	return NULL;
}

/* Both say the same by the key of e, in the same order. */
static bool agree(const struct gitconfig *a, const struct gitconfig *b, const struct gitconfig_entry *e)
{
	const struct gitconfig_entry *x, *y;
	size_t i = 0, j = 0;

	do {
		x = next_like(a, e, e->name, &i);
		y = next_like(b, e, e->name, &j);
		if (!x != !y || (x && !gitconfig_same(x, y)))
			return false;
	} while (x);
	return true;
}

/* Of a remote that did not stand there, and that no protected branch follows: by name, or where it says none,
 * as the only one or as origin. */
static bool is_newcomer(const struct gitconfig *first, const struct gitconfig *now,
			const struct gitconfig_entry *e, const struct gitconfig_trunk *t)
{
	if (!is_of_remote(e) || next_like(first, e, NULL, &(size_t){ 0 }))
		return false;
	for (size_t i = 0; i < now->n; i++) {
		const struct gitconfig_entry *x = &now->entries[i];

		if (names_remote(x, t) && x->value && strcmp(x->value, e->subsection) == 0)
			return false;
		if (is_of_trunk(x, t) && strcmp(x->name, "merge") == 0 &&
		    !next_like(now, x, "remote", &(size_t){ 0 }))
			return false;
	}
	return true;
}

const struct gitconfig_entry *gitconfig_moves(const struct gitconfig *first, const struct gitconfig *before,
					      const struct gitconfig *now, const struct gitconfig_trunk *t,
					      enum gitconfig_part part)
{
	const struct gitconfig *of[] = { now, first };

	for (size_t i = 0; i < now->n; i++) {
		const struct gitconfig_entry *e = &now->entries[i];

		if (!has(before, e) && !has(first, e) &&
		    (is_mover(e, t) ||
		     (part == GITCONFIG_BESIDES && (strcmp(e->section, "remote") == 0 || stays(e, t)))))
			return e;
	}
	for (size_t k = 0; k < 2 && part == GITCONFIG_WHOLE; k++)
		for (size_t i = 0; i < of[k]->n; i++) {
			const struct gitconfig_entry *e = &of[k]->entries[i];

			if (stays(e, t) && !agree(now, before, e) && !agree(now, first, e) &&
			    !is_newcomer(first, now, e, t))
				return e;
		}
	return NULL;
}
