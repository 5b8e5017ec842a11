/*
 * HEAD's branch, which `git branch -m` and a `git push` without a refspec would move, where that can be told
 * from outside.
 *
 * The hooks read git's configuration line by line; here any word in it that could send the push
 * elsewhere is reason enough to say that nobody knows, and the policy then takes the branch for a protected
 * one.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/path.h"
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

/* The path that dir/name holds behind a prefix, from dir; false where there is none. */
static bool follow(const char *dir, const char *name, const char *prefix, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len, n = strlen(prefix);

	if (path_join(path, sizeof(path), dir, name) < 0 || file_read(path, PATH_MAX, &text, &len) < 0 ||
	    strncmp(text, prefix, n) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return path_normalise(dir, text + n, buf, size) >= 0;
}

/* git passes by a `.git` that lacks one of these, and what HEAD says there is nobody's. */
static bool is_whole(const char *git_dir)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), git_dir, "objects") == 0 && access(path, X_OK) == 0 &&
	       path_join(path, sizeof(path), git_dir, "refs") == 0 && access(path, X_OK) == 0;
}

/*
 * The git directory of the repository around dir: `.git`, or what that names as a file.  False where it
 * cannot be told: what holds a HEAD itself may be a bare one.
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
			return S_ISDIR(st.st_mode) ? is_whole(buf)
						   : follow(at[0] ? at : "/", ".git", "gitdir: ", buf, size);
		if ((slash == at && !at[1]) || !is_missing(at[0] ? at : "/", "HEAD"))
			return false;
		slash[slash == at] = '\0';
	}
}

static bool repository_is_plain(const char *dir)
{
	return is_plain(dir, "config") && is_plain(dir, "config.worktree") && is_missing(dir, "remotes") &&
	       is_missing(dir, "branches");
}

/* A worktree's directory names the one that it shares. */
static bool common_is_plain(const char *git_dir)
{
	char common[PATH_MAX];

	return is_missing(git_dir, "commondir") ||
	       (follow(git_dir, "commondir", "", common, sizeof(common)) && repository_is_plain(common));
}

static bool is_push(const struct request *req)
{
	for (size_t i = 0; i < req->argc; i++)
		if (strstr(req->argv[i], "push"))
			return true;
	return false;
}

static bool goes_to_its_own(const char *git_dir, const char *home)
{
	return repository_is_plain(git_dir) && common_is_plain(git_dir) && is_plain(home, ".gitconfig") &&
	       is_plain(home, ".config/git/config") && is_plain("/etc", "gitconfig");
}

const char *exec_branch(struct caller *c, struct exec *x)
{
	const char *home = image_str(&c->image, c->image.h->home);
	char git_dir[PATH_MAX];

	if (x->env.git || !x->req.cwd || !git_dir_of(x->req.cwd, git_dir, sizeof(git_dir)))
		return NULL;
	/* Only a push goes where configuration sends it. */
	if (is_push(&x->req) && (x->env.config || !goes_to_its_own(git_dir, home)))
		return NULL;
	return branch_of(&x->req, x->req.cwd, x->branch, sizeof(x->branch)) ? x->branch : NULL;
}
