/*
 * The act of opening, for another process.
 *
 * Guarantees: an open waits only where that is expected; no terminal becomes the supervisor's (O_NOCTTY);
 * the caller's descriptor has the flags that its own open would have given (fcntl(2), F_GETFL), so the
 * flags that made the open safe do not remain: links are refused by RESOLVE_NO_SYMLINKS instead of
 * O_NOFOLLOW, and O_NONBLOCK is cleared afterwards.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/threads/waiters.h"

#include "open.h"

/* Documentation/admin-guide/devices.txt */
#define MEM_MAJOR 1 /* null, zero, full, random, urandom */
#define DEV_PTMX  makedev(5, 2)

/* The flags that fcntl(2) changes: it must get every flag that stays set. */
#define SETFL_FLAGS (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK)

static int raw_open(const struct spot *at, int flags, unsigned mode)
{
	struct open_how how = { .flags = (unsigned)flags | O_NOCTTY | O_CLOEXEC, .resolve = at->resolve };
	long fd;

	if (open_creates(flags))
		how.mode = mode;
	fd = syscall(SYS_openat2, at->dirfd, at->name, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

int open_error(int e)
{
	return e == -EMFILE ? -ENFILE : e;
}

bool open_is_special(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode);
}

#define MASK_UNKNOWN 01000 /* no umask */

/* Sets the mask of this thread, which is its own (unshare(2) CLONE_FS): most callers have the same one. */
static void use_umask(mode_t mask)
{
	static _Thread_local mode_t now = MASK_UNKNOWN;

	if (mask != now)
		umask(mask);
	now = mask;
}

/* Under the caller's umask, which a directory's default ACL overrides (acl(5)): so the umask is set, not
 * applied to the mode. */
static int open_creating(struct caller *c, const struct opening *o, const struct spot *at)
{
	int mask = caller_umask(c);

	if (mask < 0)
		return mask;
	if (!caller_alive(c))
		return -ESRCH;
	use_umask((mode_t)mask);
	return raw_open(at, o->flags | O_NONBLOCK, o->mode);
}

/*
 * Drops O_CREAT where the file exists, so that the umask need not be read.  It stays for another user's
 * file: fs.protected_regular and fs.protected_fifos refuse that in sticky directories only with O_CREAT
 * (proc(5)).
 */
static int flags_for(const struct opening *o, const struct spot *at)
{
	bool may_be = (o->flags & (O_CREAT | O_EXCL)) == O_CREAT && at->st->st_mode != 0;

	if (may_be && !S_ISDIR(at->st->st_mode) && at->st->st_uid == geteuid())
		return o->flags & ~O_CREAT;
	return o->flags;
}

int spot_look(struct spot *at, struct stat *st)
{
	at->st = st;
	if (fstatat(at->dirfd, at->name, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	st->st_mode = 0;
	return errno == ENOENT ? 0 : -errno;
}

int open_ordinary(struct caller *c, const struct opening *o, const struct spot *at)
{
	int flags = flags_for(o, at) | O_NONBLOCK;
	int fd = -ENOENT;

	if (!open_creates(flags))
		fd = open_access(flags) & ACCESS_WRITE && !caller_alive(c) ? -ESRCH : raw_open(at, flags, 0);
	/* The file was there a moment ago. */
	if (open_creates(o->flags) && (open_creates(flags) || fd == -ENOENT))
		fd = open_creating(c, o, at);
	return fd;
}

bool open_is_quick(const struct opening *o, const struct stat *st)
{
	if (o->flags & O_NONBLOCK || (S_ISFIFO(st->st_mode) && (o->flags & O_ACCMODE) == O_RDWR))
		return true;
	return S_ISCHR(st->st_mode) && (major(st->st_rdev) == MEM_MAJOR || st->st_rdev == DEV_PTMX);
}

int open_plain(const struct opening *o, const struct spot *at)
{
	return raw_open(at, flags_for(o, at), o->mode);
}

int open_waiting(struct caller *c, const struct opening *o, const struct spot *at)
{
	int fd;

	if (!waiter_begin(c))
		return -EAGAIN;
	do
		fd = open_plain(o, at);
	while (fd == -EINTR && waiter_stays(c));
	waiter_end(c);
	return fd == -EINTR ? -ERESTARTSYS : fd;
}

int open_settle(int fd, const struct opening *o)
{
	int e;

	if (fd < 0 || o->flags & O_NONBLOCK)
		return fd;
	if (fcntl(fd, F_SETFL, o->flags & SETFL_FLAGS) == 0)
		return fd;
	e = -errno;
	close(fd);
	return e;
}
