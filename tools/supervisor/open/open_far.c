/*
 * The far way of an open: the place is held, the kernel's own errors about existence come first, then the
 * held object is judged and opened.
 *
 * A place is held in one of two ways: as its parent and a name, opened without following a link; or, where
 * it was reached by a magic link (/proc/PID/fd/N), as the object itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/git/git.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/threads/confined.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/threads/waiters.h"
#include "tools/supervisor/verdict/shm.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/numbers.h"

#include "open.h"

#define ROUNDS 4 /* a link that appears between resolving and opening causes ELOOP: look again */

/* The object that was found. */
struct target {
	int held;	/* the object, else -1 */
	int own_flags;	/* F_GETFL of the caller's own descriptor that led to the object, else -1 */
	struct stat st; /* st_mode 0: the object does not exist */
	char link[PROCFS_LINK_MAX];
	struct spot at;
	bool is_asked; /* asked about, and allowed: by its name in a directory that is held */
};

enum resolve_follow open_follow(const struct opening *o)
{
	if (o->flags & O_NOFOLLOW || (o->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return RESOLVE_NOFOLLOW_LAST;
	return RESOLVE_FOLLOW_LAST;
}

bool open_creates_directory(const struct place *p, const struct opening *o)
{
	size_t end = strlen(p->raw), n = 0;

	if (!(o->flags & O_CREAT) || end == 0 || p->raw[end - 1] != '/')
		return false;
	while (end > 0 && p->raw[end - 1] == '/')
		end--;
	while (n < end && p->raw[end - n - 1] != '/')
		n++;
	return n > 2 || strspn(p->raw + end - n, ".") < n;
}

/*
 * The caller's own descriptor that the magic link means, if any: the number may be that of another process
 * (procfs of another pid namespace), or of another file by now.
 */
static int own_descriptor(struct caller *c, struct place *p)
{
	int fd = p->r.magic_fd < 0 ? -EBADF : caller_fd(c, p->r.magic_fd);

	if (fd < 0)
		return fd;
	if (procfs_fd_path(fd, p->r.work, sizeof(p->r.work)) >= 0 && strcmp(p->r.work, p->r.path) == 0)
		return fd;
	close(fd);
	return -EBADF;
}

/* The object of a magic link is held before it is looked at, since the link may change. */
static int hold_magic(struct caller *c, struct place *p, struct target *t)
{
	int n;

	t->held = own_descriptor(c, p);
	if (t->held >= 0)
		t->own_flags = fcntl(t->held, F_GETFL);
	else
		t->held = openat(p->r.parent, p->r.name, O_PATH | O_CLOEXEC);
	if (t->held < 0 || fstat(t->held, &t->st) < 0)
		return -errno;
	n = procfs_fd_path(t->held, p->r.path, sizeof(p->r.path));
	if (n < 0)
		return n;
	/* Judged by its former name. */
	if (t->st.st_nlink == 0 && resolve_says_deleted(p->r.path))
		*strrchr(p->r.path, ' ') = '\0';
	procfs_own_link(t->held, t->link);
	t->at = (struct spot){ .dirfd = AT_FDCWD, .name = t->link, .st = &t->st };
	return 0;
}

static int find_target(struct caller *c, struct place *p, const struct opening *o, struct target *t)
{
	uint64_t constraints = o->resolve & ~(uint64_t)RESOLVE_NO_MAGICLINKS;
	int e;

	if (constraints)
		e = open_constrained(c, p, o);
	else
		e = place_resolve(p, c, open_creates_directory(p, o) ? RESOLVE_ENTRY_LAST : open_follow(o));
	if (e < 0)
		return e;
	if (o->resolve & RESOLVE_NO_MAGICLINKS && p->crossed)
		return -ELOOP;
	if (open_creates_directory(p, o))
		return -EISDIR;
	if (p->foreign)
		return -EACCES;
	if (p->r.magic)
		return hold_magic(c, p, t);
	t->at = (struct spot){ .dirfd = p->r.parent,
			       .name = p->r.name,
			       .resolve = RESOLVE_NO_SYMLINKS | (o->resolve & RESOLVE_NO_XDEV) };
	return spot_look(&t->at, &t->st);
}

/* Opening one's own descriptor again by its magic link gives no more access than the descriptor has. */
static bool has_already(const struct target *t, unsigned access)
{
	if (t->own_flags < 0 || t->own_flags & O_PATH)
		return false;
	return (access & ~open_access(t->own_flags & O_ACCMODE)) == 0;
}

/* A pipe, a socket or a memfd that is reached by a descriptor of the session belongs to the session. */
static bool is_nameless(const struct place *p, const struct target *t)
{
	return t->held >= 0 && t->st.st_nlink <= 1 &&
	       (p->r.path[0] != '/' || (t->st.st_nlink == 0 && strncmp(p->r.path, "/memfd:", 7) == 0));
}

/*
 * True for an object on procfs in the directory of a process outside the session.  An O_PATH descriptor
 * leads into it as well, by its magic link.
 */
static bool is_foreign(const struct place *p, struct caller *c, const struct target *t, unsigned access)
{
	int fd = t->held >= 0 ? t->held : p->r.parent;

	if (p->foreign)
		return true;
	return !has_already(t, access) && procfs_holds(fd) && procfs_is_foreign(c, fd, p->r.path);
}

/*
 * ps and fuser look into the directory of every process in /proc.  The first attempt of a program is recorded
 * with its path; later ones are recorded with "*" in place of the process number, so that the helper counts
 * them together.  ENOENT: to the session such a process does not exist.
 */
static struct answer refuse_directory(struct caller *c, const struct request *req)
{
	char all[64];
	const char *target = req->path;

	if (req->op == OP_READ && procfs_any(req->path, all, sizeof(all)) &&
	    !verdict_is_first(c, req->op, all))
		target = all;
	verdict_refuse(c, req, target, REASON_PROCESS);
	return answer_result(-ENOENT);
}

/* 0 where fd is the device that was looked at, and is a terminal of the session.  Its number cannot have
 * been given to another terminal, because fd is open. */
static int terminal_error(struct caller *c, int fd, const struct target *t)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != t->st.st_rdev)
		return -ELOOP;
	return terminal_is_sessions(c, st.st_rdev) ? 0 : -EACCES;
}

/*
 * Opens a terminal.  A terminal that the caller already has open was given to it.  The terminal does not
 * become the caller's controlling one: only the caller itself can do that (TIOCSCTTY;
 * preload/judge/check_open.c does it).
 */
static struct answer open_terminal(struct caller *c, const struct opening *o, const struct request *req,
				   const struct target *t)
{
	bool is_given = has_already(t, req->access);
	int fd, e;

	if (terminal_is_mine(t->st.st_rdev))
		return answer_fd(open_error(terminal_open_controlling(c, o)), o->flags & O_CLOEXEC);
	fd = open_plain(o, &t->at);
	e = fd < 0 || is_given ? 0 : terminal_error(c, fd, t);
	if (e == 0)
		return answer_fd(open_error(fd), o->flags & O_CLOEXEC);
	close(fd);
	if (e == -EACCES)
		verdict_refuse(c, req, req->path, REASON_PROCESS);
	return answer_result(e);
}

/*
 * A call that waits for the other end of a FIFO releases the lock for files that git obeys (git_release())
 * meanwhile: git reads no FIFOs, and the FIFO that is held now is the one that is opened.  With O_CREAT
 * another user's FIFO is refused here, because the kernel cannot apply fs.protected_fifos to an open by a
 * magic link.
 */
static bool leave_turn(struct caller *c, const struct opening *o, struct target *t)
{
	if (o->flags & O_CREAT && t->st.st_uid != geteuid())
		return false;
	if (t->held < 0)
		t->held = openat(t->at.dirfd, t->at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (t->held < 0 || fstat(t->held, &t->st) < 0 || !S_ISFIFO(t->st.st_mode))
		return false;
	procfs_own_link(t->held, t->link);
	t->at = (struct spot){ .dirfd = AT_FDCWD, .name = t->link, .st = &t->st };
	git_release(c);
	return true;
}

static int open_fifo(struct caller *c, const struct opening *o, struct target *t)
{
	struct opening held = *o;

	waiters_leave(c->sup, c->worker);
	if (open_is_quick(o, &t->st))
		return open_plain(o, &t->at);
	if (!c->git_turn)
		return open_waiting(c, o, &t->at);
	held.flags &= ~(O_CREAT | O_NOFOLLOW);
	return leave_turn(c, o, t) ? open_waiting(c, &held, &t->at) : -EACCES;
}

/* Opens a FIFO or a device. */
static struct answer open_special(struct caller *c, const struct opening *o, const struct request *req,
				  struct target *t)
{
	struct answer a;
	int fd;

	if (S_ISCHR(t->st.st_mode) && terminal_is(t->st.st_rdev))
		return open_terminal(c, o, req, t);
	if (S_ISFIFO(t->st.st_mode))
		fd = open_fifo(c, o, t);
	else
		fd = open_is_quick(o, &t->st) ? open_plain(o, &t->at) : open_waiting(c, o, &t->at);
	a = answer_fd(open_error(fd), o->flags & O_CLOEXEC);
	a.is_fifo = S_ISFIFO(t->st.st_mode);
	return a;
}

static bool is_object(const struct target *t, const struct stat *st)
{
	return st->st_dev == t->st.st_dev && st->st_ino == t->st.st_ino;
}

/* True where the entry is still the object that was asked about, or is missing, which the open itself
 * reports. */
static bool is_same_target(const struct target *t)
{
	struct stat st;

	if (fstatat(t->at.dirfd, t->at.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	return t->st.st_mode != 0 && is_object(t, &st);
}

/* The umask is applied later. */
static void say_open(const struct opening *o, const struct target *t, char does[64], struct request *req)
{
	bool makes = open_creates(o->flags) && (t->st.st_mode == 0 || S_ISDIR(t->st.st_mode));

	if (makes)
		(void)snprintf(does, 64, "a new file, mode %04o", o->mode & 07777);
	else
		(void)snprintf(does, 64, "%s", o->flags & O_TRUNC ? "emptied" : "");
	req->aim = does;
}

/* Opens only the object that was asked about.  -ESTALE: another one is there by now. */
static int open_asked(struct caller *c, const struct opening *o, const struct target *t)
{
	bool makes = t->st.st_mode == 0;
	struct opening own = *o;
	struct stat st;
	int fd;

	own.flags |= makes ? O_EXCL : 0;
	fd = open_ordinary(c, &own, &t->at);
	if (fd == -EEXIST && !(o->flags & O_EXCL))
		return -ESTALE;
	if (fd < 0 || makes || (o->flags & O_TMPFILE) == O_TMPFILE ||
	    (fstat(fd, &st) == 0 && is_object(t, &st)))
		return fd;
	close(fd);
	return -ESTALE;
}

/* 0 or -errno. */
static int may_open(struct caller *c, const struct request *req, const struct place *p,
		    const struct opening *o, struct target *t)
{
	const struct git_at at = { .dir = t->held < 0 ? p->r.parent : -1,
				   .object = t->held,
				   .is_open = t->held < 0,
				   .is_new = t->held < 0 && o->flags & O_CREAT && t->st.st_mode == 0 };
	struct decision d = verdict_of(c, req);
	struct request asked = *req;
	char does[64];
	bool allowed;

	t->is_asked = t->held < 0 && d.verdict == VERDICT_ASK && d.reason != REASON_GIT;
	if (t->is_asked && req->access & ACCESS_WRITE)
		say_open(o, t, does, &asked);
	c->git_late = false;
	c->at = &at;
	allowed = verdict_conclude(c, &asked, req->path, d);
	c->at = NULL;
	if (allowed && t->is_asked && !is_same_target(t))
		return -ESTALE;
	return allowed ? 0 : decision_is_absence(&d, req->op) ? -ENOENT : -EACCES;
}

/*
 * Opens an entry of /dev/shm itself.  A new entry must be made by this very call.  An existing one is
 * checked again after it was opened, since it may have been replaced.  -ELOOP: look again.
 */
static int open_shared(struct caller *c, const struct opening *o, const struct request *req, struct target *t)
{
	static const struct timespec ever;
	bool makes = t->st.st_mode == 0;
	struct opening own = *o;
	int fd;

	own.flags |= makes ? O_EXCL : 0;
	fd = open_ordinary(c, &own, &t->at);
	if (fd == -EEXIST && !(o->flags & O_EXCL))
		return -ELOOP;
	if (fd >= 0 && makes)
		made_at(c->sup, fd, "", &ever);
	if (fd < 0 || makes || !shm_is_others_file(c, req, fd))
		return fd;
	close(fd);
	return -ELOOP;
}

static struct answer open_found(struct caller *c, struct place *p, const struct opening *o, struct target *t)
{
	struct request req = { .access = open_access(o->flags), .raw = p->raw, .path = p->r.path };
	int e;

	req.op = open_op(req.access);
	req.given = place_given(p);
	if (is_foreign(p, c, t, req.access))
		return refuse_directory(c, &req);
	e = open_existence(o->flags, t->st.st_mode, &req.access);
	if (e < 0)
		return answer_result(e);
	req.op = open_op(req.access);
	if (!is_nameless(p, t) && !has_already(t, req.access))
		e = may_open(c, &req, p, o, t);
	if (e < 0)
		return answer_result(e);
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	if (!c->git_late && !open_is_special(&t->st) && t->held < 0 && t->st.st_mode != 0 &&
	    open_passes(c, o, p->r.path))
		return answer_continue();
	e = caller_enter(c);
	if (e < 0)
		return answer_result(e);
	if (c->git_late)
		return answer_fd(git_late_open(c, o, t->at.dirfd, t->at.name), o->flags & O_CLOEXEC);
	if (open_is_special(&t->st))
		return open_special(c, o, &req, t);
	if (t->held < 0 && shm_is_entry(p->r.path))
		e = open_shared(c, o, &req, t);
	else
		e = t->is_asked ? open_asked(c, o, t) : open_ordinary(c, o, &t->at);
	/* Another process holds a lease on the file (fcntl(2)): without O_NONBLOCK the call waits.  It
	 * does not wait under the lock for files that git obeys. */
	if (e == -EAGAIN && !(o->flags & O_NONBLOCK) && !c->git_turn)
		e = open_waiting(c, o, &t->at);
	else
		e = open_settle(e, o);
	return answer_fd(open_error(e), o->flags & O_CLOEXEC);
}

/* A magic link of a process outside the session: recorded with the path that led there. */
static struct answer refuse_foreign(struct caller *c, const struct place *p, const struct opening *o)
{
	struct request req = { .access = open_access(o->flags), .raw = p->raw };

	req.op = open_op(req.access);
	req.path = p->r.given[0] ? p->r.given : p->raw;
	return refuse_directory(c, &req);
}

struct answer open_far(struct caller *c, struct place *p, const struct opening *o)
{
	struct answer a = answer_result(-ELOOP);

	for (int round = 0; round < ROUNDS; round++) {
		struct target t = { .held = -1, .own_flags = -1 };
		int e = find_target(c, p, o, &t);

		if (p->foreign)
			a = refuse_foreign(c, p, o);
		else
			a = e < 0 ? answer_result(open_error(e)) : open_found(c, p, o, &t);
		if (t.held >= 0)
			close(t.held);
		/* Another file is there by now: that needs another question. */
		if (a.kind == ANSWER_ERRNO && a.error == ESTALE && t.is_asked)
			continue;
		if (a.kind != ANSWER_ERRNO || a.error != ELOOP ||
		    (o->flags & O_NOFOLLOW && !shm_is_entry(p->r.path)))
			break;
	}
	return a;
}
