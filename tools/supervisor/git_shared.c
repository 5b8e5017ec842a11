/*
 * The configuration that a linked worktree shares with its repository elsewhere: see git.h.
 *
 * It is the operator's in his other worktrees, too.  What git writes there for a branch of the session (its
 * upstream, its name, that it is gone) may be written; the rest, and what it says of protected branches,
 * stays as it is.
 */
#include "tools/supervisor/git.h"

#include <stdio.h>
#include <string.h>

#include "tools/tools.h"

static bool opens_it(const struct image *img, const char *path)
{
	const struct image_rule *r;

	for (uint32_t i = 0; (r = image_rule(img, i)) != NULL; i++)
		if (r->kind == RULE_FILE_WRITE && r->rank == RANK_BUILTIN &&
		    strcmp(image_str(img, r->pattern), path) == 0)
			return true;
	return false;
}

bool git_is_shared(const struct image *img, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct image at = *img;

	if (!slash || strcmp(slash, "/config") != 0)
		return false;
	do
		if (opens_it(&at, path))
			return true;
	while (image_outer(&at, &at));
	return false;
}

static void say(const struct gitconfig_entry *e, char *why, size_t size)
{
	struct out o = out_of(why, size);

	git_config_put_key(&o, e);
	text_str(&o, " is the whole repository's, and a worktree changes what concerns its branches alone, "
		     "with remotes that are there; the operator may set it: git config ");
	git_config_put_key(&o, e);
	text_end(&o);
}

bool git_shared_allows(const struct image *img, const char *before, size_t before_len, const char *now,
		       size_t len, char *why, size_t size)
{
	struct gitconfig old = { .n = 0 }, new = { .n = 0 };
	const struct gitconfig_entry *e = NULL;
	unsigned line;
	bool are_read = gitconfig_parse(before, before_len, &old, &line) == 0 &&
			gitconfig_parse(now, len, &new, &line) == 0;

	if (are_read)
		e = gitconfig_beyond_branches(&old, &new, git_keeps, img);
	if (!are_read)
		snprintf(why, size, "it cannot be read as git's configuration");
	else if (e)
		say(e, why, size);
	gitconfig_done(&old);
	gitconfig_done(&new);
	return are_read && !e;
}
