/*
 * The configuration of the workspace's own repository, which the operator's plain fetch, pull and push obey
 * after the session: see git.h.
 *
 * What stood there as the session began is the measure, so that nothing is reached in two steps that is not
 * in one.  A repository that the session made says what the session likes.
 */
#include "tools/supervisor/git.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/gitindex.h"
#include "policy/path.h"
#include "tools/tools.h"

static struct gitconfig first;

/* What cannot be read says nothing, and then nothing new may be said that moves. */
void git_own_begin(const struct git_home *home)
{
	_cleanup_close_ int dir = home->common ? open(home->common, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	mode_t mode;

	gitconfig_done(&first);
	if (dir >= 0 && git_file_read(dir, "config", GITCONFIG_MAX, &text, &len, &mode) == 0)
		(void)gitconfig_parse(text, len, &first, &(unsigned){ 0 });
}

/* --- which it is --------------------------------------------------------------------------------------- */

bool git_is_at(const char *path, const char *dir, const char *name)
{
	size_t n = dir ? strlen(dir) : 0;

	return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' && strcmp(path + n + 1, name) == 0;
}

static bool is_part(const struct git_home *home, const char *path, enum gitconfig_part *ret)
{
	size_t n = home->common ? strlen(home->common) : 0;

	*ret = GITCONFIG_WHOLE;
	if (n == 0 || git_is_at(path, home->common, "config"))
		return n > 0;
	*ret = GITCONFIG_BESIDES;
	return git_is_at(path, home->common, "config.worktree") ||
	       git_is_at(path, home->own, "config.worktree") ||
	       (strncmp(path, home->common, n) == 0 && strncmp(path + n, "/worktrees/", 11) == 0 &&
		strcmp(path_basename(path), "config.worktree") == 0);
}

/* --- what it may say ----------------------------------------------------------------------------------- */

static void say(const struct gitconfig_entry *e, char *why, size_t size)
{
	struct out o = out_of(why, size);

	git_config_put_key(&o, e);
	text_str(&o, " tells where a later fetch, pull or push goes, and would reach a protected branch or "
		     "lead a remote elsewhere; the operator may set it: git config ");
	git_config_put_key(&o, e);
	text_end(&o);
}

bool git_own_allows(const struct git_home *home, const struct image *img, const char *path,
		    const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size)
{
	const struct gitconfig_trunk trunk = { git_keeps, git_may_be_trunk, img };
	struct gitconfig old = { .n = 0 }, new = { .n = 0 };
	const struct gitconfig_entry *e = NULL;
	enum gitconfig_part part;
	unsigned line;
	bool is_read;

	if (!is_part(home, path, &part) || !git_may_be_trunk(img, "", 0))
		return true;
	if (before && gitconfig_parse(before, before_len, &old, &line) < 0)
		old.n = 0;
	is_read = gitconfig_parse(now, len, &new, &line) == 0;
	if (is_read)
		e = gitconfig_moves(&first, &old, &new, &trunk, part);
	if (!is_read)
		snprintf(why, size, "it cannot be read as git's configuration");
	else if (e)
		say(e, why, size);
	gitconfig_done(&old);
	gitconfig_done(&new);
	return is_read && !e;
}

/* --- another name for a remote ------------------------------------------------------------------------- */

/* A name that needs no quotes. */
static bool is_plain_name(const char *s)
{
	return *s &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == strlen(s);
}

/* text with `name` as the value of each entry that has `old` for a protected branch's remote; owned. */
static char *put_name(const char *text, size_t len, const struct gitconfig *now,
		      const struct gitconfig_trunk *t, const char *old, const char *name, size_t *ret_len)
{
	size_t max = len + now->n * (strlen(name) + 2) + 1, at = 0, n = 0;
	char *buf = malloc(max);

	for (size_t i = 0; buf && i < now->n; i++) {
		const struct gitconfig_entry *e = &now->entries[i];

		if (!gitconfig_names_remote(e, t) || !e->value || strcmp(e->value, old) != 0 || e->at < at)
			continue;
		memcpy(buf + n, text + at, e->at - at);
		n += e->at - at;
		n += (size_t)sprintf(buf + n, " %s\n", name);
		at = e->at + e->len;
	}
	if (!buf)
		return NULL;
	memcpy(buf + n, text + at, len - at);
	*ret_len = n + len - at;
	buf[*ret_len] = '\0';
	return buf;
}

char *git_own_renamed(const struct git_home *home, const struct image *img, const char *path,
		      const char *before, size_t before_len, const char *now, size_t len, size_t *ret_len)
{
	const struct gitconfig_trunk trunk = { git_keeps, git_may_be_trunk, img };
	struct gitconfig old = { .n = 0 }, new = { .n = 0 };
	const char *from, *to = NULL;
	enum gitconfig_part part;
	char *text = NULL;
	unsigned line;

	if (before && is_part(home, path, &part) && part == GITCONFIG_WHOLE &&
	    gitconfig_parse(before, before_len, &old, &line) == 0 &&
	    gitconfig_parse(now, len, &new, &line) == 0 && (from = gitconfig_renamed(&old, &new, &to)) &&
	    is_plain_name(to))
		text = put_name(now, len, &new, &trunk, from, to, ret_len);
	gitconfig_done(&old);
	gitconfig_done(&new);
	return text;
}

/* --- its index -------------------------------------------------------------------------------------------
 */

/* Bytes of an object's name.  A repository that the session made has git's usual one. */
static size_t hash_len(void)
{
	for (size_t i = 0; i < first.n; i++) {
		const struct gitconfig_entry *e = &first.entries[i];

		if (strcmp(e->section, "extensions") == 0 && !e->subsection &&
		    strcmp(e->name, "objectformat") == 0 && e->value && strcmp(e->value, "sha256") == 0)
			return 32;
	}
	return 20;
}

bool git_index_may_be(const char *text, size_t len, char *why, size_t size)
{
	const char *text_why;

	if (gitindex_is_sound(text, len, hash_len(), &text_why))
		return true;
	snprintf(why, size, "%s", text_why);
	return false;
}
