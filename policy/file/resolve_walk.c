/*
 * The slow way of the resolver: one component at a time, each opened below a directory that is held.  If a
 * name is changed during the walk, the walk finds what the name meant before or what it means now, and
 * nothing else.
 *
 * Guarantees: no link is followed that the kernel would not follow; at most two descriptors are open; on
 * failure none is left.  The kernel names the directory that is held, and the real path is that name with
 * the last component after it.
 */
#include <errno.h>
#include <string.h>

#include "resolve_walk.h"

#define AT_CWD	  (-100) /* AT_FDCWD */
#define MAX_LINKS 40	 /* as the kernel's MAXSYMLINKS */
#define MAX_NAME  255

struct walk {
	const struct resolve_sys *sys;
	struct resolved *ret; /* ret->path holds the text of a link while the walk is under way */
	enum resolve_follow follow;
	int cur;
	bool owned;
	unsigned links;
	char *at;   /* the part of rest that is left to walk */
	char *rest; /* ret->work; free for other use once the last component is settled */
};

/* The result of a step when the walk goes on; 0 is arrived, negative is an error. */
#define GO_ON 1

static void walk_leave(struct walk *w)
{
	if (w->owned)
		w->sys->close(w->cur);
	w->owned = false;
}

/* Steps into a directory: 0 or the error. */
static int walk_move(struct walk *w, int dirfd, const char *name, bool nofollow)
{
	int fd = w->sys->open_path(dirfd, name, true, false, nofollow);

	if (fd < 0)
		return fd;
	walk_leave(w);
	w->cur = fd;
	w->owned = true;
	return 0;
}

/*
 * Reads the link dirfd/name into ret->path.  Returns its length, or -errno: -EINVAL where it is not a link,
 * -ELOOP where it is one link too many.
 */
static int walk_read_link(struct walk *w, int dirfd, const char *name)
{
	int n = w->sys->readlinkat(dirfd, name, w->ret->path, LIMIT_PATH);

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOENT;
	if (n >= LIMIT_PATH)
		return -ENAMETOOLONG;
	w->ret->path[n] = '\0';
	if (w->links++ >= MAX_LINKS)
		return -ELOOP;
	return n;
}

/*
 * True where the link just read leads to an object and not to a path.  On procfs that is every link but one
 * with a plain relative text (/proc/self and /proc/mounts are ordinary links).  procfs also has a few
 * ordinary absolute links; for them it makes no difference that the kernel follows them.
 */
static bool walk_is_magic(const struct walk *w)
{
	const char *text = w->ret->path;

	if (text[0] != '/' && text[0] != '(' && !strchr(text, ':'))
		return false;
	return w->sys->is_magic(w->cur) == 1;
}

/* Puts path before what is left to walk. */
static int walk_push(struct walk *w, const char *path, size_t len)
{
	size_t left = strlen(w->at);

	if (len + left >= LIMIT_PATH)
		return -ENAMETOOLONG;
	memmove(w->rest + len, w->at, left + 1);
	memcpy(w->rest, path, len);
	w->at = w->rest;
	return path[0] == '/' ? walk_move(w, AT_CWD, "/", false) : 0;
}

/* True where the directory that the kernel calls "NAME (deleted)" exists under exactly that name. */
static bool walk_is_there(struct walk *w)
{
	int fd = w->sys->open_path(AT_CWD, w->ret->path, true, false, true);
	int n;

	if (fd < 0)
		return false;
	n = w->sys->fd_path(fd, w->rest, LIMIT_PATH);
	w->sys->close(fd);
	return n >= 0 && strcmp(w->rest, w->ret->path) == 0;
}

/* Arrived: cur and name are the place, and ret->path becomes its real path. */
static int walk_arrive(struct walk *w, const char *name)
{
	struct resolved *ret = w->ret;
	bool itself = strcmp(name, ".") == 0;
	size_t dir, len;
	int n;

	n = w->sys->fd_path(w->cur, ret->path, LIMIT_PATH);
	if (n < 0)
		return n;
	if (ret->path[0] != '/')
		return -ENOENT;
	if (!itself && resolve_says_deleted(ret->path) && !walk_is_there(w))
		return -ENOENT;
	len = strlen(name);
	memmove(ret->name, name, len + 1);
	if (!itself) {
		dir = strlen(ret->path);
		dir -= dir == 1;
		len -= name[len - 1] == '/';
		if (dir + 1 + len >= LIMIT_PATH)
			return -ENAMETOOLONG;
		ret->path[dir] = '/';
		memcpy(ret->path + dir + 1, name, len);
		ret->path[dir + 1 + len] = '\0';
	}
	ret->parent = w->cur;
	ret->parent_owned = w->owned;
	return 0;
}

/* Reads a decimal number that `end` follows; -1 where text is anything else. */
static int parse_number(const char *text, char end, const char **ret_next)
{
	int v = 0;

	if (*text == '\0' || *text == end)
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (v > 99999999)
			return -1;
		v = v * 10 + (*text - '0');
	}
	if (*text != end)
		return -1;
	*ret_next = text + (end != '\0');
	return v;
}

/* The number `name` where dir, a real path on procfs, is PID/fd or PID/task/TID/fd of pid; else -1. */
static int magic_number(const char *dir, int pid, const char *name)
{
	const char *p = dir, *next = NULL;

	/* Wherever procfs is mounted, the first component that is a number is the pid. */
	while ((p = strchr(p, '/')) && parse_number(p + 1, '/', &next) < 0)
		p++;
	if (!p || parse_number(p + 1, '/', &next) != pid)
		return -1;
	p = next;
	if (strncmp(p, "task/", 5) == 0 && parse_number(p + 5, '/', &next) >= 0)
		p = next;
	if (strcmp(p, "fd") != 0)
		return -1;
	return parse_number(name, '\0', &next);
}

/* Arrived at a magic link, whose text is in ret->path. */
static int walk_arrive_magic(struct walk *w)
{
	struct resolved *ret = w->ret;
	int n = w->sys->fd_path(w->cur, w->rest, LIMIT_PATH);

	ret->magic = true;
	ret->parent = w->cur;
	ret->parent_owned = w->owned;
	if (n >= 0 && w->sys->own_pid)
		ret->magic_fd = magic_number(w->rest, w->sys->own_pid(), ret->name);
	if (ret->magic_fd < 0)
		return 0;
	/* procfs may belong to another pid namespace, where this pid is another process. */
	n = w->sys->fd_path(ret->magic_fd, w->rest, LIMIT_PATH);
	if (n >= 0 && strcmp(w->rest, ret->path) != 0)
		ret->magic_fd = -1;
	return 0;
}

/*
 * Follows the last component, a link whose text is in ret->path.  An open shows first whether the kernel
 * would follow it: fs.protected_symlinks forbids to follow another user's link in /tmp, and a mount may
 * forbid all links.
 */
static int walk_follow_last(struct walk *w, size_t len)
{
	int fd;

	if (walk_is_magic(w)) {
		if (!w->ret->trailing_slash)
			return walk_arrive_magic(w);
		fd = walk_move(w, w->cur, w->ret->name, false);
		return fd < 0 ? fd : walk_arrive(w, ".");
	}
	fd = w->sys->open_path(w->cur, w->ret->name, false, false, false);
	if (fd >= 0)
		w->sys->close(fd);
	else if (fd == -EACCES || fd == -ELOOP)
		return fd;
	fd = walk_push(w, w->ret->path, len);
	return fd < 0 ? fd : GO_ON;
}

/* Handles the last component, in ret->name; only slashes follow it. */
static int walk_last(struct walk *w)
{
	struct resolved *ret = w->ret;
	size_t len = strlen(ret->name);
	int n;

	ret->trailing_slash = *w->at != '\0';
	ret->exists_unknown = w->follow == RESOLVE_ENTRY_LAST;
	if (w->follow == RESOLVE_ENTRY_LAST && ret->trailing_slash)
		memcpy(ret->name + len, "/", 2);
	if (w->follow == RESOLVE_NOFOLLOW_LAST && !ret->trailing_slash)
		ret->exists_unknown = true;
	if (ret->exists_unknown)
		return walk_arrive(w, ret->name);

	n = walk_read_link(w, w->cur, ret->name);
	if (n >= 0)
		return walk_follow_last(w, (size_t)n);
	if (n != -EINVAL && n != -ENOENT)
		return n;
	if (n == -EINVAL && ret->trailing_slash) {
		n = w->sys->open_path(w->cur, ret->name, true, false, true);
		if (n < 0 && n != -ENOENT)
			return n;
		if (n >= 0)
			w->sys->close(n);
	}
	return walk_arrive(w, ret->name);
}

/* Follows a link in the middle, cur/name, whose text is in ret->path. */
static int walk_follow(struct walk *w, size_t len)
{
	int r;

	if (walk_is_magic(w))
		r = walk_move(w, w->cur, w->ret->name, false);
	else
		r = walk_push(w, w->ret->path, len);
	return r < 0 ? r : GO_ON;
}

/*
 * cur/name was not a directory and, a moment later, not a link: it is a file, or another process replaces
 * it at this moment.  It is opened, because what is held does not change any more.
 */
static int walk_enter_held(struct walk *w)
{
	int fd = w->sys->open_path(w->cur, w->ret->name, false, false, true);
	int n, r;

	if (fd < 0)
		return fd;
	n = walk_read_link(w, fd, "");
	if (n >= 0) {
		w->sys->close(fd);
		return walk_follow(w, (size_t)n);
	}
	/* Not a link: some kernels return ENOENT for the empty name, others EINVAL. */
	if (n != -ENOENT && n != -EINVAL) {
		w->sys->close(fd);
		return n;
	}
	walk_leave(w);
	w->cur = fd;
	w->owned = true;
	r = walk_move(w, fd, ".", true);
	return r < 0 ? r : GO_ON;
}

/* Handles a component in the middle, in ret->name: a directory or a link to one. */
static int walk_enter(struct walk *w)
{
	int r = walk_move(w, w->cur, w->ret->name, true);
	int n;

	if (r == 0)
		return GO_ON;
	if (r != -ENOTDIR && r != -ELOOP)
		return r;
	n = walk_read_link(w, w->cur, w->ret->name);
	if (n == -EINVAL)
		return walk_enter_held(w);
	return n < 0 ? n : walk_follow(w, (size_t)n);
}

/* Takes one component: GO_ON, 0 when arrived, or -errno. */
static int walk_step(struct walk *w)
{
	struct resolved *ret = w->ret;
	size_t len;
	bool last;
	int r;

	w->at += strspn(w->at, "/");
	len = strcspn(w->at, "/");
	if (len == 0)
		return walk_arrive(w, ".");
	if (len > MAX_NAME)
		return -ENAMETOOLONG;
	memcpy(ret->name, w->at, len);
	ret->name[len] = '\0';
	w->at += len;
	last = w->at[strspn(w->at, "/")] == '\0';

	if (strcmp(ret->name, ".") == 0)
		return last ? walk_arrive(w, ".") : GO_ON;
	if (strcmp(ret->name, "..") == 0) {
		r = walk_move(w, w->cur, "..", true);
		if (r < 0)
			return r;
		return last ? walk_arrive(w, ".") : GO_ON;
	}
	return last ? walk_last(w) : walk_enter(w);
}

bool resolve_says_deleted(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path);

	return n >= sizeof(mark) && strcmp(path + n - (sizeof(mark) - 1), mark) == 0;
}

int resolve_walk(const struct resolve_sys *sys, int start, bool start_owned, const char *path,
		 enum resolve_follow follow, struct resolved *ret)
{
	struct walk w;
	int r;

	w.sys = sys;
	w.ret = ret;
	w.follow = follow;
	w.cur = start;
	w.owned = start_owned;
	w.links = 0;
	w.rest = ret->work;
	w.rest[0] = '\0';
	w.at = w.rest;
	r = walk_push(&w, path, strlen(path));
	/* The working directory is held too: another thread may chdir, and a directory that was removed has
	 * no path, but can be opened. */
	if (r == 0 && w.cur == AT_CWD)
		r = walk_move(&w, AT_CWD, ".", true);
	while (r >= 0) {
		r = walk_step(&w);
		if (r != GO_ON)
			break;
	}
	if (r < 0)
		walk_leave(&w);
	return r;
}
