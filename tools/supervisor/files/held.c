/*
 * Holding what a call names: the near way, the far way, and descriptors.
 *
 * Guarantees: the path that is judged is the one that the kernel itself gives for the held object; a magic
 * link is followed once, by the kernel, and the object that it leads to is judged.  May block on a slow
 * file system only.
 */
#include "held.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/open/open.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

/* Not a result: the resolver has to be used. */
#define GO_FAR 1

const void *row_of(const void *list, size_t n, size_t size, int nr)
{
	for (const char *row = list; n > 0; row += size, n--)
		if (((const struct naming *)row)->nr == nr)
			return row;
	return NULL;
}

int naming_flags(const struct naming *n, const struct caller *c)
{
	unsigned flags = n->flags == NO_ARG ? 0 : (unsigned)c->arg[n->flags];

	return flags & ~n->known ? -EINVAL : (int)(flags | n->fixed);
}

static int naming_dirfd(const struct naming *n, const struct caller *c)
{
	return n->dirfd == NO_ARG ? AT_FDCWD : (int)c->arg[n->dirfd];
}

struct held *held_new(struct caller *c, enum op op, unsigned access)
{
	struct held *h = caller_scratch(c, sizeof *h);

	if (!h)
		return NULL;
	h->req = (struct request){ .op = op, .access = access };
	h->d = (struct decision){ .verdict = VERDICT_DENY, .reason = REASON_MALFORMED, .rule = RULE_NONE };
	h->place.base = h->place.r.parent = h->fd = -1;
	h->place.r.parent_owned = h->is_far = h->is_free = h->owned = false;
	h->name = NULL;
	h->seen = (struct held_seen){ .is_noted = false };
	return h;
}

void held_done(struct held *h)
{
	if (!h)
		return;
	if (h->owned)
		(void)close(h->fd);
	h->owned = false;
	place_done(&h->place);
}

/* --- the near way ------------------------------------------------------------------------------- */

/* Holds the start of the path.  0 where the path as written is plainly allowed, GO_FAR, or -errno. */
static int judge_near(struct held *h, struct caller *c)
{
	int base = place_base(&h->place, c);

	if (base < 0 && base != AT_FDCWD)
		return base;
	/* Only the far way checks to which process a directory of procfs belongs. */
	if (place_lexical(&h->place, c, h->text, sizeof h->text) < 0 || path_is_under(h->text, "/proc"))
		return GO_FAR;
	h->req.path = h->text;
	h->d = verdict_of(c, &h->req);
	return h->d.verdict == VERDICT_ALLOW ? 0 : GO_FAR;
}

/* Opens path with O_PATH, unless a symbolic link is on the way.  GO_FAR, 0 with a descriptor in *ret, or
 * the kernel's error. */
static int open_near(int base, const char *path, int flags, int *ret)
{
	struct open_how how = { .flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, base, path, &how, sizeof how);

	if (fd < 0)
		return errno == ELOOP || errno == EAGAIN ? GO_FAR : -errno;
	*ret = (int)fd;
	return 0;
}

/* The last component of path where it is an ordinary name, else NULL ("", "x/", ".", "a/.."). */
static const char *plain_last(const char *path)
{
	const char *last = path_basename(path);

	return *last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 ? NULL : last;
}

static int entry_near(struct held *h, struct caller *c)
{
	const char *last = plain_last(h->place.raw);
	size_t n = last ? (size_t)(last - h->place.raw) : 0;
	int r = last ? judge_near(h, c) : GO_FAR;

	if (r != 0)
		return r;
	h->name = last;
	h->fd = h->place.base;
	if (n == 0)
		return 0;
	/* place.r is not used yet. */
	memcpy(h->place.r.work, h->place.raw, n);
	h->place.r.work[n] = '\0';
	r = open_near(h->place.base, h->place.r.work, O_DIRECTORY, &h->fd);
	h->owned = r == 0;
	return r;
}

static int object_near(struct held *h, struct caller *c, int nofollow)
{
	int r = judge_near(h, c);

	if (r != 0)
		return r;
	r = open_near(h->place.base, h->place.raw, nofollow, &h->fd);
	h->owned = r == 0;
	return r;
}

/* --- the far way -------------------------------------------------------------------------------- */

static int resolve_far(struct held *h, struct caller *c, enum resolve_follow follow)
{
	int e = place_resolve(&h->place, c, follow);

	h->is_far = e == 0;
	if (e == -EACCES && h->place.foreign) {
		h->req.path = h->place.raw;
		verdict_refuse(c, &h->req, h->place.raw, REASON_PROCESS);
		return -ENOENT;
	}
	return e;
}

static void judge_far(struct held *h, struct caller *c)
{
	struct resolved *r = &h->place.r;
	/* The spelling of a magic link, or of a path through one, does not tell where it leads. */
	bool is_silent = r->same || r->magic || (h->place.crossed && path_is_under(r->given, "/proc"));

	h->req.path = r->magic ? h->text : r->path;
	h->req.given = is_silent ? NULL : r->given;
	h->d = verdict_of(c, &h->req);
}

/*
 * The last component of a path that names a directory itself: "..", "." or "/".  No call makes, removes or
 * renames such an entry, and each call has its own error for each of the three, so the kernel gets it as it
 * is.
 */
static const char *special_last(const char *path)
{
	size_t end = strlen(path);

	while (end > 0 && path[end - 1] == '/')
		end--;
	if (end == 0)
		return "/";
	return end > 1 && path[end - 2] == '.' ? ".." : ".";
}

static int entry_far(struct held *h, struct caller *c)
{
	struct resolved *r = &h->place.r;
	int e = resolve_far(h, c, RESOLVE_ENTRY_LAST);

	if (e < 0)
		return e;
	h->fd = r->parent;
	h->is_free = strcmp(r->name, ".") == 0;
	h->name = h->is_free ? special_last(h->place.raw) : r->name;
	if (!h->is_free)
		judge_far(h, c);
	return 0;
}

/* Reads the path that the kernel has for the object: 0 or -errno. */
static int read_text(struct held *h)
{
	struct self_path self = held_self(h);
	ssize_t n = readlink(self.text, h->text, sizeof h->text);

	if (n < 0)
		return -errno;
	if (n >= (ssize_t)sizeof h->text)
		return -ENAMETOOLONG;
	h->text[n] = '\0';
	return 0;
}

/* 1 where there is nothing to judge: the object has no name, or it is a pipe, a socket or the like. */
static int has_no_name(struct held *h)
{
	struct stat st;
	int r = read_text(h);

	if (r < 0)
		return r;
	if (fstat(h->fd, &st) < 0)
		return -errno;
	return st.st_nlink == 0 || h->text[0] != '/';
}

static int object_far(struct held *h, struct caller *c, int nofollow)
{
	struct resolved *r = &h->place.r;
	int e = resolve_far(h, c, nofollow ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST);
	int flags = O_PATH | O_CLOEXEC | (r->trailing_slash ? O_DIRECTORY : 0);

	if (e < 0)
		return e;
	/* If a symbolic link has replaced the resolved object, the link itself is held and judged at this
	 * path. */
	h->fd = openat(r->parent, r->name, flags | (r->magic ? 0 : O_NOFOLLOW));
	h->owned = h->fd >= 0;
	if (!h->owned)
		return -errno;
	e = r->magic ? has_no_name(h) : 0;
	if (e < 0)
		return e;
	h->is_free = e > 0;
	if (!h->is_free)
		judge_far(h, c);
	return 0;
}

/* --- descriptors -------------------------------------------------------------------------------- */

enum descriptor { DESCRIPTOR_OPEN, DESCRIPTOR_ANY /* O_PATH too */ };

static bool is_writable(int flags)
{
	return !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/*
 * The object is judged by its path.  A descriptor that is open for writing was judged when it was opened, so
 * a question is not asked again, and setting times is part of writing.  But such a descriptor may be a
 * redirection that the operator made: the session must not change the owner, mode and attributes of that
 * file.  A new hard link gives more than the descriptor does: it outlives the session, and the file can be
 * read by it.
 */
static int object_by_descriptor(struct held *h, struct caller *c, int fd, enum descriptor kind)
{
	int flags, r;

	h->fd = caller_fd(c, fd);
	if (h->fd < 0)
		return h->fd;
	h->owned = true;
	flags = fcntl(h->fd, F_GETFL);
	if (flags < 0)
		return -errno;
	if (flags & O_PATH && kind == DESCRIPTOR_OPEN)
		return -EBADF;
	h->is_free = h->req.op == OP_UTIME && is_writable(flags);
	if (h->is_free)
		return 0;
	r = has_no_name(h);
	if (r < 0)
		return r;
	h->is_free = r > 0;
	h->req.path = h->text;
	if (h->is_free)
		return 0;
	h->d = verdict_of(c, &h->req);
	h->is_free = h->req.op != OP_LINK && h->d.verdict == VERDICT_ASK && is_writable(flags);
	return 0;
}

/* With AT_EMPTY_PATH: the path is read first, since the descriptor need not be a directory. */
static int object_or_empty(struct held *h, struct caller *c, const struct naming *n, int *ret_empty)
{
	int dirfd = naming_dirfd(n, c);
	uint64_t path = c->arg[n->path];
	int len = n->opened && path == 0 ? 0 : caller_string(c, path, h->text, sizeof h->text);

	*ret_empty = len == 0;
	if (len < 0)
		return len;
	if (len > 0)
		return place_from(&h->place, dirfd, h->text);
	if (dirfd == AT_FDCWD) {
		*ret_empty = 0;
		return place_from(&h->place, dirfd, ".");
	}
	return object_by_descriptor(h, c, dirfd, n->opened ? DESCRIPTOR_OPEN : DESCRIPTOR_ANY);
}

/* --- both --------------------------------------------------------------------------------------- */

int held_entry(struct held *h, struct caller *c, const struct naming *n)
{
	int r = place_read(&h->place, c, naming_dirfd(n, c), c->arg[n->path]);

	if (r < 0)
		return r;
	if (h->place.raw[0] == '\0')
		return -ENOENT;
	h->req.raw = h->place.raw;
	r = entry_near(h, c);
	return r == GO_FAR ? entry_far(h, c) : r;
}

int held_object(struct held *h, struct caller *c, const struct naming *n, unsigned flags)
{
	int nofollow = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
	int r, empty = 0;

	if (n->path == NO_ARG)
		return object_by_descriptor(h, c, naming_dirfd(n, c), DESCRIPTOR_OPEN);
	if (flags & AT_EMPTY_PATH)
		r = object_or_empty(h, c, n, &empty);
	else
		r = place_read(&h->place, c, naming_dirfd(n, c), c->arg[n->path]);
	if (r < 0 || empty)
		return r;
	if (h->place.raw[0] == '\0')
		return -ENOENT;
	h->req.raw = h->place.raw;
	r = object_near(h, c, nofollow);
	return r == GO_FAR ? object_far(h, c, nofollow) : r;
}

/* Looks up the object at the entry: 0 or -1. */
static int look_at_entry(const struct held *h, struct stat *st)
{
	char name[NAME_MAX + 1];
	size_t n = strlen(h->name);

	/* With a slash at the end the kernel would expect a directory. */
	n -= n > 1 && h->name[n - 1] == '/';
	if (n >= sizeof name)
		return -1;
	memcpy(name, h->name, n);
	name[n] = '\0';
	return fstatat(h->fd, name, st, AT_SYMLINK_NOFOLLOW);
}

unsigned held_mode(const struct held *h)
{
	struct stat st;

	return look_at_entry(h, &st) == 0 ? st.st_mode : 0;
}

/* --- the object that was asked about is the one that is changed ------------------------------------- */

void held_does(struct held *h, struct caller *c, const char *format, ...)
{
	char *text = held_is_asked(h) ? caller_scratch(c, LIMIT_PATH) : NULL;
	va_list ap;
	int n;

	if (!held_is_asked(h))
		return;
	va_start(ap, format);
	n = text ? vsnprintf(text, LIMIT_PATH, format, ap) : -1;
	va_end(ap);
	if (n < 0 || n >= LIMIT_PATH)
		h->d = (struct decision){ VERDICT_DENY, REASON_TOO_LONG, h->d.rule, h->d.nested };
	else
		h->req.aim = text;
}

void held_note(struct held *h)
{
	struct stat st;
	bool is_there = look_at_entry(h, &st) == 0;

	h->seen = (struct held_seen){ true, is_there ? st.st_dev : 0, is_there ? st.st_ino : 0 };
}

/* Only calls that replace or remove an object are checked: for a call that makes one, the kernel reports an
 * entry that exists by now. */
int held_stands(const struct held *h, struct caller *c)
{
	bool replaces = h->req.op == OP_RENAME || h->req.op == OP_DELETE;
	struct stat st;

	if (!h->seen.is_noted || !replaces || look_at_entry(h, &st) < 0 ||
	    (st.st_dev == h->seen.dev && st.st_ino == h->seen.ino))
		return 0;
	verdict_refuse(c, &h->req, h->req.path, REASON_CHANGED);
	return -ESTALE;
}

/* The kernel's error for a name that ends in a slash, and so means a directory. */
static int slash_error(const struct held *h, unsigned mode)
{
	bool makes = h->req.op == OP_SYMLINK || h->req.op == OP_MKNOD || h->req.op == OP_LINK;

	if (!h->name || h->name[strlen(h->name) - 1] != '/')
		return 0;
	if (mode == 0)
		return makes ? -ENOENT : 0;
	return makes || h->req.op == OP_MKDIR ? -EEXIST : S_ISDIR(mode) ? 0 : -ENOTDIR;
}

/* The kernel's own errors come before a denial, and before a question, which would be useless then. */
static int earlier_error(const struct held *h)
{
	int e = h->name ? slash_error(h, held_mode(h)) : 0;

	return e < 0 ? e : verdict_earlier(&h->d, &h->req, &h->place.r);
}

/* A terminal that does not belong to the session: the session may change neither its owner nor its mode,
 * and may not read it. */
static bool is_others_terminal(const struct held *h, struct caller *c)
{
	struct stat st;

	return !h->name && fstat(h->fd, &st) == 0 && S_ISCHR(st.st_mode) && terminal_is(st.st_rdev) &&
	       !terminal_is_mine(st.st_rdev) && !terminal_is_sessions(c, st.st_rdev);
}

int held_allow(struct held *h, struct caller *c)
{
	const struct git_at at = { .dir = h->name ? h->fd : -1, .object = h->name ? -1 : h->fd };
	bool allowed, is_asked;
	int e;

	if (h->is_far && place_is_foreign(&h->place, c)) {
		h->req.path = h->place.r.path;
		verdict_refuse(c, &h->req, h->req.path, REASON_PROCESS);
		return -ENOENT;
	}
	if (is_others_terminal(h, c)) {
		h->req.path = read_text(h) == 0 ? h->text : h->place.raw;
		verdict_refuse(c, &h->req, h->req.path, REASON_PROCESS);
		return -EACCES;
	}
	if (h->is_free)
		return 0;
	e = h->is_far && h->d.verdict != VERDICT_ALLOW ? earlier_error(h) : 0;
	if (e < 0)
		return e;
	is_asked = held_is_asked(h);
	if (is_asked && h->name && !h->seen.is_noted)
		held_note(h);
	c->at = &at;
	allowed = verdict_conclude(c, &h->req, h->req.path, h->d);
	c->at = NULL;
	return !allowed ? -EACCES : is_asked ? held_stands(h, c) : 0;
}

struct self_path held_self(const struct held *h)
{
	struct self_path p;

	(void)snprintf(p.text, sizeof p.text, "/proc/self/fd/%d", h->fd);
	return p;
}
