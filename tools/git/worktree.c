/*
 * A workspace that is a linked worktree, or a submodule's, of a repository that lies elsewhere.
 *
 * `.git` is a file there, and what git writes lies outside the workspace: without it nobody could commit.
 * So what a commit, a rebase and a gc write is writable too, and what decides about later commands of the
 * operator stays as it is: hooks, config but for its sections of branches, and what says where the
 * repository is.
 *
 * The pointers are read once, before the session, and followed only where they agree with each other:
 * the repository itself must name the workspace, in a place that nobody writes who may write the
 * workspace alone.  So a `.git` file that a session leaves behind opens nothing to the next.
 */
#include "worktree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define LINK	 "gitdir: "
#define TEXT_MAX (64u << 10)

/* Relative to the common directory; a linked worktree's own is writable beside them. */
static const char *const shared[] = {
	"objects",
	"refs",
	"logs",
	"reftable",
	"rr-cache",
	"lfs",
	"packed-refs",
	"packed-refs.lock",
	"packed-refs.new",
	"shallow",
	"shallow.lock",
	"gc.pid",
	"gc.pid.lock",
	"gc.log",
	"gc.log.lock",
	/* what repack tells those who fetch without a server */
	"info/refs",
	"info/refs_*",
	/* gc locks each HEAD, and changes none, while it trims what is logged of it */
	"HEAD.lock",
	"worktrees/*/HEAD.lock",
	"worktrees/*/logs/HEAD",
	"worktrees/*/logs/HEAD.lock",
	/* what it says of branches, and of those alone: parse_builtin.c, supervisor/git/git.c */
	"config",
	"config.lock",
};

/* In a worktree's own directory, and in that of a submodule, which is a repository. */
static const char *const kept[] = { "config.worktree", "commondir", "gitdir" };
static const char *const kept_of_module[] = { "config", "config.worktree", "commondir", "hooks", "modules" };

struct repository {
	char workspace[PATH_MAX];
	char own[PATH_MAX];    /* real path of what `.git` names */
	char common[PATH_MAX]; /* of the repository that it belongs to */
};

/* --- what files say --------------------------------------------------------------------------------- */

/* The first line of dir/name, after `prefix`.  False where it is missing or says something else. */
static bool line_of(const char *dir, const char *name, const char *prefix, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	struct stat st;
	size_t len;

	if (path_join(path, sizeof(path), dir, name) < 0 || lstat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    file_read(path, TEXT_MAX, &text, &len) < 0 || strncmp(text, prefix, strlen(prefix)) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return snprintf(buf, size, "%s", text + strlen(prefix)) < (int)size;
}

/* The real path of a name in a file of dir. */
static bool follow(const char *dir, const char *name, char real[PATH_MAX])
{
	char path[PATH_MAX];

	if (name[0] == '/')
		return realpath(name, real) != NULL;
	return path_join(path, sizeof(path), dir, name) == 0 && realpath(path, real) != NULL;
}

static bool is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static bool has(const char *dir, const char *name, mode_t type)
{
	char path[PATH_MAX];
	struct stat st;

	return path_join(path, sizeof(path), dir, name) == 0 && lstat(path, &st) == 0 &&
	       (st.st_mode & S_IFMT) == type;
}

/* As git tells one (setup.c, is_git_directory). */
static bool is_repository(const char *dir)
{
	return is_ours(dir) && has(dir, "HEAD", S_IFREG) && has(dir, "objects", S_IFDIR) &&
	       has(dir, "refs", S_IFDIR);
}

/* --- do they agree ---------------------------------------------------------------------------------- */

/* COMMON/worktrees/NAME, whose `gitdir` is the workspace's .git. */
static bool is_worktree(struct repository *r)
{
	char line[PATH_MAX], back[PATH_MAX], home[PATH_MAX], *slash;

	if (!is_ours(r->own) || !line_of(r->own, "commondir", "", line, sizeof(line)) ||
	    !follow(r->own, line, r->common) || !is_repository(r->common))
		return false;
	if (path_join(home, sizeof(home), r->common, "worktrees") < 0 || !path_is_under(r->own, home) ||
	    strchr(r->own + strlen(home) + 1, '/'))
		return false;
	if (!line_of(r->own, "gitdir", "", line, sizeof(line)))
		return false;
	slash = strrchr(line, '/');
	if (!slash || strcmp(slash, "/.git") != 0)
		return false;
	*slash = '\0';
	return follow(r->own, line[0] ? line : "/", back) && strcmp(back, r->workspace) == 0;
}

/* A repository whose core.worktree is the workspace.  git writes that key in this very form. */
static bool is_module(struct repository *r)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], back[PATH_MAX], *line, *rest;
	bool core = false;
	size_t len;

	if (!is_repository(r->own) || path_join(path, sizeof(path), r->own, "config") < 0 ||
	    file_read(path, TEXT_MAX, &text, &len) < 0)
		return false;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] == '[')
			core = strcmp(line, "[core]") == 0;
		else if (core && strncmp(line, "\tworktree = ", 12) == 0)
			return follow(r->own, line + 12, back) && strcmp(back, r->workspace) == 0;
	}
	return false;
}

/* --- where it is --------------------------------------------------------------------------------------- */

/*
 * The git directory of the workspace as git finds it, and the one that has the branches: nothing needs
 * proof here, since what lies there is only kept the better for it.
 */
static int note_home(struct bundle *b, const struct repository *r)
{
	_cleanup_free_ struct repository *h = calloc(1, sizeof(*h));
	char line[PATH_MAX];

	if (!h)
		return -ENOMEM;
	if (!(line_of(r->workspace, ".git", LINK, line, sizeof(line)) &&
	      follow(r->workspace, line, h->own)) &&
	    !follow(r->workspace, ".git", h->own)) {
		if (!is_repository(r->workspace))
			return 0;
		memcpy(h->own, r->workspace, sizeof(h->own));
	}
	if (!line_of(h->own, "commondir", "", line, sizeof(line)) || !follow(h->own, line, h->common))
		memcpy(h->common, h->own, sizeof(h->common));
	b->git_own = strdup(h->own);
	b->git_common = strdup(h->common);
	return b->git_own && b->git_common ? 0 : -ENOMEM;
}

/* --- what follows ------------------------------------------------------------------------------------- */

/* Each of the names in dir; names may be patterns, dir must not be one. */
static int grant(struct bundle *b, int (*add)(struct bundle *, const char *), const char *dir,
		 const char *const *names, size_t n)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = path_join(path, sizeof(path), dir, names[i]);
		if (r == 0)
			r = add(b, path);
	}
	return r;
}

static int open_worktree(struct bundle *b, const struct repository *r)
{
	int e = bundle_add_git_write(b, r->own);

	if (e == 0)
		e = grant(b, bundle_add_git_write, r->common, shared, NELEM(shared));
	return e < 0 ? e : grant(b, bundle_add_git_keep, r->own, kept, NELEM(kept));
}

static int open_module(struct bundle *b, const struct repository *r)
{
	int e = bundle_add_git_write(b, r->own);

	return e < 0 ? e : grant(b, bundle_add_git_keep, r->own, kept_of_module, NELEM(kept_of_module));
}

/* What lies in the workspace is open already, and a name that reads as a pattern names too much. */
static bool needs_opening(const struct repository *r, const char *common)
{
	return !path_is_under(common, r->workspace) && !path_is_under(r->workspace, common) &&
	       !strpbrk(common, "*?[]\\");
}

int worktree_gather(struct bundle *b)
{
	_cleanup_free_ struct repository *r = calloc(1, sizeof(*r));
	char line[PATH_MAX];

	if (!r)
		return -ENOMEM;
	if (snprintf(r->workspace, sizeof(r->workspace), "%s", b->workspace) >= (int)sizeof(r->workspace))
		return 0;
	if (note_home(b, r) < 0)
		return -ENOMEM;
	if (!line_of(r->workspace, ".git", LINK, line, sizeof(line)) || !follow(r->workspace, line, r->own))
		return 0;
	if (is_worktree(r))
		return needs_opening(r, r->common) ? open_worktree(b, r) : 0;
	if (is_module(r))
		return needs_opening(r, r->own) ? open_module(b, r) : 0;
	return 0;
}
