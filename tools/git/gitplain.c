/*
 * What git's configuration says of remotes, and whether a repository is the session's own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "policy/base/path.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/system/system.h"

#include "tools/base/paths.h"

#include "gitbranch.h"

bool git_is_missing(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return path_join(path, sizeof(path), dir, name) == 0 && lstat(path, &st) < 0 && errno == ENOENT;
}

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
	/* Where branches are not files, pale cannot see where a name leads. */
	return is_word(e->section, "include", "includeif", "url") ||
	       gitconfig_is_key(e, "extensions", NULL, "refstorage");
}

/* True where the entry names a remote, or may lead to one. */
static bool may_name_remote(const struct gitconfig_entry *e)
{
	return strcmp(e->section, "remote") == 0 ||
	       is_word(e->section, "include", "includeif", "includeif") ||
	       (strcmp(e->section, "branch") == 0 &&
		is_word(e->name, "remote", "pushremote", "pushremote")) ||
	       gitconfig_is_key(e, "extensions", NULL, "refstorage");
}

typedef bool (*entry_test)(const struct gitconfig_entry *e);

/* True where no entry of the file passes the test; false where the file cannot be read. */
static bool is_plain(const char *dir, const char *name, entry_test may)
{
	struct gitconfig g;
	bool found = false;
	int r = git_config_read(dir, name, GIT_CONF_MAX, &g);

	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR;
	for (size_t i = 0; i < g.n && !found; i++)
		found = may(&g.entries[i]);
	gitconfig_done(&g);
	return !found;
}

bool git_is_empty(const char *dir, const char *name)
{
	char path[PATH_MAX];
	size_t n = 0;
	DIR *d;

	if (git_is_missing(dir, name))
		return true;
	d = path_join(path, sizeof(path), dir, name) == 0 ? opendir(path) : NULL;
	if (!d)
		return false;
	while (n <= 2 && readdir(d))
		n++;
	closedir(d);
	return n <= 2; /* . and .. */
}

static bool repository_is_plain(const char *dir, entry_test may)
{
	return is_plain(dir, "config", may) && is_plain(dir, "config.worktree", may) &&
	       git_is_empty(dir, "remotes") && git_is_empty(dir, "branches");
}

static bool common_is_plain(const char *git_dir, entry_test may)
{
	char common[PATH_MAX];

	return git_common_of(git_dir, common) &&
	       (strcmp(common, git_dir) == 0 || repository_is_plain(common, may));
}

/* Of the operator, and of the session, which may have written it. */
static bool global_is_plain(const struct git_env *env, entry_test may)
{
	return is_plain(env->home, ".gitconfig", may) && is_plain(env->home, ".config/git/config", may) &&
	       (!env->config_home[0] || is_plain(env->config_home, "git/config", may));
}

static bool outer_is_plain(const struct git_env *env, entry_test may)
{
	return !env->config && (env->no_system || is_plain("/etc", "gitconfig", may)) &&
	       (env->no_global || global_is_plain(env, may));
}

static bool all_is_plain(const struct git_env *env, const char *git_dir, entry_test may)
{
	return (!git_dir[0] || (repository_is_plain(git_dir, may) && common_is_plain(git_dir, may))) &&
	       outer_is_plain(env, may);
}

bool git_goes_to_its_own(const struct git_env *env, const char *git_dir)
{
	return all_is_plain(env, git_dir, may_send);
}

/* --- a new repository ----------------------------------------------------------------------------------- */

/* A real directory that did not exist when the session began. */
static bool is_made(const struct git_env *env, const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct statx x;

	return env->began > 0 && path_join(path, sizeof(path), dir, name) == 0 &&
	       statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_BTIME, &x) == 0 &&
	       x.stx_mask & STATX_BTIME && S_ISDIR(x.stx_mode) &&
	       (uint64_t)x.stx_btime.tv_sec * NS_S + x.stx_btime.tv_nsec > env->began;
}

/* There a directory gets a new time of birth when an entry of it first changes. */
static bool is_overlay(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) < 0 || fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static bool is_first_of(const struct git_env *env, const char *common)
{
	size_t n = env->unborn ? strlen(env->unborn) : 0;

	return n > 0 && strncmp(common, env->unborn, n) == 0 && strcmp(common + n, "/.git") == 0;
}

bool git_is_new(const struct git_env *env, const char *git_dir, const char *common)
{
	return (is_first_of(env, common) || (is_made(env, common, ".") && is_made(env, common, "refs") &&
					     is_made(env, common, "refs/heads") && !is_overlay(common))) &&
	       all_is_plain(env, git_dir, may_name_remote);
}

bool git_is_unborn(const struct git_env *env, const char *common)
{
	return git_is_empty(common, "refs/heads") && git_is_missing(common, "packed-refs") &&
	       all_is_plain(env, common, may_name_remote);
}
