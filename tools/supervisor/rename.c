/*
 * Two names at once: rename, exchange, hard link.  Each end is a request of its own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/buf.h"
#include "policy/path.h"

#include "tools/supervisor/git.h"
#include "tools/supervisor/held.h"
#include "tools/supervisor/notify.h"
#include "tools/supervisor/numbers.h"
#include "tools/supervisor/procfs.h"

#define RENAME_FLAGS (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)

struct two {
	struct naming from, to;
};

/* Both ends, found. */
struct ends {
	struct held *from, *to;
	bool answered; /* somebody was asked about `from`, and allowed it */
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

static bool is_asked(const struct held *h)
{
	return !h->is_free && h->d.verdict == VERDICT_ASK && h->d.reason != REASON_GIT;
}

/*
 * Either both or nothing: what is denied outright is concluded first, so that nobody is asked about the
 * other end for nothing; and who is asked takes his time, so that comes before git's turn.
 */
static int ends_allow(const struct ends *e, struct caller *c)
{
	bool turned = (!e->to->is_free && e->to->d.verdict == VERDICT_DENY) ||
		      (is_asked(e->to) && is_open(e->from, REASON_GIT));
	int r = e->answered ? 0 : held_allow(turned ? e->to : e->from, c);

	return r < 0 ? r : held_allow(turned && !e->answered ? e->from : e->to, c);
}

/* --- what lies in a directory that moves --- */

#define PROJECT_POLICY ".pale/policy.ini"
#define TREE_DEPTH     128

/*
 * The directory of a project with a policy of its own, in the tree at dir/name: 1, and in ret what it is
 * called; 0 where there is none, or -errno.  Nobody moves one into the tree meanwhile, or makes one.
 */
static int find_project(int dir, const char *name, unsigned depth, char ret[LIMIT_PATH])
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	struct stat st;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	if (fstatat(fd, PROJECT_POLICY, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno == EACCES)
		r = procfs_fd_path(fd, ret, LIMIT_PATH) < 0 ? -EACCES : 1;
	while (r == 0 && (e = readdir(d)) != NULL) {
		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		r = depth ? find_project(fd, e->d_name, depth - 1, ret) : -ELOOP;
		/* No directory, or no longer there. */
		if (r == -ENOTDIR || r == -ENOENT)
			r = 0;
	}
	(void)closedir(d);
	return r;
}

/* May what lies there move, if that is a directory?  0, or -errno when it was recorded. */
static int tree_allow(struct caller *c, const struct held *h)
{
	struct decision d = { .verdict = VERDICT_DENY, .reason = REASON_ANCESTOR, .rule = RULE_NONE };
	struct request in = { .op = OP_WRITE, .access = ACCESS_WRITE };
	char found[LIMIT_PATH] UNINITIALIZED, path[LIMIT_PATH] UNINITIALIZED, why[LIMIT_PATH] UNINITIALIZED;
	struct out o = out_of(why, sizeof(why));
	int r;

	if (h->is_free || h->d.verdict == VERDICT_DENY || !S_ISDIR(held_mode(h)))
		return 0;
	if (!caller_may_block(c))
		return -EAGAIN;
	r = find_project(h->fd, h->name, TREE_DEPTH, found);
	if (r == 0)
		return caller_alive(c) ? 0 : -ESRCH;
	if (r > 0 && path_normalise(found, PROJECT_POLICY, path, sizeof(path)) > 0) {
		in.path = path;
		d.rule = verdict_of(c, &in).rule;
	}
	text_str(&o, r > 0 ? found : "what lies in it cannot be looked through");
	text_str(&o, r > 0 ? " is a project with a policy, which its owner moves" : "");
	text_end(&o);
	record_denied(c, &h->req, h->req.path, &d, "", why);
	return -EACCES;
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

/* What the kernel says of both names before it asks for rights (do_renameat2() in fs/namei.c). */
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

/* What moved may be a directory: cached paths of directories end here, in every process.  Asking what
 * it was would cost every rename of a file more than the next look-up costs. */
static void note_move(const struct caller *c)
{
	atomic_fetch_add_explicit(&session_setup(c->sup)->ring->moved, 1, memory_order_release);
}

/*
 * A working directory changes, told before it does: the caller's own hooks look again after it.  Who
 * shares his with another process (CLONE_FS without being its thread) is beyond this, and no script.
 */
struct answer carry_wander(struct caller *c)
{
	atomic_fetch_add_explicit(&session_setup(c->sup)->ring->wandered, 1, memory_order_release);
	return answer_continue();
}

static long rename_ends(struct caller *c, const struct two *row, struct ends *e, int flags)
{
	struct git_move m = { .text = NULL };
	long r = held_entry(e->from, c, &row->from);

	if (r == 0)
		r = held_entry(e->to, c, &row->to);
	if (r == 0)
		r = rename_earlier(e, flags);
	if (r == 0 && e->to->d.verdict != VERDICT_DENY)
		r = tree_allow(c, e->from);
	if (r == 0 && flags & RENAME_EXCHANGE)
		r = tree_allow(c, e->to);
	/* Of an exchange both ends are written, and neither could be looked at in time. */
	if (r == 0 && !(flags & RENAME_EXCHANGE) && is_open(e->to, REASON_GIT)) {
		e->answered = is_asked(e->from);
		r = e->answered ? held_allow(e->from, c) : 0;
		if (r == 0)
			git_move(c, e->from, e->to, &m);
	}
	if (r == 0)
		r = ends_allow(e, c);
	if (r == 0 && m.text)
		r = git_move_do(e->from, e->to, &m);
	else if (r == 0)
		r = call_result(
			renameat2(e->from->fd, e->from->name, e->to->fd, e->to->name, (unsigned)flags));
	if (r == 0)
		note_move(c);
	free(m.text);
	return r;
}

struct answer carry_rename(struct caller *c)
{
	const struct two *row = ROW_OF(renames, c->nr);
	int flags = row ? rename_flags(row, c) : -ENOSYS;
	/* Either end of an exchange goes away and is written; a whiteout is left where the source was. */
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
 * The source is held itself and linked by its magic link, which needs no right that AT_EMPTY_PATH would
 * (open(2) on O_TMPFILE).  An O_TMPFILE inode has no name to be judged by: its new one is.
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
	if (r == 0)
		r = ends_allow(e, c);
	if (r < 0)
		return r;
	self = held_self(e->from);
	return call_result(linkat(AT_FDCWD, self.text, e->to->fd, e->to->name, AT_SYMLINK_FOLLOW));
}

/* A hard link is another name to write through, so its source needs the right to be written. */
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
