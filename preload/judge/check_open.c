/*
 * The whole of open: judges, holds the place and opens it.
 *
 * Near: the lexical path is judged and opened by openat2(RESOLVE_NO_SYMLINKS); if that succeeds, the
 * lexical path is the real one (measured: 0.96 to 1.06 of the time of a bare open).  Far: the resolver
 * finds the real path; that is judged, and opened in the same way.  What has no path (a link of /proc), or
 * changed meanwhile, is opened by its name below the parent that the resolver holds.
 *
 * The program must get the lowest free descriptor, so the preload's own are closed before, or lie higher.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "policy/base/fileop.h"

#include "preload/process/cancel.h"
#include "preload/process/gate.h"
#include "preload/process/memory.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"
#include "preload/tell/log.h"

#include "check.h"
#include "check_open.h"

#define TRY_FAR	  INT_MIN
#define TRY_PLAIN (INT_MIN + 1)
#define TRY_HELD  (INT_MIN + 2)

/* Descriptors that are held during an open are moved here. */
#define HELD_MIN 200

static struct request open_request(int flags, const char *raw)
{
	unsigned access = open_access(flags);

	return (struct request){ .op = open_op(access), .access = access, .raw = raw };
}

/* True for a FIFO or a character device: an open of it may wait, and a signal must be able to end
 * the wait. */
static __attribute__((cold)) bool may_wait(int dirfd, const char *path)
{
	struct stat st;

	return raw4(SYS_newfstatat, dirfd, path, &st, 0) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

/*
 * A terminal that the supervisor opened does not become the controlling terminal of a session leader
 * (setsid(2)) that has none.  The kernel has the same conditions for TIOCSCTTY as for an open, so this
 * takes the terminal only if the open would have taken it.
 */
static __attribute__((cold)) void take_terminal(const char *path, int flags, long fd)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without a path nothing was opened */
	if (fd >= 0 && !(flags & (O_NOCTTY | O_PATH)) && strncmp(path, "/dev/", 5) == 0 && gate_stands())
		(void)raw3(SYS_ioctl, fd, TIOCSCTTY, 0);
}

/* True if the supervisor does not see an openat with these flags: with `reads = floor` the kernel performs
 * opens for reading.  It sees an openat2, whose flags the filter cannot read. */
static __attribute__((cold)) bool is_unseen(int flags)
{
	return gate_stands() && session.img.h->reads == READS_FLOOR &&
	       !(flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_PATH));
}

/* Opens with the caller's own arguments.  If a signal interrupts it before the supervisor has received it,
 * the open is repeated, except for a FIFO or a device. */
static __attribute__((cold, noinline)) int open_plain(int dirfd, const char *path, int flags, unsigned mode)
{
	const struct open_how how = { .flags = (unsigned)(flags & OPEN_FLAGS) };
	const bool unseen = is_unseen(flags);
	const uint64_t words = unseen ? RAW_ARG(&how) : (unsigned)flags;
	long fd = -EINTR;
	int was;

	for (int i = 0; fd == -EINTR && i < GATE_ROUNDS; i++) {
		was = cancel_begin();
		fd = raw4(unseen ? SYS_openat2 : SYS_openat, dirfd, path, words, unseen ? sizeof how : mode);
		cancel_end(was);
		if (fd == -EINTR && (!gate_stands() || may_wait(dirfd, path)))
			break;
	}
	take_terminal(path, flags, fd);
	return (int)fd;
}

/* Completes the record of an open through the gate.  If the gate refused the open, the record is void,
 * since the plain call is recorded. */
static int open_done(long fd, const struct ring_hold *hold)
{
	bool refused = gate_refused(fd);

	ring_end(hold, !refused);
	return refused ? TRY_PLAIN : (int)fd;
}

/* True if the near way cannot be used. */
static bool goes_far(long fd)
{
	return fd == -ELOOP || fd == -ENOSYS || fd == -EINVAL || fd == -E2BIG || fd == -EPERM ||
	       fd == -EAGAIN;
}

static int open_near(int dirfd, const char *path, int flags, unsigned mode)
{
	char own[NEAR_PATH] UNINITIALIZED, buf[NEAR_PATH] UNINITIALIZED;
	struct request req = open_request(flags, path);
	struct open_how how = { .flags = (unsigned)(flags & OPEN_FLAGS), .resolve = RESOLVE_NO_SYMLINKS };
	const char *act;
	struct ring_hold hold;
	struct decision d;
	int was;
	long fd;

	act = path = req.raw = path_own(path, own);
	if (!path || !near_allows(&req, dirfd, path, buf, &d))
		return TRY_FAR;
	if (open_creates(flags))
		how.mode = mode & 07777;
	/* The judged path is opened: by then a relative path may start at another directory. */
	if (path[0] != '/') {
		if (!plain_last(path) && open_creates(flags))
			return TRY_FAR;
		how.flags |= plain_last(path) ? 0 : O_DIRECTORY;
		act = req.path;
	}
	log_begin(&req, req.path, &d, "", &hold);
	was = cancel_begin();
	fd = gate_openat2(AT_FDCWD, act, &how);
	cancel_end(was);
	if (!goes_far(fd) && !(fd == -ENOENT && act != path))
		return open_done(fd, &hold);
	ring_end(&hold, false);
	return TRY_FAR;
}

/* The kernel's own errors come before ours, and a file that exists is not created. */
static __attribute__((cold)) int open_existing(const struct resolved *r, int flags, struct request *req)
{
	struct stat st;
	bool exists = raw4(SYS_newfstatat, r->parent, r->name, &st, r->magic ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
	int e = open_existence(flags, exists ? st.st_mode : 0, &req->access);

	req->op = open_op(req->access);
	return e;
}

/* An open that takes the far way. */
struct far {
	int dirfd;
	int anchor; /* from sys_anchor() */
	const char *path;
	int flags;
	unsigned mode;
	bool is_held; /* the path alone does not do: the place is held */
	struct resolved r;
};

static void far_let_go(struct far *f)
{
	resolved_done(&sys_self, &f->r);
	if (f->anchor != f->dirfd)
		sys_close(f->anchor);
	f->anchor = f->dirfd;
}

/* Moves a descriptor of ours out of the program's way, where the limit of descriptors has room. */
static int raised(int fd)
{
	long high = raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HELD_MIN);

	if (high < 0)
		return fd;
	sys_close(fd);
	return (int)high;
}

static long open_held(struct far *f)
{
	struct resolved *r = &f->r;

	if (r->parent_owned)
		r->parent = raised(r->parent);
	if (f->anchor != f->dirfd) {
		bool starts = r->parent == f->anchor;

		f->anchor = raised(f->anchor);
		r->parent = starts ? f->anchor : r->parent;
	}
	return gate4(SYS_openat, r->parent, r->name, r->magic ? f->flags : f->flags | O_NOFOLLOW, f->mode);
}

/* Opens the judged path with nothing held: it is the real one if no component is a link. */
static long open_proven(struct far *f, bool *ret_missing)
{
	struct open_how how = { .flags = (unsigned)(f->flags & OPEN_FLAGS), .resolve = RESOLVE_NO_SYMLINKS };
	long fd;

	if (open_creates(f->flags))
		how.mode = f->mode & 07777;
	if (f->r.trailing_slash)
		how.flags |= O_DIRECTORY;
	far_let_go(f);
	fd = gate_openat2(AT_FDCWD, f->r.path, &how);
	*ret_missing = fd == -ENOSYS;
	return goes_far(fd) || fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES ? TRY_HELD : fd;
}

static __attribute__((cold)) int open_judged(struct far *f)
{
	/* This kernel or the filter has no openat2. */
	static bool is_missing;
	const int flags = f->flags;
	struct request req = open_request(flags, f->path);
	enum resolve_follow follow = flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)
					     ? RESOLVE_NOFOLLOW_LAST
					     : RESOLVE_FOLLOW_LAST;
	struct resolved *r = &f->r;
	int e = resolve(&sys_self, f->anchor, f->path, follow, r);
	struct ring_hold hold = { .tag = NULL };
	struct decision d;
	int was;
	long fd;

	if (e < 0)
		return gate_refused(e) && e != -EACCES ? TRY_PLAIN : e;
	if (r->trailing_slash && flags & O_CREAT)
		return -EISDIR;
	e = open_existing(r, flags, &req);
	if (e < 0)
		return e;
	req.path = r->path;
	req.given = req.through = r->same ? NULL : r->given;
	req.pids = pids_judged();
	if (check_is_own(r, req.access)) {
		e = CHECK_RECORDED;
	} else {
		d = verdict_of(&req);
		e = conclude(&req, req.path, &d);
	}
	if (e < 0)
		return e;
	if (e == CHECK_PLAIN)
		return TRY_PLAIN;
	if (e == CHECK_ACT)
		log_begin(&req, req.path, &d, "", &hold);
	/* What a human approved is not asked about twice. */
	f->is_held |= e != CHECK_ACT || r->magic || r->path[0] != '/' || is_missing || session.in_valgrind;
	was = cancel_begin();
	fd = f->is_held ? open_held(f) : open_proven(f, &is_missing);
	cancel_end(was);
	if (fd != TRY_HELD)
		return open_done(fd, &hold);
	f->is_held = true;
	ring_end(&hold, false);
	return TRY_HELD;
}

static __attribute__((cold)) int open_far(int dirfd, const char *path, int flags, unsigned mode)
{
	struct far *f = scratch_get(sizeof *f);
	int fd = TRY_HELD;

	if (!f)
		return -ENOMEM;
	f->dirfd = dirfd;
	f->path = path;
	f->flags = flags;
	f->mode = mode;
	/* A link that appears between the walk and the open gives ELOOP: try again, a few times. */
	for (int round = 0; round < 5 && (fd == TRY_HELD || (fd == -ELOOP && !(flags & O_NOFOLLOW)));
	     round++) {
		f->anchor = sys_anchor(dirfd, path);
		fd = open_judged(f);
		far_let_go(f);
	}
	scratch_put(f, sizeof *f);
	/* A link in another process's directory of /proc: only the supervisor may read where it leads. */
	return fd == -ELOOP && !(flags & O_NOFOLLOW) && gate_stands() ? TRY_PLAIN : fd;
}

/* Landlock before ABI 3 does not restrict a truncation without write access, so such an open must not pass
 * the gate. */
static bool only_truncates(int flags)
{
	return (flags & (O_TRUNC | O_ACCMODE)) == (O_TRUNC | O_RDONLY);
}

int check_open(int dirfd, const char *path, int flags, unsigned mode)
{
	int fd;

	cancel_point();
	if (judging() && path && !memory_has_path(path))
		return -EFAULT;
	/* O_PATH gives no access to content; a later use of the descriptor is judged then. */
	if (!judging() || !path || !*path || flags & O_PATH || (gate_stands() && only_truncates(flags)))
		return open_plain(dirfd, path, flags, mode);
	fd = open_near(dirfd, path, flags, mode);
	if (fd == TRY_FAR)
		fd = open_far(dirfd, path, flags, mode);
	return fd == TRY_PLAIN ? open_plain(dirfd, path, flags, mode) : fd;
}
