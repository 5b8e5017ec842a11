/*
 * The resolver: the lexical path, and the fast way to the place it names.
 *
 * Guarantees: a place is given only as a directory that is held and one name below it.  The fast
 * way is one openat2, which the kernel refuses where any symbolic link is on the way; where it
 * succeeds, the lexical path is the real one.  A path with `..` is the exception, because `..` leads up
 * from where the directory is at that moment.  Everything else takes the slow way (resolve_walk.c).
 * Little stack is used here: a hook runs on the stack of its caller.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "resolve_walk.h"

#define AT_CWD	 (-100) /* AT_FDCWD */
#define MAX_NAME 255

/* Not an answer: the slow way is needed. */
#define SLOWLY 1

/* A path cut into the directory to open and the last component. */
struct split {
	size_t dir;	  /* bytes of the directory's text; 0: the directory where the path starts */
	const char *name; /* in path; NULL: the path itself is a directory (".", "..", "/") */
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
 * Fills ret->given; ret->path is scratch.  0, SLOWLY where the directory where the path starts has no name
 * any more, or -errno.
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

/* Looks at the last component.  0, SLOWLY where it needs the walk (a link, a trailing slash), or -errno. */
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

/* One open of the directory.  0, SLOWLY (a parent may be held, from which the walk starts), or -errno. */
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
		/* EPERM: an outer seccomp filter does not know openat2. */
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

/* The slow way: from the directory that the fast way holds, or else from the start. */
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

	/* Another thread may change the path, which is read more than once. */
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
