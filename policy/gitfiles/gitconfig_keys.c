/*
 * Which keys of git's configuration a session may write, by the table in gitkeys.def: see gitconfig.h.
 */
#include "gitconfig.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"

/* What a value may be: see gitkeys.def. */
enum shape {
	RUNS,
	LEADS,
	FREE,
	URL,	  /* of no helper that the other end or a file could name (gitremote-helpers(7)) */
	OFF,	  /* a false */
	WORKTREE, /* a directory beside the repository, or the workspace */
	UPDATE,	  /* of a submodule; !COMMAND is one too */
	STRATEGY, /* of those that git has itself: another is a program */
	REFS,	  /* where they are: in the repository */
	FORMAT,	  /* of signatures, the same: it names no program, gpg.*.program does */
	ALIAS,	  /* one of git's own commands that run nothing */
	HOOKS,	  /* the repository's own directory of them */
	LFS,	  /* exactly what `git lfs install` writes */
};

static const struct {
	const char *section, *subsection;
	enum shape shape;
	const char *names;
} keys[] = {
#define GITKEY(section, subsection, shape, names) { section, subsection, shape, names },
#include "gitkeys.def"
#undef GITKEY
};

/* --- shapes ----------------------------------------------------------------------------------------- */

/* `helper::address` starts git-remote-helper, and so does helper://; ssh takes what begins with a dash. */
static bool is_url(const char *s)
{
	static const char *const schemes[] = { "https", "http", "ssh", "git", "file", "git+ssh", "ssh+git" };
	const char *colon = strstr(s, "://");

	if (*s == '-' || strstr(s, "::") || strpbrk(s, "\n\r"))
		return false;
	for (size_t i = 0; colon && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(s, schemes[i], (size_t)(colon - s)) == 0 && schemes[i][colon - s] == '\0')
			return colon[3] != '-';
	return !colon;
}

bool gitconfig_is_off(const char *s)
{
	return !*s || strcmp(s, "0") == 0 || strcasecmp(s, "false") == 0 || strcasecmp(s, "no") == 0 ||
	       strcasecmp(s, "off") == 0;
}

/* Where the file is that says it, and where the session works. */
struct place {
	const char *dir, *workspace;
};

/* What git itself checks out nothing into: hooks and configuration lie there. */
static bool has_git_dir(const char *path)
{
	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 4 && strncasecmp(path, ".git", n) == 0)
			return true;
	}
	return false;
}

/*
 * What the repository's .git is in, or for one that lies in there, as a submodule's does, a directory below:
 * `git checkout` writes there.
 */
static bool is_beside(const char *value, const struct place *at)
{
	char top[LIMIT_PATH], tree[LIMIT_PATH];
	int n = snprintf(top, sizeof(top), "%s/", at->dir);
	char *git = n > 0 && n < (int)sizeof(top) ? strstr(top, "/.git/") : NULL;

	if (path_normalise(at->dir, value, tree, sizeof(tree)) < 0)
		return false;
	/* What git writes there anybody inside may write: agents keep snapshots of it elsewhere. */
	if (at->workspace && strcmp(tree, at->workspace) == 0)
		return true;
	if (!git || git == top)
		return false;
	*git = '\0';
	/* A directory below may become a link into .git: no repository but a submodule's has one. */
	if (strcmp(git + 1, ".git/") == 0)
		return strcmp(tree, top) == 0;
	return path_is_under(tree, top) && !has_git_dir(tree + strlen(top));
}

static bool is_one_of(const char *list, const char *s)
{
	return word_in_list(list, s, strlen(s));
}

/* A command that runs nothing of its own accord, with words that are none of the options that do. */
static bool is_alias(const char *s)
{
	static const char commands[] =
		"status log diff show branch checkout commit switch restore add stash reset "
		"tag reflog shortlog describe rev-parse ls-files";
	/* --exec, --edit, --output=FILE, --ext-diff, --textconv, --open-files-in-pager, --receive-pack */
	static const char *const options[] = { " --e", " --ou", " --op", " --te", " -O", " -x", " --rec" };
	char words[1024];
	size_t n = 0;

	/* As git splits it, but for blanks in quotes. */
	for (const char *p = s; *p && n < sizeof(words) - 1; p++)
		if (!strchr("'\"\\", *p))
			words[n++] = isspace((unsigned char)*p) ? ' ' : *p;
	words[n] = '\0';
	n = strcspn(s, " ");
	if (!word_in_list(commands, s, n) || strlen(s) >= sizeof(words))
		return false;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strstr(words, options[i]))
			return false;
	return true;
}

/* Where git-flow looks for its own. */
static bool is_hooks(const char *value, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(value, dir, n) == 0 && strcmp(value + n, "/hooks") == 0;
}

static bool is_lfs(const struct gitconfig_entry *e)
{
	static const char *const own[][2] = {
		{ "clean", "git-lfs clean -- %f" },
		{ "smudge", "git-lfs smudge -- %f" },
		{ "smudge", "git-lfs smudge --skip -- %f" },
		{ "process", "git-lfs filter-process" },
		{ "process", "git-lfs filter-process --skip" },
		{ "required", "true" },
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (e->value && strcmp(e->name, own[i][0]) == 0 && strcmp(e->value, own[i][1]) == 0)
			return true;
	return false;
}

static bool fits(enum shape shape, const struct gitconfig_entry *e, const struct place *at)
{
	const char *value = e->value ? e->value : "true";

	switch (shape) {
	case RUNS:
	case LEADS:
		return false;
	case FREE:
		return true;
	case URL:
		return is_url(value);
	case OFF:
		return gitconfig_is_off(value);
	case WORKTREE:
		return is_beside(value, at);
	case UPDATE:
		return is_one_of("checkout rebase merge none", value);
	case STRATEGY:
		return is_one_of("octopus ort ours recursive resolve subtree", value);
	case REFS:
		return is_one_of("files reftable", value);
	case FORMAT:
		return is_one_of("openpgp x509 ssh", value);
	case ALIAS:
		return is_alias(value);
	case HOOKS:
		return is_hooks(value, at->dir);
	case LFS:
		return is_lfs(e);
	}
	return false;
}

/* --- the table ---------------------------------------------------------------------------------------- */

/* The first row that names the key: its shape, or -1. */
static int shape_of(const struct gitconfig_entry *e)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *sub = keys[i].subsection;

		if (strcmp(keys[i].section, e->section) == 0 && !sub == !e->subsection &&
		    (!sub || strcmp(sub, "*") == 0 || strcmp(sub, e->subsection) == 0) &&
		    (strcmp(keys[i].names, "*") == 0 || is_one_of(keys[i].names, e->name)))
			return (int)keys[i].shape;
	}
	return -1;
}

bool gitconfig_is_known(const struct gitconfig_entry *e)
{
	return shape_of(e) >= 0;
}

static bool is_harmless(const struct gitconfig_entry *e, const struct place *at)
{
	int shape = shape_of(e);

	return shape >= 0 && fits((enum shape)shape, e, at);
}

bool gitconfig_same(const struct gitconfig_entry *a, const struct gitconfig_entry *b)
{
	return strcmp(a->section, b->section) == 0 && strcmp(a->name, b->name) == 0 &&
	       same_text(a->subsection, b->subsection) && same_text(a->value, b->value);
}

static bool has(const struct gitconfig *g, const struct gitconfig_entry *e)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (gitconfig_same(&g->entries[i], e))
			return true;
	return false;
}

const struct gitconfig_entry *gitconfig_forbidden(const struct gitconfig *before, const struct gitconfig *now,
						  const char *dir, const char *workspace)
{
	const struct place at = { .dir = dir, .workspace = workspace };

	for (size_t i = 0; i < now->n; i++)
		if (!is_harmless(&now->entries[i], &at) && !has(before, &now->entries[i]))
			return &now->entries[i];
	return NULL;
}

/* --- branches alone ----------------------------------------------------------------------------------- */

struct keeper {
	bool (*keeps)(const void *ctx, const char *branch);
	const void *ctx;
};

static bool is_free(const struct gitconfig_entry *e, const struct keeper *k)
{
	return strcmp(e->section, "branch") == 0 && e->subsection && !k->keeps(k->ctx, e->subsection);
}

/* The next entry from *at on that stays where it is, or NULL. */
static const struct gitconfig_entry *next_bound(const struct gitconfig *g, size_t *at, const struct keeper *k)
{
	while (*at < g->n && is_free(&g->entries[*at], k))
		++*at;
	return *at < g->n ? &g->entries[(*at)++] : NULL;
}

/* Some branch had the same before: it has another name now, or was copied. */
static bool is_carried(const struct gitconfig *before, const struct gitconfig_entry *e)
{
	for (size_t i = 0; i < before->n; i++)
		if (strcmp(before->entries[i].section, "branch") == 0 && before->entries[i].subsection &&
		    strcmp(before->entries[i].name, e->name) == 0 &&
		    same_text(before->entries[i].value, e->value))
			return true;
	return false;
}

static bool is_remote(const struct gitconfig *g, const char *name)
{
	for (size_t i = 0; name && i < g->n; i++)
		if (strcmp(g->entries[i].section, "remote") == 0 && strcmp(g->entries[i].name, "url") == 0 &&
		    same_text(g->entries[i].subsection, name))
			return true;
	return same_text(name, ".");
}

static bool leads_elsewhere(const struct gitconfig *before, const struct gitconfig_entry *e)
{
	return is_one_of("remote pushremote", e->name) && !is_carried(before, e) &&
	       !is_remote(before, e->value);
}

const struct gitconfig_entry *gitconfig_beyond_branches(const struct gitconfig *before,
							const struct gitconfig *now,
							bool (*keeps)(const void *ctx, const char *branch),
							const void *ctx)
{
	const struct keeper k = { keeps, ctx };
	const struct gitconfig_entry *o, *n;
	size_t i = 0, j = 0;

	do {
		o = next_bound(before, &i, &k);
		n = next_bound(now, &j, &k);
		if (!o != !n || (o && !gitconfig_same(o, n)))
			return n ? n : o;
	} while (o);
	for (j = 0; j < now->n; j++)
		if (is_free(&now->entries[j], &k) && leads_elsewhere(before, &now->entries[j]))
			return &now->entries[j];
	return NULL;
}
