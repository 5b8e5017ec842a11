/*
 * The branch that a `git push` without a refspec would move, where that can be told from outside.
 *
 * The hooks read git's configuration line by line; here any word in it that could send the push
 * elsewhere is reason enough to say that nobody knows, and the policy then takes the branch for a protected
 * one.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/supervisor/exec.h"
#include "tools/tools.h"

#define CONF_MAX (64 * 1024)

/* Nothing in the file speaks of pushing, or of other files. */
static bool is_plain(const char *dir, const char *name)
{
	static const char *const words[] = { "push", "mirror", "include", "insteadof" };
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	int r = path_join(path, sizeof(path), dir, name);

	if (r == 0)
		r = file_read(path, CONF_MAX, &text, &len);
	if (r != 0)
		return r == -ENOENT || r == -ENOTDIR;
	for (size_t i = 0; i < NELEM(words); i++)
		if (strcasestr(text, words[i]))
			return false;
	return strlen(text) == len;
}

static bool is_missing(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return path_join(path, sizeof(path), dir, name) == 0 && lstat(path, &st) < 0 && errno == ENOENT;
}

/* The .git of the repository around dir; false where it is no directory (a worktree, a submodule) or missing.
 */
static bool git_dir_of(const char *dir, char *buf, size_t size)
{
	char at[PATH_MAX];
	struct stat st;

	if (snprintf(at, sizeof(at), "%s", dir) >= (int)sizeof(at))
		return false;
	for (;;) {
		char *slash = strrchr(at, '/');

		if (!slash || path_join(buf, size, at[0] ? at : "/", ".git") < 0)
			return false;
		if (stat(buf, &st) == 0)
			return S_ISDIR(st.st_mode);
		if (slash == at && !at[1])
			return false;
		slash[slash == at] = '\0';
	}
}

const char *exec_branch(struct caller *c, struct exec *x)
{
	const char *home = image_str(&c->image, c->image.h->home);
	char git_dir[PATH_MAX];

	if (x->env.git || !x->req.cwd || !git_dir_of(x->req.cwd, git_dir, sizeof(git_dir)))
		return NULL;
	if (!is_plain(git_dir, "config") || !is_plain(git_dir, "config.worktree") ||
	    !is_plain(home, ".gitconfig") || !is_plain(home, ".config/git/config") ||
	    !is_plain("/etc", "gitconfig") || !is_missing(git_dir, "remotes") ||
	    !is_missing(git_dir, "branches"))
		return NULL;
	return branch_of(&x->req, x->req.cwd, x->branch, sizeof(x->branch)) ? x->branch : NULL;
}
