/*
 * open, openat, creat, openat2: judged, then opened here, and the descriptor is passed to the caller; or
 * performed by the kernel, where that is as safe (open_pass.c).
 *
 * The near way is the fast one: the lexical path is judged and opened with RESOLVE_NO_SYMLINKS; success
 * proves that the lexical path was the real one.  An open that is not plainly allowed there, or waits, or
 * depends on the process that opens, takes the far way.
 */
#include "open.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/numbers.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

/* Only the kernel's own headers define it for 64-bit programs, where it is always set (openat2 accepts
 * it). */
#ifdef __aarch64__
#define KERNEL_LARGEFILE 0400000
#else
#define KERNEL_LARGEFILE 0100000
#endif

#define HOW_SIZE_MAX 4096 /* PAGE_SIZE: the kernel's own bound (fs/open.c) */
#define PATH_FLAGS   (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define RESOLVE_ALL                                                                                          \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT | \
	 RESOLVE_CACHED)

/* --- what is asked --- */

/* The positions of the arguments; NOT: the call has no such argument. */
#define NOT 6
static const struct layout {
	int nr;
	unsigned dirfd, path, flags, mode;
} layouts[] = {
	{ __NR_open, NOT, 0, 1, 2 },
	{ __NR_openat, 0, 1, 2, 3 },
	{ __NR_creat, NOT, 0, NOT, 1 },
	{ __NR_openat2, 0, 1, NOT, NOT },
};

static const struct layout *layout_of(int nr)
{
	for (size_t i = 0; i < NELEM(layouts); i++)
		if (layouts[i].nr == nr)
			return &layouts[i];
	return NULL;
}

/* Reads openat2's struct, whose size tells its version: the bytes after the known part must be zero. */
static int read_how(struct caller *c, struct open_how *ret)
{
	uint64_t size = c->arg[3];
	union {
		struct open_how how;
		uint8_t bytes[HOW_SIZE_MAX];
	} copy UNINITIALIZED;
	int e;

	if (size < sizeof(*ret))
		return -EINVAL;
	if (size > sizeof(copy))
		return -E2BIG;
	e = caller_read(c, c->arg[2], &copy, size);
	if (e < 0)
		return e;
	for (size_t i = sizeof(*ret); i < size; i++)
		if (copy.bytes[i])
			return -E2BIG;
	*ret = copy.how;
	return 0;
}

/*
 * The kernel's error for the flags, which it checks before it finds that the path is missing.  Flags of a
 * later kernel that are not known here cannot be judged.
 */
static int flags_error(const struct open_how *how)
{
	long fd;

	if (how->flags & ~(uint64_t)(OPEN_FLAGS | KERNEL_LARGEFILE) || how->resolve & ~(uint64_t)RESOLVE_ALL)
		return -EINVAL;
	fd = syscall(SYS_openat2, AT_FDCWD, "", how, sizeof(*how));
	if (fd >= 0)
		close((int)fd);
	return fd < 0 && errno != ENOENT ? -errno : 0;
}

/* open(2) ignores unknown flags (build_open_how() of fs/open.c). */
static void ignore_unknown(struct open_how *how)
{
	how->flags &= OPEN_FLAGS;
	how->mode = open_creates((int)how->flags) ? how->mode & 07777 : 0;
	if (how->flags & O_PATH)
		how->flags &= PATH_FLAGS;
}

static int opening_read(struct caller *c, struct opening *ret)
{
	const struct layout *l = layout_of(c->nr);
	struct open_how how = { .flags = O_CREAT | O_WRONLY | O_TRUNC };
	int e = 0;

	if (!l)
		return -ENOSYS;
	ret->dirfd = l->dirfd == NOT ? AT_FDCWD : (int)c->arg[l->dirfd];
	ret->path = c->arg[l->path];
	if (c->nr == __NR_openat2) {
		e = read_how(c, &how);
	} else {
		if (l->flags != NOT)
			how.flags = (unsigned)c->arg[l->flags];
		how.mode = (unsigned)c->arg[l->mode];
		ignore_unknown(&how);
	}
	/* Only these can be wrong once unknown flags are removed. */
	if (e == 0 && (c->nr == __NR_openat2 || how.flags & (O_TMPFILE & ~O_DIRECTORY) ||
		       (how.flags & O_CREAT && how.flags & O_DIRECTORY)))
		e = flags_error(&how);
	ret->flags = (int)how.flags;
	ret->mode = (unsigned)how.mode;
	/* RESOLVE_CACHED asks not to wait, but a call that came here has waited already. */
	ret->resolve = how.resolve & ~(uint64_t)RESOLVE_CACHED;
	return e;
}

/* --- the near way --- */

/*
 * procfs may be mounted in other places too (chroots): its files have no size and no device number of a
 * disk, so only few files need this look.
 */
static bool is_procfs(int fd, const struct stat *st)
{
	struct statfs sf;

	if (st->st_size != 0 || major(st->st_dev) != 0)
		return false;
	return fstatfs(fd, &sf) < 0 || sf.f_type == PROC_SUPER_MAGIC;
}

/* "x/", "x/." and "." mean a directory, which their lexical path does not show. */
static bool ends_plainly(const char *raw)
{
	size_t n = strlen(raw);

	if (raw[n - 1] == '.' && (n == 1 || raw[n - 2] == '/'))
		return n == 1;
	return raw[n - 1] != '/';
}

/*
 * Finds where the near way opens: the caller's path below its base directory, which is held from now on.  For
 * an open that changes nothing, the base is not held: the lexical path is opened, and place_stands() checks
 * afterwards that it is still the right one.  False: the text of the path is not enough, so the far way is
 * needed.
 */
static bool near_spot(struct caller *c, struct place *p, const struct opening *o, const char *lexical,
		      struct spot *ret)
{
	*ret = (struct spot){ .dirfd = AT_FDCWD, .name = p->raw, .resolve = RESOLVE_NO_SYMLINKS };
	if (p->raw[0] == '/')
		return true;
	if (open_access(o->flags) & ACCESS_WRITE) {
		ret->dirfd = place_base(p, c);
		return ret->dirfd >= 0;
	}
	ret->name = lexical;
	return p->raw[0] && ends_plainly(p->raw);
}

/* Errors that mean "use the far way", not "refused". */
static bool goes_far(int e)
{
	return e == -ELOOP || e == -EAGAIN || e == -ENXIO;
}

/* True for an existing file of procfs (none can be created there), or where the base has moved meanwhile. */
static bool is_doubtful(struct caller *c, struct place *p, const struct spot *at, const char *lexical, int fd)
{
	return (fd >= 0 && at->st->st_mode != 0 && is_procfs(fd, at->st)) ||
	       (at->name == lexical && !place_stands(p, c, lexical));
}

/* False: use the far way. */
static bool open_near(struct caller *c, struct place *p, const struct opening *o, struct answer *ret)
{
	unsigned access = open_access(o->flags);
	struct request req = { .op = open_op(access), .access = access, .raw = p->raw };
	char path[LIMIT_PATH] UNINITIALIZED, real[LIMIT_PATH] UNINITIALIZED;
	struct ring_hold hold = { 0 };
	struct decision d;
	struct spot at;
	struct stat st;
	int fd;

	if (o->resolve & ~(uint64_t)(RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS) || caller_is_confined(c))
		return false;
	if (!near_spot(c, p, o, path, &at) || place_lexical(p, c, path, sizeof(path)) < 0 ||
	    open_is_odd(path))
		return false;
	req.path = path;
	if (o->resolve == 0 && p->raw[0] == '/' && ends_plainly(p->raw))
		req.path = place_unmerged(path, real, sizeof(real));
	if (req.path == real) {
		req.given = path;
		at.name = real;
	}
	d = verdict_of(c, &req);
	/* A FIFO is not opened to find out that it is one: a process that waits at its other end would take
	 * us for a reader or writer. */
	if (d.verdict != VERDICT_ALLOW || spot_look(&at, &st) < 0 || open_is_special(&st))
		return false;
	if (access & ACCESS_WRITE)
		record_act(c, &req, &d, &hold);
	fd = open_ordinary(c, o, &at);
	if (goes_far(fd) || is_doubtful(c, p, &at, path, fd)) {
		ring_end(&hold, false);
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (access & ACCESS_WRITE)
		ring_end(&hold, true);
	else
		verdict_conclude(c, &req, req.path, d);
	*ret = answer_fd(open_error(open_settle(fd, o)), o->flags & O_CLOEXEC);
	return true;
}

/* --- the session's own files --- */

static bool only_reads(const struct opening *o)
{
	return (o->flags & ~(O_CLOEXEC | O_NOFOLLOW | KERNEL_LARGEFILE)) == O_RDONLY;
}

/*
 * ld.so must be able to read the hooks, whatever the rules are.  It gets the file with which the session
 * began, whatever is at that path by now (pale was upgraded, or removed).  The file is opened again, since
 * ld.so reads from a descriptor's current offset.
 */
static struct answer open_preload(const struct caller *c, const struct opening *o)
{
	char link[PROCFS_LINK_MAX];
	int fd;

	procfs_own_link(session_setup(c->sup)->preload_fd, link);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? answer_result(-errno) : answer_fd(fd, o->flags & O_CLOEXEC);
}

/*
 * The hooks read the image before they know the pass, which is in it.  Every process of the session may read
 * the image, but nothing else in that directory.
 */
static bool is_session_file(const struct caller *c, const char *path, const struct opening *o)
{
	const char *dir = session_setup(c->sup)->session_dir;
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' && wire_image_number(path + n + 1) >= 0 &&
	       only_reads(o);
}

/* No file has this name (WIRE_RING_NAME): a process that opens it for reading and writing gets the ring's
 * memory. */
static bool is_ring(const struct caller *c, const char *path, const struct opening *o)
{
	const char *dir = session_setup(c->sup)->session_dir;
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && strcmp(path + n, "/" WIRE_RING_NAME) == 0 &&
	       (o->flags & O_ACCMODE) == O_RDWR;
}

static struct answer open_ring(const struct caller *c, const struct opening *o)
{
	int fd = fcntl(session_setup(c->sup)->ring_fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? answer_result(-errno) : answer_fd(fd, o->flags & O_CLOEXEC);
}

static struct answer open_session_file(struct caller *c, const char *path, const struct opening *o)
{
	int fd;

	if (open_passes(c, o, path))
		return answer_continue();
	fd = caller_alive(c) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	return fd < 0 ? answer_result(-errno) : answer_fd(fd, o->flags & O_CLOEXEC);
}

/* --- the call --- */

/*
 * An O_PATH descriptor cannot be injected into the caller (SECCOMP_IOCTL_NOTIF_ADDFD: EBADF), so the kernel
 * performs the call.  The descriptor gives no access to content, and opening the file through it is judged
 * later.  The flags of open are in a register; those of openat2 are in memory and may be changed before the
 * kernel reads them, and then only the floor limits the open.
 */
static struct answer open_place(struct caller *c)
{
	if (c->nr == __NR_openat2 && session_setup(c->sup)->level >= LEVEL_STRICT)
		return answer_result(-ENOSYS);
	return answer_continue();
}

struct answer carry_open(struct caller *c)
{
	struct opening o;
	struct place *p;
	struct answer a;
	int e = opening_read(c, &o);

	if (e < 0)
		return answer_result(e);
	if (o.flags & O_PATH)
		return open_place(c);
	p = caller_scratch(c, sizeof(*p));
	if (!p)
		return answer_result(-ENOMEM);
	e = place_read(p, c, o.dirfd, o.path);
	if (e < 0)
		return answer_result(e);
	if (is_ring(c, p->raw, &o))
		a = open_ring(c, &o);
	else if (strcmp(p->raw, session_setup(c->sup)->preload) == 0 && only_reads(&o))
		a = open_preload(c, &o);
	else if (is_session_file(c, p->raw, &o))
		a = open_session_file(c, p->raw, &o);
	else if (!open_pass(c, p, &o, &a) && !open_near(c, p, &o, &a))
		a = open_far(c, p, &o);
	place_done(p);
	return a;
}
