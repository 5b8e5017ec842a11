/*
 * The configuration of the workspace's own repository, which the operator's plain fetch, pull and push obey
 * after the session: see git.h.
 *
 * What stood there as the session began is the measure, so that nothing is reached in two steps that is not
 * in one.  A repository that the session made says what the session likes.
 *
 * The configuration that a linked worktree shares with its repository elsewhere is the operator's in his
 * other worktrees, too: what git writes there for a branch of the session may be written, and the rest stays.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/image/image.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"

#include "tools/git/git_home.h"

#include "git.h"

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
	struct image at = *img;

	if (strcmp(path_basename(path), "config") != 0)
		return false;
	do
		if (opens_it(&at, path))
			return true;
	while (image_outer(&at, &at));
	return false;
}

/* --- what it may say ----------------------------------------------------------------------------------- */

#define OWN                                                                                                  \
	" decides where a later fetch, pull or push goes: a session may not change it, nor add one that "    \
	"reaches a protected branch; the operator may set it: git config "
#define SHARED                                                                                               \
	" belongs to the whole repository: from a worktree, a session may configure only unprotected "       \
	"branches, and only with existing remotes; the operator may set it: git config "

static void say(const struct gitconfig_entry *e, const char *text, char *why, size_t size)
{
	struct out o = out_of(why, size);

	git_config_put_key(&o, e);
	text_str(&o, text);
	git_config_put_key(&o, e);
	text_str(&o, " VALUE");
	text_end(&o);
}

bool git_own_allows(const struct git_home *home, const struct image *img, const char *path,
		    const char *before, size_t before_len, const char *now, size_t len, char *why,
		    size_t size)
{
	const struct gitconfig_trunk trunk = { git_keeps, img };
	struct gitconfig old = { .n = 0 }, new = { .n = 0 };
	const struct gitconfig_entry *e = NULL;
	enum gitconfig_part part;
	unsigned line;
	bool is_own = is_part(home, path, &part) && git_keeps(img, NULL);
	bool is_shared = git_is_shared(img, path), has_old, is_read;

	if (!is_own && !is_shared)
		return true;
	/* Where nothing stands, or nothing that can be read, what the session began with is to stand again.
	 */
	has_old = before && gitconfig_parse(before, before_len, &old, &line) == 0;
	is_read = gitconfig_parse(now, len, &new, &line) == 0 && (has_old || !is_shared);
	if (is_read && is_own && (e = gitconfig_moves(&first, has_old ? &old : &first, &new, &trunk, part)))
		say(e, OWN, why, size);
	else if (is_read && is_shared && (e = gitconfig_beyond_branches(&old, &new, git_keeps, img)))
		say(e, SHARED, why, size);
	else if (!is_read)
		snprintf(why, size, "it cannot be read as git's configuration");
	gitconfig_done(&old);
	gitconfig_done(&new);
	return is_read && !e;
}
