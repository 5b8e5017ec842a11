/*
 * Two names at once: rename, exchange, hard link.  Each end is a request of its own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/fileop.h"
#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/files/held.h"
#include "tools/supervisor/git/git.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/threads/confined.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/shm.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/numbers.h"

#include "moves.h"

static const struct timespec ever; /* earlier than any birth time */

#define RENAME_FLAGS (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)

struct two {
	struct naming from, to;
};

/* Both ends, found. */
struct ends {
	struct held *from, *to;
	bool answered; /* `from` was asked about, and allowed */
};

static void ends_done(const struct ends *e)
{
	held_done(e->from);
	held_done(e->to);
}

static bool is_settled(const struct held *h)
{
	return h->is_free || h->d.verdict == VERDICT_ALLOW;
}

static bool is_open(const struct held *h, enum reason why)
{
	return !h->is_free && h->d.verdict == VERDICT_ASK && h->d.reason == why;
}

/* The question about each end shows the other end too, and an answer about one covers the objects at
 * both. */
static void ends_ask(const struct ends *e, struct caller *c, const char *from, const char *to)
{
	if (!held_is_asked(e->from) && !held_is_asked(e->to))
		return;
	if (!e->from->is_free && e->from->name)
		held_note(e->from);
	if (!e->to->is_free)
		held_note(e->to);
	held_does(e->from, c, "%s %s", from, e->to->req.path ? e->to->req.path : e->to->place.raw);
	held_does(e->to, c, "%s %s", to, e->from->req.path ? e->from->req.path : "a file without a name");
}

/*
 * Either both ends are allowed or neither: a denied end is concluded first, so that no needless question is
 * asked about the other.  A question takes time, so it is asked before the lock for files that git obeys is
 * taken (git_guard()).
 */
static int ends_allow(const struct ends *e, struct caller *c)
{
	bool turned = (!e->to->is_free && e->to->d.verdict == VERDICT_DENY) ||
		      (held_is_asked(e->to) && is_open(e->from, REASON_GIT));
	int r = e->answered ? 0 : held_allow(turned ? e->to : e->from, c);

	return r < 0 ? r : held_allow(turned && !e->answered ? e->from : e->to, c);
}

/* --- the content of a directory that moves ---------------------------------------------------------- */

#define TREE_DEPTH   128
#define TREE_ENTRIES (1u << 20)

/* An object in the directory, by its present path and by its path after the move. */
struct tree {
	struct caller *c;
	struct decision top; /* on the directory itself: a question about it covers its content */
	struct decision d;   /* the decision that keeps the object in place */
	size_t left;
	char from[LIMIT_PATH], to[LIMIT_PATH];
};

/* True where the object needs no question of its own: the same rule asks about it as about the directory,
 * or it is a file that git obeys, to which each write is judged anyway. */
static bool is_answered(const struct tree *t)
{
	return t->d.verdict == VERDICT_ASK &&
	       (t->d.reason == REASON_GIT || (t->d.rule == t->top.rule && t->d.nested == t->top.nested));
}

/*
 * The rules allow more of the object at its new path; or it is pale's own and must stay.  An object that is
 * not a directory is judged as a link that is made at the new path: .pale is not a directory.
 */
static bool is_kept(struct tree *t, enum op op)
{
	struct request from = { .op = op, .access = ACCESS_ALL, .path = t->from };
	struct request to = { .op = op, .path = t->to };
	enum verdict there;

	if (verdict_of(t->c, &from).verdict == VERDICT_ALLOW)
		return false;
	for (unsigned access = ACCESS_ALL; access; access &= access - 1) {
		from.access = to.access = access & -access;
		there = verdict_of(t->c, &to).verdict;
		t->d = verdict_of(t->c, &from);
		if (!is_answered(t) &&
		    (t->d.reason == REASON_SELF || verdict_strictest(there, t->d.verdict) != there))
			return true;
	}
	return false;
}

static bool append_name(char path[LIMIT_PATH], size_t at, const char *name)
{
	size_t n = strlen(name) + 1;

	if (at + 1 + n > LIMIT_PATH)
		return false;
	path[at] = '/';
	memcpy(path + at + 1, name, n);
	return true;
}

/* 1 where something in the tree at dir/name must stay, and t names it then; 0 where nothing must, or
 * -errno. */
static int find_kept(struct tree *t, int dir, const char *name, unsigned depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	size_t n_from = strlen(t->from), n_to = strlen(t->to);
	const struct dirent *e;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (t->left-- == 0 || !append_name(t->from, n_from, e->d_name) ||
		    !append_name(t->to, n_to, e->d_name))
			r = -E2BIG;
		else if (is_kept(t, e->d_type == DT_DIR ? OP_WRITE : OP_SYMLINK))
			r = 1;
		else if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
			r = depth ? find_kept(t, fd, e->d_name, depth - 1) : -E2BIG;
		/* Not a directory, or gone by now. */
		if (r == -ENOTDIR || r == -ENOENT)
			r = 0;
	}
	if (r == 0 && errno)
		r = -errno;
	(void)closedir(d);
	return r;
}

/* The present path of the entry, even if a directory above it was moved. */
static int path_now(const struct held *h, char path[LIMIT_PATH])
{
	char dir[LIMIT_PATH] UNINITIALIZED;
	int r = procfs_fd_path(h->fd, dir, sizeof(dir));

	return r < 0 ? r : path_normalise(dir, h->name, path, LIMIT_PATH);
}

/* May the content of h, if it is a directory, move to the place of `to`?  0, or -errno after it was
 * recorded. */
static int tree_allow(struct caller *c, const struct held *h, const struct held *to)
{
	struct tree *t;
	char why[2 * LIMIT_PATH] UNINITIALIZED;
	struct out o = out_of(why, sizeof(why));
	const char *is = " cannot be checked (unreadable, too deep, or one entry too many): copy the "
			 "directory, or move its parts";
	int r;

	if (h->is_free || h->d.verdict == VERDICT_DENY || !S_ISDIR(held_mode(h)))
		return 0;
	t = caller_scratch(c, sizeof(*t));
	if (!t || !caller_may_block(c))
		return -EAGAIN;
	*t = (struct tree){ .c = c, .top = h->d, .left = TREE_ENTRIES };
	r = path_now(h, t->from);
	r = r < 0 ? r : path_now(to, t->to);
	r = r < 0 ? r : find_kept(t, h->fd, h->name, TREE_DEPTH);
	if (r == 0)
		return caller_alive(c) ? 0 : -ESRCH;
	if (r > 0)
		is = t->d.reason == REASON_SELF ? " may be moved only by its owner, outside the session"
						: " would be less protected at ";
	else
		t->d = (struct decision){ .rule = RULE_NONE };
	text_str(&o, t->from);
	text_str(&o, is);
	text_str(&o, r > 0 && t->d.reason != REASON_SELF ? t->to : "");
	text_end(&o);
	t->d.verdict = VERDICT_DENY;
	t->d.reason = REASON_ANCESTOR;
	record_denied(c, &h->req, h->req.path, &t->d, "", why);
	return -EACCES;
}

static int trees_allow(struct caller *c, const struct ends *e, int flags)
{
	int r = e->to->d.verdict != VERDICT_DENY ? tree_allow(c, e->from, e->to) : 0;

	return r == 0 && flags & RENAME_EXCHANGE ? tree_allow(c, e->to, e->from) : r;
}

/* For a new name directly in /dev/shm: holds the object, so that it can be noted as made by the session
 * (made.c).  It belongs to the session already, since its old name or the directory that contained it did.
 * -1: another name. */
static int shm_source(const struct ends *e)
{
	return shm_is_entry(e->to->req.path)
		       ? openat(e->from->fd, e->from->name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
		       : -1;
}

/* A question takes time: `seen` is the number of moves when the trees were looked through. */
static long rename_act(struct caller *c, const struct ends *e, int flags, uint64_t seen)
{
	_cleanup_close_ int source = shm_source(e);
	long r = moves_begin(c->sup, seen);

	if (r < 0)
		return r;
	r = r == 0 ? 0 : trees_allow(c, e, flags);
	r = r < 0 ? r : held_stands(e->from, c);
	r = r < 0 ? r : held_stands(e->to, c);
	if (r == 0)
		r = call_result(
			renameat2(e->from->fd, e->from->name, e->to->fd, e->to->name, (unsigned)flags));
	if (r == 0 && source >= 0)
		made_at(c->sup, source, "", &ever);
	moves_end(c->sup, r == 0);
	return r;
}

/* --- rename ------------------------------------------------------------------------------------- */

static const struct two renames[] = {
	{ { __NR_rename, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG },
	  { __NR_rename, .path = 1, .dirfd = NO_ARG } },
	{ { __NR_renameat, .path = 1, .dirfd = 0, .flags = NO_ARG },
	  { __NR_renameat, .path = 3, .dirfd = 2 } },
	{ { __NR_renameat2, .path = 1, .dirfd = 0, .flags = 4, .known = RENAME_FLAGS },
	  { __NR_renameat2, .path = 3, .dirfd = 2 } },
};

static int rename_flags(const struct two *row, const struct caller *c)
{
	int flags = naming_flags(&row->from, c);

	if (flags > 0 && flags & RENAME_EXCHANGE && flags & (RENAME_NOREPLACE | RENAME_WHITEOUT))
		return -EINVAL;
	return flags;
}

/* The kernel's checks of both names that come before it checks rights (do_renameat2() in fs/namei.c). */
static int rename_earlier(const struct ends *e, int flags)
{
	if (is_settled(e->from) && is_settled(e->to))
		return 0;
	if (e->from->is_free || e->to->is_free)
		return flags & RENAME_NOREPLACE && !e->from->is_free ? -EEXIST : -EBUSY;
	if (!held_mode(e->from))
		return -ENOENT;
	if (flags & RENAME_NOREPLACE && held_mode(e->to))
		return -EEXIST;
	return flags & RENAME_EXCHANGE && !held_mode(e->to) ? -ENOENT : 0;
}

/* A directory may have moved, so every process drops its cached paths of directories.  Testing for a
 * directory would cost each rename of a file more than the next look-up costs. */
static void note_move(const struct caller *c)
{
	atomic_fetch_add_explicit(&session_setup(c->sup)->ring->moved, 1, memory_order_release);
}

/*
 * chdir(2) and fchdir(2): counts a change of the working directory before it happens, so that the caller's
 * own hooks look up the directory again afterwards.  A process that shares its directory with the caller, and
 * is not a thread of it (CLONE_FS), is not covered; scripts do not do that.
 */
struct answer carry_wander(struct caller *c)
{
	atomic_fetch_add_explicit(&session_setup(c->sup)->ring->wandered, 1, memory_order_release);
	return answer_continue();
}

/* The supervisor makes the new file itself, so Landlock does not see that it comes from another directory. */
static bool is_refer_unseen(struct caller *c, const struct ends *e)
{
	struct stat from, to;

	return caller_is_confined(c) && (fstat(e->from->fd, &from) < 0 || fstat(e->to->fd, &to) < 0 ||
					 from.st_ino != to.st_ino || from.st_dev != to.st_dev);
}

static long rename_ends(struct caller *c, const struct two *row, struct ends *e, int flags)
{
	struct git_move m = { .text = NULL };
	uint64_t seen = moves_count(c->sup);
	long r = held_entry(e->from, c, &row->from);

	if (r == 0) {
		e->to->req.access |= rename_takes(held_mode(e->from));
		r = held_entry(e->to, c, &row->to);
	}
	if (r == 0)
		r = rename_earlier(e, flags);
	if (r == 0)
		r = trees_allow(c, e, flags);
	if (r == 0)
		ends_ask(e, c, flags & RENAME_EXCHANGE ? "exchanged with" : "to",
			 flags & RENAME_EXCHANGE ? "exchanged with" : "from");
	/* In an exchange both ends are written, and neither could be looked at in time. */
	if (r == 0 && !(flags & RENAME_EXCHANGE) && is_open(e->to, REASON_GIT)) {
		e->answered = held_is_asked(e->from);
		r = e->answered ? held_allow(e->from, c) : 0;
		if (r == 0)
			git_move(c, e->from, e->to, &m);
	}
	if (r == 0)
		r = ends_allow(e, c);
	if (r == 0 && m.text && is_refer_unseen(c, e))
		r = -EXDEV;
	if (r == 0)
		r = caller_enter(c);
	if (r == 0 && m.text)
		r = git_move_do(e->from, e->to, &m);
	else if (r == 0)
		r = rename_act(c, e, flags, seen);
	if (r == 0)
		note_move(c);
	free(m.text);
	return r;
}

struct answer carry_rename(struct caller *c)
{
	const struct two *row = ROW_OF(renames, c->nr);
	int flags = row ? rename_flags(row, c) : -ENOSYS;
	/* Each end of an exchange is removed and written; a whiteout is left at the source. */
	unsigned swap = flags > 0 && flags & RENAME_EXCHANGE ? ACCESS_DELETE | ACCESS_WRITE : 0;
	unsigned left = flags > 0 && flags & RENAME_WHITEOUT ? ACCESS_WRITE : 0;
	struct ends e = { .from = held_new(c, OP_RENAME, ACCESS_DELETE | swap | left),
			  .to = held_new(c, OP_RENAME, ACCESS_WRITE | swap) };
	long r = flags < 0 ? flags : e.from && e.to ? rename_ends(c, row, &e, flags) : -ENOMEM;

	ends_done(&e);
	return answer_result(r);
}

/* --- link --------------------------------------------------------------------------------------- */

static const struct two links[] = {
	{ { __NR_link, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG },
	  { __NR_link, .path = 1, .dirfd = NO_ARG } },
	{ { __NR_linkat, .path = 1, .dirfd = 0, .flags = 4, .known = AT_SYMLINK_FOLLOW | AT_EMPTY_PATH },
	  { __NR_linkat, .path = 3, .dirfd = 2 } },
};

/*
 * The source itself is held, and linked by its magic link, which needs no capability as AT_EMPTY_PATH does
 * (open(2) on O_TMPFILE).  An O_TMPFILE inode has no name yet: its new name is judged.
 */
static long link_ends(struct caller *c, const struct two *row, const struct ends *e, unsigned flags)
{
	unsigned nofollow = flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	struct self_path self;
	long r = held_object(e->from, c, &row->from, nofollow | (flags & AT_EMPTY_PATH));

	if (r == 0)
		r = held_entry(e->to, c, &row->to);
	if (r == 0 && !(is_settled(e->from) && is_settled(e->to)) && (e->to->is_free || held_mode(e->to)))
		r = -EEXIST;
	if (r == 0) {
		ends_ask(e, c, "also as", "the file");
		r = ends_allow(e, c);
	}
	if (r == 0)
		r = caller_enter(c);
	if (r < 0)
		return r;
	self = held_self(e->from);
	r = call_result(linkat(AT_FDCWD, self.text, e->to->fd, e->to->name, AT_SYMLINK_FOLLOW));
	if (r == 0 && shm_is_entry(e->to->req.path))
		made_at(c->sup, e->from->fd, "", &ever);
	return r;
}

/* A hard link is another name through which the file can be written, so its source needs the right to
 * write. */
struct answer carry_link(struct caller *c)
{
	const struct two *row = ROW_OF(links, c->nr);
	int flags = row ? naming_flags(&row->from, c) : -ENOSYS;
	struct ends e = { .from = held_new(c, OP_LINK, ACCESS_WRITE),
			  .to = held_new(c, OP_LINK, ACCESS_WRITE) };
	long r = flags < 0 ? flags : e.from && e.to ? link_ends(c, row, &e, (unsigned)flags) : -ENOMEM;

	ends_done(&e);
	return answer_result(r);
}
