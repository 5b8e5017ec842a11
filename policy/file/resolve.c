/*
 * The resolver: the lexical path, and the fast way to the place it names.
 *
 * Guarantees: a place is given only as a directory that is held and one name below it.  The fast
 * way is one openat2 that the kernel refuses where any symbolic link is on the way: where it
 * succeeds the lexical path was the real one.  Only `..` is believed to nobody but the kernel: it
 * goes up from where the directory is by then.  Everything else takes the slow way
 * (resolve_walk.c).  No stack to speak of here: a hook runs on its caller's.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "resolve_walk.h"

#define AT_CWD	 (-100) /* AT_FDCWD */
#define MAX_NAME 255

/* Not an answer: the walk has to find out. */
#define SLOWLY 1

/* A path cut into the directory to open and the last component. */
struct split {
	size_t dir;	  /* bytes of the directory's text; 0: the directory the path starts from */
	const char *name; /* in path; NULL: the path is a directory itself (".", "..", "/") */
	size_t name_len;
	bool trailing;
};

static struct split split_path(const char *path, size_t len)
{
	struct split s = { .name = NULL };
	size_t end = len, start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	s.name_len = end - start;
	if (s.name_len == 0 || (s.name_len <= 2 && path[start] == '.' && path[end - 1] == '.')) {
		s.dir = len;
		return s;
	}
	s.dir = start;
	s.name = path + start;
	s.trailing = end < len;
	return s;
}

/*
 * Fills ret->given; ret->path is scratch.  0, SLOWLY where the directory the path starts from has
 * no name any more, or -errno.
 */
static int lexical(const struct resolve_sys *sys, int dirfd, const char *path, struct resolved *ret)
{
	int n;

	ret->path[0] = '/';
	ret->path[1] = '\0';
	if (path[0] != '/') {
		if (dirfd == AT_CWD)
			n = sys->cwd_path(ret->path, LIMIT_PATH);
		else
			n = dirfd < 0 ? -EBADF : sys->fd_path(dirfd, ret->path, LIMIT_PATH);
		if (n == -ENOENT && dirfd != AT_CWD)
			return -EBADF;
		if (n < 0 && n != -ENOENT)
			return n;
		if (n < 0 || ret->path[0] == '(' || resolve_says_deleted(ret->path))
			return SLOWLY;
		if (ret->path[0] != '/')
			return -ENOTDIR;
	}
	n = path_normalise(ret->path, path, ret->given, LIMIT_PATH);
	return n < 0 ? n : 0;
}

/* Nothing can be said about the last component without a look that only the walk takes. */
static int look_at_last(const struct resolve_sys *sys, const struct split *s, enum resolve_follow follow,
			struct resolved *ret)
{
	int n;

	ret->exists_unknown = follow != RESOLVE_FOLLOW_LAST;
	if (s->trailing)
		return SLOWLY;
	if (ret->exists_unknown)
		return 0;
	n = sys->readlinkat(ret->parent, ret->name, ret->path, LIMIT_PATH);
	if (n >= 0)
		return SLOWLY;
	return n == -EINVAL || n == -ENOENT ? 0 : n;
}

/* One open of the directory.  0, SLOWLY (a parent may be held to walk on from), or -errno. */
static int fast(const struct resolve_sys *sys, int dirfd, const char *path, const struct split *s,
		struct resolved *ret)
{
	int fd;

	if (s->name_len > MAX_NAME)
		return SLOWLY;
	ret->parent = dirfd;
	if (s->dir > 0) {
		memcpy(ret->path, path, s->dir);
		ret->path[s->dir] = '\0';
		fd = sys->open_path(dirfd, ret->path, true, true, false);
		/* EPERM: a filter around us that does not know openat2. */
		if (fd == -ELOOP || fd == -ENOSYS || fd == -EPERM)
			return SLOWLY;
		if (fd < 0)
			return fd;
		ret->parent = fd;
		ret->parent_owned = true;
	}
	memcpy(ret->name, s->name ? s->name : ".", s->name ? s->name_len : 1);
	ret->name[s->name ? s->name_len : 1] = '\0';
	return 0;
}

/* What the fast way leaves over: from the directory it holds, or from the start. */
static int slow(const struct resolve_sys *sys, int dirfd, const char *path, const struct split *s,
		enum resolve_follow follow, struct resolved *ret)
{
	bool held = ret->parent_owned;
	int start = held ? ret->parent : dirfd;
	int r;

	ret->parent_owned = false;
	if (held)
		path = s->name ? s->name : ".";
	r = resolve_walk(sys, start, held, path, follow, ret);
	if (r < 0)
		return r;
	if (ret->given[0] == '\0')
		strcpy(ret->given, ret->path);
	ret->same = strcmp(ret->given, ret->path) == 0;
	return 0;
}

int resolve(const struct resolve_sys *sys, int dirfd, const char *path, enum resolve_follow follow,
	    struct resolved *ret)
{
	size_t len = strnlen(path, LIMIT_PATH);
	struct split s;
	int r;

	ret->parent = -1;
	ret->magic_fd = -1;
	ret->parent_owned = ret->exists_unknown = ret->same = ret->trailing_slash = ret->magic = false;
	ret->given[0] = ret->name[0] = '\0';
	if (len == 0)
		return -ENOENT;
	if (len >= LIMIT_PATH)
		return -ENAMETOOLONG;

	/* It may be changed under us, and is looked at more than once. */
	memcpy(ret->words, path, len);
	ret->words[len] = '\0';
	path = ret->words;
	s = split_path(path, len);
	r = lexical(sys, dirfd, path, ret);
	if (r == 0)
		r = fast(sys, dirfd, path, &s, ret);
	/* A directory moved up while the kernel walked `w/a/b/c/../../../x` leads out of w. */
	if (r == 0 && path_has_dotdot(path))
		r = SLOWLY;
	if (r == 0 && s.name)
		r = look_at_last(sys, &s, follow, ret);
	if (r == SLOWLY)
		r = slow(sys, dirfd, path, &s, follow, ret);
	else if (r == 0) {
		strcpy(ret->path, ret->given);
		ret->same = true;
	}
	if (r < 0)
		resolved_done(sys, ret);
	return r;
}

void resolved_done(const struct resolve_sys *sys, struct resolved *r)
{
	if (r->parent_owned)
		sys->close(r->parent);
	r->parent_owned = false;
	r->parent = -1;
}
