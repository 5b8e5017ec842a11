/*
 * An allowed open for reading that the kernel performs (SECCOMP_USER_NOTIF_FLAG_CONTINUE), at level full.
 *
 * The kernel reads the path anew, so what it opens may be another file than was judged: a second thread
 * exchanged the text, a link, a directory, the working directory.  That loses nothing where the floor holds
 * every rule that keeps something from being read (floor_holds_reads(), gaps_hold()): then whatever the
 * path leads to by then, what the policy denies is denied by Landlock, and all else the caller may read
 * anyway.  A link is no exception: Landlock looks at the file that is opened in the end, and there is no
 * denied place that the floor grants.  The flags are in a register, so nothing is written by it; openat2
 * has them behind a pointer, so it is performed.
 *
 * And it must not fail where the supervisor's own open would not: only what the floor grants is let
 * through, by its real path.
 */
#include "open.h"
#include "tools/supervisor/notify.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "tools/base/tools.h"
#include "tools/supervisor/procfs.h"
#include "tools/wall/numbers.h"

#define OPENS_SPARED 32

#define WRITES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) | O_PATH)

bool open_is_odd(const char *path)
{
	return path_is_under(path, "/proc") || path_is_under(path, "/dev");
}

/*
 * The first opens of a session are performed: to watch the gaps costs more than they do, and the end of the
 * watch waits for a grace period of the kernel, which is several times the length of `pale run true`.
 */
static bool is_early(struct supervisor *s)
{
	if (atomic_load_explicit(&s->gaps.spared, memory_order_relaxed) >= OPENS_SPARED)
		return false;
	(void)atomic_fetch_add_explicit(&s->gaps.spared, 1, memory_order_relaxed);
	return true;
}

/* A nested run's image has rules that the floor has not. */
static bool may_pass(struct caller *c, const struct opening *o)
{
	const struct supervisor_setup *setup = session_setup(c->sup);

	if (setup->level != LEVEL_FULL || c->image_number != 0 || c->is_orphan)
		return false;
	if ((o->flags & O_ACCMODE) != O_RDONLY || o->flags & WRITES)
		return false;
	return (c->nr == __NR_openat || c->nr == __NR_open) && !is_early(c->sup) && gaps_hold(c->sup);
}

bool open_passes(struct caller *c, const struct opening *o, const char *real)
{
	return may_pass(c, o) && !open_is_odd(real) && floor_lets_read(session_setup(c->sup)->floor, real);
}

/*
 * What path really is called, where it leads through a link: its length, or -errno.  What lies on procfs
 * would be ours.
 */
static int real_path(const char *path, char *buf, size_t size)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	int n;

	if (fd < 0)
		return -errno;
	n = procfs_fd_path(fd, buf, size);
	if (n < 0)
		return n;
	/* " (deleted)" is part of a name, or is not. */
	return buf[0] != '/' || resolve_says_deleted(buf) ? -ENOENT : n;
}

/* Without a link on the way, so that path is what it is really called.  0, -ELOOP, -errno.  Asking for a
 * directory spares the descriptor of everything else. */
static int is_real(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 || errno == ENOTDIR ? 0 : -errno;
}

bool open_pass(struct caller *c, struct place *p, const struct opening *o, struct answer *ret)
{
	struct request req = { .op = OP_READ, .access = ACCESS_READ, .raw = p->raw };
	char path[LIMIT_PATH] UNINITIALIZED, real[LIMIT_PATH] UNINITIALIZED;
	struct decision d;
	int e;

	if (!p->raw[0] || !may_pass(c, o) || place_lexical(p, c, path, sizeof(path)) < 0 || open_is_odd(path))
		return false;
	req.path = place_unmerged(path, real, sizeof(real));
	e = is_real(req.path);
	if (e == -ENOENT) /* as the kernel will say too */
		e = 0;
	if (e == -ELOOP && !(o->flags & O_NOFOLLOW) && real_path(path, real, sizeof(real)) > 0) {
		req.path = real;
		e = 0;
	}
	if (req.path == real)
		req.given = path;
	if (e < 0 || open_is_odd(req.path) || !floor_lets_read(session_setup(c->sup)->floor, req.path))
		return false;
	d = verdict_of(c, &req);
	if (d.verdict != VERDICT_ALLOW)
		return false;
	verdict_conclude(c, &req, req.path, d);
	*ret = answer_continue();
	return true;
}
