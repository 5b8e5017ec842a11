/*
 * Protected branches: which they are, and where the one may move to that the session began on.
 *
 * The others are files that nobody writes, by rules of their paths.  This one may grow: git puts a new file
 * in the place of refs/heads/NAME, and that may say any commit which descends from the one that stood there
 * as the session began.  So what the session itself added may be amended or go again, and nothing else may.
 */
#include <stdio.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/command/git.h"

#include "tools/base/paths.h"
#include "tools/git/gitbranch.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"

#include "git.h"
#include "git_descent.h"

/* --- which are protected -------------------------------------------------------------------------------- */

bool git_keeps(const void *img, const char *branch)
{
	struct image at = *(const struct image *)img;

	do {
		size_t n = 0;
		const struct branch_pattern *p = image_sec(&at, SEC_BRANCH, &n);

		for (size_t i = 0; p && i < n / sizeof(*p); i++) {
			const char *pattern = git_short_branch(image_str(&at, p[i].pattern));

			if (!branch || glob_match(pattern, strlen(pattern), branch, strlen(branch)))
				return true;
		}
	} while (image_outer(&at, &at));
	return false;
}

bool git_is_at(const char *path, const char *dir, const char *name)
{
	size_t n = dir ? strlen(dir) : 0;

	return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' && strcmp(path + n + 1, name) == 0;
}

bool git_is_head(const struct git_home *home, const struct image *img, const char *path)
{
	char name[LIMIT_PATH];

	return home->head && git_keeps(img, home->head) &&
	       snprintf(name, sizeof(name), "refs/heads/%s", home->head) < (int)sizeof(name) &&
	       git_is_at(path, home->common, name);
}

/* --- where it may go ------------------------------------------------------------------------------------ */

/* What was shown to descend is as good as what it descends from.  Under the turn of git.c. */
static bool any_shown;
static struct git_name shown;

static enum git_descent descent(struct caller *c, const struct git_name *now, size_t len)
{
	const struct git_home *home = &session_setup(c->sup)->git;
	enum git_descent r = GIT_UNSHOWN;
	struct git_name stood;

	if (git_name_parse(home->stood, &stood) != len)
		return r;
	if (any_shown && memcmp(now, &shown, sizeof(shown)) == 0)
		return GIT_DESCENDS;
	if (caller_may_block(c))
		r = git_descent(home->program, home->common, &stood, now, len, NULL);
	if (r == GIT_DESCENDS) {
		any_shown = true;
		shown = *now;
	}
	return r;
}

enum verdict git_head_may_be(struct caller *c, const char *text, size_t text_len, char *why, size_t size)
{
	const struct git_home *home = &session_setup(c->sup)->git;
	struct git_name now;
	size_t len = git_name_parse(text, &now);

	if (len == 0 || text_len != 2 * len + 1 || text[2 * len] != '\n') {
		snprintf(why, size,
			 "a protected branch must hold the hash of a commit: a session may not make it a "
			 "symbolic ref");
		return VERDICT_DENY;
	}
	switch (descent(c, &now, len)) {
	case GIT_DESCENDS:
		return VERDICT_ALLOW;
	case GIT_LOSES:
		snprintf(why, size,
			 "%s would lose commits that it had when the session began: work on a branch of your "
			 "own, or ask the operator to run `git update-ref refs/heads/%s %.*s`",
			 home->head, home->head, (int)(2 * len), text);
		return VERDICT_DENY;
	case GIT_UNSHOWN:
	default:
		snprintf(why, size,
			 "commit %.*s may not contain every commit that %s had when the session began",
			 (int)(2 * len), text, home->head);
		return VERDICT_ASK;
	}
}

/* --- HEAD ----------------------------------------------------------------------------------------------- */

/* No branch was there when the session began, and no remote is there now. */
static bool is_first_branch(const struct image *img)
{
	const struct git_env env = git_env_of(img);
	char common[PATH_MAX];

	return env.unborn && path_join(common, sizeof(common), env.unborn, ".git") == 0 &&
	       git_is_new(&env, common, common);
}

bool git_now_may_be(const struct image *img, const char *text, char *why, size_t size)
{
	char ref[LIMIT_PATH];
	const char *branch;

	if (!git_symbolic_ref(text, ref))
		return true;
	branch = git_short_branch(ref);
	if (branch == ref || strcmp(branch, image_str(img, img->h->git_head)) == 0 ||
	    !git_keeps(img, branch) || is_first_branch(img))
		return true;
	snprintf(why, size,
		 "%.100s is a protected branch, and not the one that the session began on: the next session "
		 "would begin on it",
		 branch);
	return false;
}

/* --- any other ref -------------------------------------------------------------------------------------- */

bool git_is_ref(const struct git_home *home, const char *path)
{
	size_t n = home->common ? strlen(home->common) : 0, len = strlen(path);

	return n > 0 && strncmp(path, home->common, n) == 0 && strncmp(path + n, "/refs/", 6) == 0 &&
	       strcmp(path + len - 5, ".lock") != 0;
}

bool git_ref_may_be(const struct image *img, const char *text, char *why, size_t size)
{
	char ref[LIMIT_PATH];
	const char *branch;

	if (!git_symbolic_ref(text, ref))
		return true;
	branch = git_short_branch(ref);
	if (strncmp(ref, "refs/", 5) == 0 && (branch == ref || !git_keeps(img, branch)))
		return true;
	snprintf(why, size,
		 "no symbolic ref may lead to a protected branch: a push of this one would move %.100s", ref);
	return false;
}
