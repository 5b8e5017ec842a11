/*
 * What a path is to the workspace's own repository, and that repository, held: see git_refs.h.
 */
#include "tools/supervisor/git_refs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/gitname.h"
#include "policy/path.h"
#include "tools/tools.h"

/* path behind dir and a slash, or NULL */
static const char *below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

bool git_is_at(const char *path, const char *dir, const char *name)
{
	const char *rest = below(path, dir);

	return rest && strcmp(rest, name) == 0;
}

/* --- what it is ---------------------------------------------------------------------------------------- */

/* Names in a git directory; what ends in a slash stands for all below it. */
static const struct {
	const char *name;
	enum ref_kind kind;
} names[] = {
	{ "HEAD", REF_HEAD },
	{ "packed-refs", REF_PACKED },
	{ "index", REF_INDEX },
	{ "refs", REF_DIR },
	{ "refs/heads", REF_DIR },
	{ "refs/", REF_NAMED },
	{ "ORIG_HEAD", REF_PSEUDO },
	{ "BISECT_HEAD", REF_PSEUDO },
	{ "BISECT_EXPECTED_REV", REF_PSEUDO },
	{ "remotes/", REF_OLD },
	{ "branches/", REF_OLD },
	{ "info/grafts", REF_OLD },
	{ "rebase-merge", REF_PLACE },
	{ "rebase-merge/head-name", REF_STATE },
	{ "rebase-merge/update-refs", REF_STATE },
	{ "rebase-apply", REF_PLACE },
	{ "rebase-apply/head-name", REF_STATE },
};

static bool is_lock(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".lock") == 0;
}

static struct git_ref kind_of(const char *name)
{
	for (size_t i = 0; i < NELEM(names) && !is_lock(name); i++) {
		size_t n = strlen(names[i].name);

		if (names[i].name[n - 1] == '/' ? strncmp(name, names[i].name, n) == 0
						: strcmp(name, names[i].name) == 0)
			return (struct git_ref){ names[i].kind, name };
	}
	return (struct git_ref){ .kind = REF_NONE };
}

/* What git has no use for there it finds by a name that somebody says, as a ref's. */
static struct git_ref of_no_use(const struct image *img, const char *rest)
{
	const char *slash = strchr(rest, '/');

	if (git_is_trunk(img, rest, strlen(rest)) ||
	    (slash && git_is_trunk(img, slash + 1, strlen(slash + 1))))
		return (struct git_ref){ REF_SHADOW, rest };
	return (struct git_ref){ !slash || git_is_above_trunk(img, rest) ? REF_PLACE : REF_NONE, rest };
}

/* What is below worktrees/: a directory of each, with a few refs of its own. */
static struct git_ref of_worktree(const struct image *img, const char *rest)
{
	const char *slash = strchr(rest + strlen("worktrees/"), '/');
	struct git_ref ref = { REF_PLACE, rest };

	if (!slash)
		return ref;
	ref = kind_of(slash + 1);
	/* It goes with the worktree. */
	if (ref.kind == REF_DIR || ref.kind == REF_PLACE)
		return (struct git_ref){ REF_PLACE, rest };
	if (ref.kind == REF_NONE && !is_lock(rest) && !gitname_is_gits(slash + 1))
		return of_no_use(img, slash + 1);
	return ref.kind == REF_OLD || ref.kind == REF_PACKED ? (struct git_ref){ .kind = REF_NONE } : ref;
}

/* A submodule's index; a branch of it may be called so. */
static bool is_modules_index(const char *rest)
{
	return strncmp(rest, "modules/", 8) == 0 && strcmp(path_basename(rest), "index") == 0 &&
	       !strstr(rest, "/refs/") && !strstr(rest, "/logs/") && !strstr(rest, "/objects/");
}

static struct git_ref in_git_dir(const struct image *img, const char *rest)
{
	struct git_ref ref = kind_of(rest);

	if (is_modules_index(rest))
		return (struct git_ref){ REF_INDEX, rest };
	if (strcmp(rest, "worktrees") == 0)
		return (struct git_ref){ REF_PLACE, rest };
	if (strncmp(rest, "worktrees/", 10) == 0)
		return of_worktree(img, rest);
	return ref.kind != REF_NONE || is_lock(rest) || gitname_is_gits(rest) ? ref : of_no_use(img, rest);
}

/* path below the git directory that it lies in: of the workspace, or of any. */
static const char *in_which(const struct git_home *home, const char *path)
{
	static const char dot_git[] = "/.git/";
	const char *rest = below(path, home->common), *at;

	if (!rest)
		rest = below(path, home->own);
	if (rest)
		return rest;
	at = strstr(path, dot_git);
	return at ? at + strlen(dot_git) : NULL;
}

struct git_ref git_ref_of(const struct git_home *home, const struct image *img, const char *path)
{
	const char *rest = in_which(home, path);
	struct git_ref ref = { .kind = REF_NONE };

	if (git_is_at(path, home->own, "commondir") || git_is_at(path, home->workspace, ".git/commondir"))
		ref.kind = REF_COMMONDIR;
	else if (git_is_at(path, home->workspace, ".git"))
		ref.kind = REF_TOP;
	else if (rest)
		ref = in_git_dir(img, rest);
	return ref;
}

bool git_is_ref(const struct git_home *home, const struct image *img, const char *path)
{
	return git_ref_of(home, img, path).kind != REF_NONE;
}

/* --- its repository ------------------------------------------------------------------------------------ */

/* The git directory above the directory that the ref is in. */
static int above(int dir, const char *name)
{
	char up[PATH_MAX] = ".";

	for (const char *p = name; (p = strchr(p, '/')) != NULL; p++)
		if (strlen(up) + 4 < sizeof(up))
			strcat(up, "/..");
	return openat(dir, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Its directory may be one below the repository's. */
static bool is_deep(const struct git_ref *ref)
{
	return ref->kind == REF_NAMED || ref->kind == REF_SHADOW || ref->kind == REF_STATE;
}

static int open_dir(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_of_worktree(const struct git_home *home, const char *path)
{
	const char *rest = below(path, home->common);

	return (rest && strncmp(rest, "worktrees/", 10) == 0) || (!rest && below(path, home->own));
}

struct git_store git_store_of(const struct git_home *home, const struct git_ref *ref, const char *path,
			      int dir)
{
	struct git_store s = { .own = dir, .common = dir, .opened = -1 };

	if (is_deep(ref))
		s.own = s.common = s.opened = above(dir, ref->name);
	if (is_of_worktree(home, path)) {
		if (s.opened >= 0)
			close(s.opened);
		s.own = is_deep(ref) ? above(dir, ref->name) : dir;
		s.common = s.opened = open_dir(home->common);
	} else if (below(path, home->common) && strcmp(home->own, home->common) != 0 &&
		   ref->kind != REF_HEAD) {
		s.own = open_dir(home->own);
	}
	s.is_home = ref->kind == REF_HEAD && (home->own ? git_is_at(path, home->own, "HEAD")
							: git_is_at(path, home->workspace, ".git/HEAD"));
	return s;
}

void git_store_done(const struct git_store *s, int dir)
{
	if (s->own >= 0 && s->own != dir && s->own != s->opened)
		close(s->own);
	if (s->opened >= 0)
		close(s->opened);
}
