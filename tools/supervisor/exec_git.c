/*
 * HEAD's branch, which `git branch -m` and a `git push` without a refspec would move, where that can be told
 * from outside.
 *
 * Wherever configuration could send a push elsewhere nobody knows, and the policy then takes the branch for a
 * protected one.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/git.h"
#include "policy/gitconfig.h"
#include "policy/path.h"
#include "tools/supervisor/exec.h"
#include "tools/tools.h"

#define CONF_MAX (64 * 1024)

static bool is_word(const char *s, const char *a, const char *b, const char *c)
{
	return s && (strcmp(s, a) == 0 || strcmp(s, b) == 0 || strcmp(s, c) == 0);
}

/* It sends a push elsewhere, or says what else does. */
static bool may_send(const struct gitconfig_entry *e)
{
	if (strcmp(e->section, "remote") == 0)
		return is_word(e->name, "push", "mirror", "mirror");
	if (strcmp(e->section, "push") == 0)
		return strcmp(e->name, "default") == 0 && !is_word(e->value, "simple", "current", "nothing");
	return is_word(e->section, "include", "includeif", "url");
}

/* Nothing in the file could; one that cannot be read could. */
static bool is_plain(const char *dir, const char *name)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	struct gitconfig g;
	bool sends = false;
	unsigned line;
	size_t len;
	int r = path_join(path, sizeof(path), dir, name);

	if (r == 0)
		r = file_read(path, CONF_MAX, &text, &len);
	if (r != 0)
		return r == -ENOENT || r == -ENOTDIR;
	if (gitconfig_parse(text, len, &g, &line) < 0)
		return false;
	for (size_t i = 0; i < g.n && !sends; i++)
		sends = may_send(&g.entries[i]);
	gitconfig_done(&g);
	return !sends;
}

static bool is_missing(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return path_join(path, sizeof(path), dir, name) == 0 && lstat(path, &st) < 0 && errno == ENOENT;
}

/* A directory of remotes, as files: any at all is one too many to follow. */
static bool is_empty(const char *dir, const char *name)
{
	char path[PATH_MAX];
	size_t n = 0;
	DIR *d;

	if (is_missing(dir, name))
		return true;
	d = path_join(path, sizeof(path), dir, name) == 0 ? opendir(path) : NULL;
	if (!d)
		return false;
	while (n <= 2 && readdir(d))
		n++;
	closedir(d);
	return n <= 2; /* . and .. */
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
	return is_plain(dir, "config") && is_plain(dir, "config.worktree") && is_empty(dir, "remotes") &&
	       is_empty(dir, "branches");
}

/* A worktree's directory names the one that it shares. */
static bool common_is_plain(const char *git_dir)
{
	char common[PATH_MAX];

	return is_missing(git_dir, "commondir") ||
	       (follow(git_dir, "commondir", "", common, sizeof(common)) && repository_is_plain(common));
}

/* Of the operator, and of the session, which may have written it. */
static bool global_is_plain(const struct exec_env *env, const char *home)
{
	return is_plain(home, ".gitconfig") && is_plain(home, ".config/git/config") &&
	       (!env->config_home[0] || is_plain(env->config_home, "git/config"));
}

static bool outer_is_plain(const struct exec_env *env, const char *home)
{
	return !env->config && is_plain("/etc", "gitconfig") &&
	       (env->no_global || global_is_plain(env, home));
}

static bool goes_to_its_own(const struct exec_env *env, const char *git_dir, const char *home)
{
	return repository_is_plain(git_dir) && common_is_plain(git_dir) && outer_is_plain(env, home);
}

/* Another repository, or none that can be told. */
static bool is_elsewhere(const struct exec *x)
{
	bool named = false;

	for (size_t i = 0; i < x->req.argc && !named; i++)
		named = strcmp(x->req.argv[i], "-C") == 0 || strncmp(x->req.argv[i], "--git-dir", 9) == 0;
	return named || x->env.git || !x->req.cwd;
}

const char *exec_branch(struct caller *c, struct exec *x, unsigned wants)
{
	const char *home = image_str(&c->image, c->image.h->home);
	char git_dir[PATH_MAX];

	if (is_elsewhere(x) || !git_dir_of(x->req.cwd, git_dir, sizeof(git_dir)) ||
	    (wants & GIT_WANTS_CONFIG && !goes_to_its_own(&x->env, git_dir, home)))
		return "";
	return wants & GIT_WANTS_HEAD && branch_of(&x->req, x->req.cwd, x->branch, sizeof(x->branch))
		       ? x->branch
		       : NULL;
}
