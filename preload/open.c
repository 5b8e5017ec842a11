/*
 * The whole of open: judged, held, done.
 *
 * Near: the lexical path is judged and opened by openat2(RESOLVE_NO_SYMLINKS); that it succeeds
 * proves that the lexical path was the real one (facts: 0.96 to 1.06 of a bare open).  Far: the
 * resolver holds the parent and one name, that real path is judged, and opened with O_NOFOLLOW.
 */
#include "preload/internal.h"

#include <limits.h>

#define TRY_FAR INT_MIN

static struct request open_request(int flags, const char *raw)
{
	unsigned access = open_access(flags);

	return (struct request){ .op = open_op(access), .access = access, .raw = raw };
}

static long open_plain(int dirfd, const char *path, int flags, unsigned mode)
{
	return raw4(SYS_openat, dirfd, path, (long)flags, (long)mode);
}

static int open_near(int dirfd, const char *path, int flags, unsigned mode)
{
	char buf[NEAR_PATH] UNINITIALIZED;
	struct request req = open_request(flags, path);
	struct open_how how = { .flags = (unsigned)(flags & OPEN_FLAGS), .resolve = RESOLVE_NO_SYMLINKS };
	struct decision d;
	long fd;

	req.path = state_now() == STATE_LIVE ? sys_near(dirfd, path, buf, sizeof buf) : NULL;
	if (!req.path)
		return TRY_FAR;
	req.memo = sys_memo(req.access);
	d = eval(&session.img, &req);
	if (d.verdict != VERDICT_ALLOW)
		return TRY_FAR;
	if (open_creates(flags))
		how.mode = mode & 07777;
	fd = raw4(SYS_openat2, dirfd, path, &how, sizeof how);
	if (fd == -ELOOP || fd == -ENOSYS || fd == -EINVAL || fd == -E2BIG || fd == -EPERM || fd == -EAGAIN)
		return TRY_FAR;
	log_decision(&req, req.path, &d, "");
	return (int)fd;
}

/* Opening an own descriptor again by its magic link gives no more than the descriptor has. */
static bool reopens_own(const struct resolved *r, unsigned access)
{
	long fl = r->magic && r->magic_fd >= 0 ? raw2(SYS_fcntl, r->magic_fd, F_GETFL) : -1;
	unsigned has;

	if (fl < 0 || fl & O_PATH)
		return false;
	has = open_access((int)fl & O_ACCMODE);
	return (access & ~has) == 0;
}

/* The kernel's own answers come before ours, and what exists is not created. */
static int open_existing(const struct resolved *r, int flags, struct request *req)
{
	struct stat st;
	bool exists = raw4(SYS_newfstatat, r->parent, r->name, &st, r->magic ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
	int e = open_existence(flags, exists ? st.st_mode : 0, &req->access);

	req->op = open_op(req->access);
	return e;
}

static int open_judged(int dirfd, const char *path, int flags, unsigned mode, struct resolved *r)
{
	struct request req = open_request(flags, path);
	enum resolve_follow follow = flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)
					     ? RESOLVE_NOFOLLOW_LAST
					     : RESOLVE_FOLLOW_LAST;
	int e = resolve(&sys_self, dirfd, path, follow, r);

	if (e < 0)
		return e;
	if (r->trailing_slash && flags & O_CREAT)
		return -EISDIR;
	e = open_existing(r, flags, &req);
	if (e < 0)
		return e;
	req.path = r->path;
	req.given = r->same ? NULL : r->given;
	if (r->magic &&
	    (r->path[0] != '/' || strncmp(r->path, "/memfd:", 7) == 0 || reopens_own(r, req.access)))
		return (int)open_plain(r->parent, r->name, flags, mode);
	if (!judge(&req, req.path))
		return -EACCES;
	return (int)open_plain(r->parent, r->name, r->magic ? flags : flags | O_NOFOLLOW, mode);
}

static int open_far(int dirfd, const char *path, int flags, unsigned mode)
{
	struct resolved *r = scratch_get(sizeof *r);
	int fd = -ENOMEM;

	if (!r)
		return fd;
	/* A link that appears between walk and open makes ELOOP: look again, a few times. */
	for (int round = 0; round < 4; round++) {
		fd = open_judged(dirfd, path, flags, mode, r);
		resolved_done(&sys_self, r);
		if (fd != -ELOOP || flags & O_NOFOLLOW)
			break;
	}
	scratch_put(r, sizeof *r);
	return fd;
}

int check_open(int dirfd, const char *path, int flags, unsigned mode)
{
	int fd, anchor;

	/* O_PATH gives no access to content; what is done with it later is judged then. */
	if (!judging() || !path || !*path || flags & O_PATH)
		return (int)open_plain(dirfd, path, flags, mode);
	anchor = sys_anchor(dirfd, path);
	fd = open_near(anchor, path, flags, mode);
	if (fd == TRY_FAR)
		fd = open_far(anchor, path, flags, mode);
	if (anchor != dirfd)
		sys_close(anchor);
	return fd;
}
