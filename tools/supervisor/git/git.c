/*
 * Configuration and hooks of any repository: see git.h.
 *
 * A file is looked up in its directory, which is held by a descriptor.  Between the look and the act no other
 * call of this kind is served (git_turn.c), so no process makes a repository of a directory while another
 * opens the `config` there.
 */
#include "git.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/gitfiles/githook.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/verdict/verdict_answer.h"

enum role {
	ROLE_NONE,
	ROLE_CONFIG,   /* `config` */
	ROLE_WORKTREE, /* `config.worktree`, which nothing else is called */
	ROLE_OBJECTS,  /* what makes a repository of a directory */
	ROLE_HOOKS,    /* the directory */
	ROLE_HOOK,     /* in a directory of that name */
	ROLE_INDEX,    /* what a later checkout writes, and where */
	ROLE_COMMON,   /* `commondir`, which names the repository whose configuration holds */
	ROLE_OWN,
	ROLE_HEAD, /* of the protected branch that the session began on: its file */
	ROLE_REF,  /* below refs of the workspace's repository: it may be a symbolic one */
	ROLE_NOW,  /* HEAD of the workspace's repository: the branch that the next session begins on */
};

static const struct {
	const char *name;
	enum role role;
} roles[] = {
	{ "config", ROLE_CONFIG },   { "config.worktree", ROLE_WORKTREE },
	{ "objects", ROLE_OBJECTS }, { "hooks", ROLE_HOOKS },
	{ "index", ROLE_INDEX },     { "commondir", ROLE_COMMON },
	{ GIT_OWN_COPY, ROLE_OWN },
};

/* The last component but one. */
static bool is_in(const char *path, const char *dir)
{
	const char *last = path_basename(path);
	size_t n = strlen(dir), at = (size_t)(last - path);

	return at > n + 1 && last[-1] == '/' && path[at - n - 2] == '/' && strncmp(last - n - 1, dir, n) == 0;
}

/* git's own hooks have no dot in their names, and what has one is none. */
static bool is_hook_name(const char *name)
{
	return *name && !strchr(name, '.');
}

/* What git keeps there by names that somebody else chooses: a submodule's branch may be called index. */
static bool is_by_any_name(const char *path)
{
	const char *module = strstr(path, "/modules/");

	return module &&
	       (strstr(module, "/refs/") || strstr(module, "/logs/") || strstr(module, "/objects/"));
}

/* A write rule of the operator's own names this file by the directory `hooks`, and not what is far above it.
 */
static bool names_hook(const struct image *img, const struct image_rule *r, const char *path)
{
	const char *pattern = image_str(img, r->pattern);
	char dir[LIMIT_PATH];

	snprintf(dir, sizeof(dir), "%.*s", (int)(path_basename(path) - path), path);
	return r->kind == RULE_FILE_WRITE && r->layer == LAYER_USER && r->rank == RANK_USER &&
	       is_in(pattern, "hooks") && path_is_covered(path, pattern) && !path_is_covered(dir, pattern);
}

/* So for the session around it, too. */
static bool is_own_hook(const struct image *img, const char *path)
{
	const struct image_rule *r = NULL;
	struct image at = *img;

	do {
		for (uint32_t i = 0; (r = image_rule(&at, i)) != NULL && !names_hook(&at, r, path);)
			i++;
	} while (r && image_outer(&at, &at));
	return r != NULL;
}

/* It says what is checked out here, or in a linked worktree. */
static bool is_now(const struct git_home *home, const char *path)
{
	size_t n = home->common ? strlen(home->common) : 0;

	return git_is_at(path, home->own, "HEAD") ||
	       (n > 0 && strncmp(path, home->common, n) == 0 && strncmp(path + n, "/worktrees/", 11) == 0 &&
		strcmp(path_basename(path), "HEAD") == 0 &&
		strchr(path + n + 11, '/') == path_basename(path) - 1);
}

static enum role role_of(const struct caller *c, const char *path)
{
	bool is_ref = git_is_ref(&session_setup(c->sup)->git, path);
	const char *name = path_basename(path);

	if (git_is_head(&session_setup(c->sup)->git, &c->image, path))
		return ROLE_HEAD;
	if (is_now(&session_setup(c->sup)->git, path))
		return ROLE_NOW;
	if (strcmp(name, "index") == 0 && is_by_any_name(path))
		return ROLE_NONE;
	if (is_in(path, "hooks") && is_hook_name(name))
		return is_own_hook(&c->image, path) ? ROLE_NONE : ROLE_HOOK;
	for (size_t i = 0; i < NELEM(roles); i++)
		if (strcmp(name, roles[i].name) == 0 && !(is_ref && roles[i].role == ROLE_INDEX))
			return roles[i].role;
	return is_ref ? ROLE_REF : ROLE_NONE;
}

/* --- what is around --------------------------------------------------------------------------------- */

static bool exists(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* The directory holds a repository: of all that git asks for this is what one of its parts must have. */
static bool is_repository(int dir)
{
	return exists(dir, "objects");
}

/* git may read an index here: the directory holds a repository, or says which one it belongs to. */
static bool has_index(int dir)
{
	return is_repository(dir) || exists(dir, "commondir");
}

/* Hooks among the names of a directory; what cannot be looked at counts as one. */
static bool has_hooks(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	bool found = false;

	if (!d) {
		found = errno != ENOENT;
		if (fd >= 0)
			close(fd);
		return found;
	}
	while (!found && (e = readdir(d)) != NULL)
		found = is_hook_name(e->d_name);
	closedir(d);
	return found;
}

/*
 * The directory that the name of req is in, held for this: *ret_owned says whether it is to be closed.
 * Where the call held the object itself, its parent is one that has it under this name now.
 */
static int directory_of(const struct caller *c, const struct request *req, bool *ret_owned)
{
	const struct git_at *at = c->at;
	char dir[LIMIT_PATH];
	struct stat here, held;
	int fd;

	*ret_owned = false;
	if (at && at->dir != -1 && at->object < 0)
		return at->dir;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(path_basename(req->path) - req->path), req->path);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	*ret_owned = true;
	if (!at || at->object < 0)
		return fd;
	if (fstat(at->object, &held) == 0 &&
	    fstatat(fd, path_basename(req->path), &here, AT_SYMLINK_NOFOLLOW) == 0 &&
	    here.st_ino == held.st_ino && here.st_dev == held.st_dev)
		return fd;
	close(fd);
	*ret_owned = false;
	return -ESTALE;
}

/* --- what may be ------------------------------------------------------------------------------------ */

static bool deny(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return false;
}

/* What stands there is git-lfs's, or nothing. */
static bool is_lfs_hook(int dir, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	mode_t mode;
	int r = git_file_read(dir, name, GITCONFIG_MAX, &text, &len, &mode);

	return r == -ENOENT || (r == 0 && githook_is_lfs(name, text, len));
}

/* Its neighbours become a repository's: what stands in `config` is judged, and put there anew. */
static bool may_be_repository(const struct image *img, int dir, const char *path, char *why, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char config[LIMIT_PATH];
	size_t len = 0;
	mode_t mode = 0;
	struct stat st;
	int r;

	if (has_hooks(dir, "hooks"))
		return deny(why, size,
			    "a directory `hooks` lies beside it, and git would run what is in there: move it "
			    "away first");
	if (exists(dir, "commondir"))
		return deny(why, size, "`commondir` beside it names another repository");
	if (!git_index_renew(dir, why, size))
		return false;
	if (fstatat(dir, "config", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || deny(why, size, "`config` beside it cannot be looked at");
	/* git reads no directory. */
	if (S_ISDIR(st.st_mode))
		return true;
	r = git_file_read(dir, "config", GITCONFIG_MAX, &text, &len, &mode);
	snprintf(config, sizeof(config), "%.*sconfig", (int)(path_basename(path) - path), path);
	if (r < 0)
		return deny(why, size, "`config` beside it is no file that can be judged");
	if (!git_config_allows(img, NULL, 0, text, len, config, why, size))
		return false;
	return git_file_install(dir, "config", text, len, mode) == 0 ||
	       deny(why, size, "`config` beside it cannot be rewritten");
}

/* What changes nothing of what git reads there. */
static bool is_harmless_op(const struct request *req)
{
	bool aside = req->op == OP_UNIX || req->op == OP_UTIME || req->op == OP_CHOWN || req->op == OP_XATTR;

	return aside || !(req->access & ACCESS_WRITE);
}

#define IN_PLACE                                                                                             \
	"pale cannot judge a write in place in time: use `git config KEY VALUE`, or rename a new file to it"

#define BY_GIT "only git may write it, as a new file: use a git command"

#define SHARED                                                                                               \
	"the whole repository uses it: only git may change it, as a new file, and only for unprotected "     \
	"branches"

static bool may(const struct image *img, const struct request *req, enum role role, int dir, char *why,
		size_t size)
{
	if (dir < 0 && dir != AT_FDCWD)
		return deny(why, size, "its directory changed while the call was judged: try again");
	switch (role) {
	case ROLE_CONFIG:
		return req->op == OP_CHMOD || req->op == OP_MKDIR || !is_repository(dir) ||
		       deny(why, size, IN_PLACE);
	case ROLE_WORKTREE:
		return req->op == OP_CHMOD || req->op == OP_MKDIR || deny(why, size, IN_PLACE);
	case ROLE_OBJECTS:
		return req->op == OP_CHMOD || may_be_repository(img, dir, req->path, why, size);
	case ROLE_HOOKS:
		return req->op == OP_MKDIR || req->op == OP_CHMOD || !is_repository(dir) ||
		       deny(why, size, "a repository's hooks run later as the operator");
	case ROLE_HOOK: {
		_cleanup_close_ int above = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		return req->op == OP_MKDIR || (above >= 0 && !is_repository(above)) ||
		       (req->op == OP_CHMOD && is_lfs_hook(dir, path_basename(req->path))) ||
		       deny(why, size, GIT_A_HOOK);
	}
	case ROLE_COMMON:
		return req->op == OP_CHMOD || req->op == OP_MKDIR ||
		       !(exists(dir, "index") || is_repository(dir)) ||
		       deny(why, size, "git would read the index beside it as that of another repository");
	case ROLE_INDEX:
		return req->op == OP_CHMOD || req->op == OP_MKDIR || !has_index(dir) ||
		       deny(why, size, BY_GIT);
	/* Without the right to read it the branch is lost to git. */
	case ROLE_HEAD:
		return req->op == OP_MKDIR || deny(why, size, BY_GIT);
	case ROLE_REF:
	case ROLE_NOW:
		return req->op == OP_CHMOD || req->op == OP_MKDIR || deny(why, size, BY_GIT);
	case ROLE_OWN:
		return deny(why, size, "it belongs to pale");
	case ROLE_NONE:
		break;
	}
	return true;
}

/* The first allowance takes the turn; one for the other end of a rename has it already. */
static void take_turn(struct caller *c)
{
	if (git_take_turn(c))
		git_late_finish(c->sup);
}

static void settle(struct decision *d, bool allowed)
{
	d->verdict = allowed ? VERDICT_ALLOW : VERDICT_DENY;
}

/* A file that only its text tells about: it is judged when that is there. */
static bool is_late(struct caller *c, const struct request *req, enum role role, const struct decision *d)
{
	bool in_place = role == ROLE_INDEX || role == ROLE_NOW || role == ROLE_REF || role == ROLE_CONFIG ||
			role == ROLE_WORKTREE || role == ROLE_COMMON;
	bool has_text = in_place || (role == ROLE_HOOK && githook_is_lfs_name(path_basename(req->path)));

	c->git_late_new = has_text && c->at && c->at->is_new;
	c->git_late = c->git_late_new || (in_place && req->op == OP_WRITE && c->at && c->at->is_open);
	c->git_late_rule = d->rule;
	return c->git_late;
}

/* The workspace's own hooks stay, but for those of git-lfs, which rules leave to this. */
static bool may_go(const struct git_home *home, const struct request *req, int dir, char *why, size_t size)
{
	size_t n = strlen(home->workspace);
	bool is_own = strncmp(req->path, home->workspace, n) == 0 &&
		      strncmp(req->path + n, "/.git/hooks/", strlen("/.git/hooks/")) == 0;

	return !is_own || !(req->access & ACCESS_DELETE) || is_lfs_hook(dir, path_basename(req->path)) ||
	       deny(why, size, GIT_A_HOOK);
}

/* Where it is gone, nothing tells that `config` beside it is git's: it stays in the workspace's repository.
 */
static bool takes_objects(const struct git_home *home, const struct request *req)
{
	return req->access & ACCESS_DELETE &&
	       (git_is_at(req->path, home->own, "objects") || git_is_at(req->path, home->common, "objects") ||
		git_is_at(req->path, home->workspace, ".git/objects"));
}

static bool may_all(struct caller *c, const struct request *req, const struct decision *d, int dir, char *why,
		    size_t size)
{
	const struct git_home *home = &session_setup(c->sup)->git;
	enum role role = role_of(c, req->path);
	bool plain = role != ROLE_OWN && is_harmless_op(req);

	if (git_is_shared(&c->image, req->path))
		return deny(why, size, SHARED);
	if (takes_objects(home, req))
		return deny(why, size,
			    "removing or moving `objects` would end the protection of this repository's "
			    "configuration and hooks");
	if (!plain && !may(&c->image, req, role, dir, why, size) && !is_late(c, req, role, d))
		return false;
	return role != ROLE_HOOK || may_go(home, req, dir, why, size);
}

/* Nothing of it needs a look. */
static bool is_nothing(const struct caller *c, const struct request *req)
{
	enum role role = role_of(c, req->path);
	bool goes = (role == ROLE_HOOK || role == ROLE_OBJECTS) && req->access & ACCESS_DELETE;

	return role != ROLE_OWN && !goes && is_harmless_op(req) && !git_is_shared(&c->image, req->path);
}

void git_guard(struct caller *c, const struct request *req, struct decision *d, struct verdict_answer *a)
{
	bool owned, allowed;
	int dir;

	a->text[0] = '\0';
	if (is_nothing(c, req)) {
		settle(d, true);
		return;
	}
	take_turn(c);
	dir = directory_of(c, req, &owned);
	allowed = may_all(c, req, d, dir, a->text, sizeof(a->text));
	settle(d, allowed);
	if (owned)
		close(dir);
	if (!allowed)
		git_release(c);
}

/* --- rename ------------------------------------------------------------------------------------------- */

/* What is to be put in place, once and for all. */
static bool read_moved(const struct held *from, size_t max, struct git_move *m, char *why, size_t size)
{
	return git_file_read(from->fd, from->name, max, &m->text, &m->len, &m->mode) == 0 ||
	       deny(why, size, "what would take its place is no file that can be judged");
}

/* A configuration takes the place of what stands there. */
static bool may_replace(const struct git_home *home, const struct image *img, const struct held *from,
			const struct held *to, struct git_move *m, char *why, size_t size)
{
	_cleanup_free_ char *before = NULL;
	size_t before_len = 0;
	mode_t mode = 0;
	int r;

	if (!read_moved(from, GITCONFIG_MAX, m, why, size))
		return false;
	r = git_file_read(to->fd, to->name, GITCONFIG_MAX, &before, &before_len, &mode);
	if (!git_config_allows(img, before, before_len, m->text, m->len, to->req.path, why, size) ||
	    !git_index_fits(to->fd, before, before_len, m->text, m->len, why, size) ||
	    !git_own_allows(home, img, to->req.path, before, before_len, m->text, m->len, why, size))
		return false;
	if (!git_is_shared(img, to->req.path))
		return true;
	/* Its mode is the operator's, too. */
	m->mode = mode;
	return r == 0 || deny(why, size, SHARED);
}

static bool may_move(struct caller *c, enum role role, const struct held *from, const struct held *to,
		     struct git_move *m)
{
	const struct git_home *home = &session_setup(c->sup)->git;
	const struct image *img = &c->image;
	bool is_dir = S_ISDIR(held_mode(from));
	bool is_config = role == ROLE_WORKTREE || (role == ROLE_CONFIG && is_repository(to->fd));
	char *why = c->git_why;
	size_t size = sizeof(c->git_why);

	if (is_config)
		return (is_dir && !git_is_shared(img, to->req.path)) ||
		       may_replace(home, img, from, to, m, why, size);
	/* git runs no directory. */
	if (is_dir && (role == ROLE_HOOK || (role == ROLE_HOOKS && !has_hooks(from->fd, from->name))))
		return true;
	if (role == ROLE_NOW)
		return read_moved(from, GITCONFIG_MAX, m, why, size) &&
		       git_now_may_be(img, m->text, why, size);
	if (role == ROLE_REF)
		return read_moved(from, GITCONFIG_MAX, m, why, size) &&
		       git_ref_may_be(img, m->text, why, size);
	if (role == ROLE_INDEX && has_index(to->fd))
		return read_moved(from, GIT_INDEX_MAX, m, why, size) &&
		       git_index_may_be(to->fd, m->text, m->len, why, size);
	if (role == ROLE_COMMON && !is_dir)
		return read_moved(from, GITCONFIG_MAX, m, why, size) &&
		       git_common_may_be(to->fd, m->text, why, size);
	return may(img, &to->req, role, to->fd, why, size);
}

static enum verdict move_verdict(struct caller *c, const struct held *from, const struct held *to,
				 struct git_move *m)
{
	enum role role = role_of(c, to->req.path);
	char *why = c->git_why;
	size_t size = sizeof(c->git_why);

	if (role != ROLE_HEAD)
		return may_move(c, role, from, to, m) ? VERDICT_ALLOW : VERDICT_DENY;
	return read_moved(from, GITCONFIG_MAX, m, why, size) ? git_head_may_be(c, m->text, m->len, why, size)
							     : VERDICT_DENY;
}

void git_move(struct caller *c, const struct held *from, struct held *to, struct git_move *m)
{
	take_turn(c);
	to->d.verdict = move_verdict(c, from, to, m);
	/* The operator is asked about the branch, as of any other thing that nobody can tell. */
	if (to->d.verdict == VERDICT_ASK) {
		to->d.reason = REASON_TRUNK;
		/* Another commit is another question. */
		held_does(to, c, AIM_UNKNOWN "%s, from %s", c->git_why, from->req.path);
	}
	if (to->d.verdict == VERDICT_ASK && c->image.h->approvals != APPROVALS_ASK)
		to->d = (struct decision){ VERDICT_DENY, REASON_GIT, to->d.rule, to->d.nested };
	if (to->d.verdict != VERDICT_ALLOW)
		git_release(c);
}

long git_move_do(const struct held *from, const struct held *to, const struct git_move *m)
{
	struct stat st;
	bool has_time = fstatat(from->fd, from->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int r = git_file_install(to->fd, to->name, m->text, m->len, m->mode);

	/* git takes a file of its index for unchanged where it is older than that. */
	if (r == 0 && has_time)
		(void)utimensat(to->fd, to->name, (struct timespec[]){ st.st_atim, st.st_mtim },
				AT_SYMLINK_NOFOLLOW);
	if (r == 0 && unlinkat(from->fd, from->name, 0) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}
