/*
 * An allowed open for reading that the kernel performs (SECCOMP_USER_NOTIF_FLAG_CONTINUE), at level full.
 *
 * The kernel reads the path anew, so what it opens may be another file than was judged: a second thread may
 * have changed the text, a link, a directory or the working directory.  That does no harm where the floor
 * holds every rule that keeps something from being read (floor_holds_reads(), gaps_hold()): wherever the
 * path leads by then, Landlock denies what the policy denies, and the caller may read everything else.  A
 * link is no exception: Landlock checks the file that is opened in the end, and the floor grants no denied
 * place.  The flags are in a register, so the file cannot be opened for writing; openat2 has its flags in
 * memory, so it is performed here.
 *
 * The kernel's open must not fail where the supervisor's own would succeed: only paths whose real path the
 * floor grants are left to the kernel.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/confine.h"
#include "tools/wall/numbers.h"

#include "gaps.h"
#include "open.h"

/*
 * The first opens of a session are performed here: to watch the gaps costs more than these opens, and to
 * remove a watch waits for a grace period of the kernel, which takes several times as long as a whole `pale
 * run true`.
 */
#define OPENS_SPARED 32

#define WRITES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) | O_PATH)

bool open_is_odd(const char *path)
{
	return path_is_under(path, "/proc") || path_is_under(path, "/dev");
}

/* The image of a nested run has rules that the floor does not hold. */
static bool may_pass(struct caller *c, const struct opening *o)
{
	const struct supervisor_setup *setup = session_setup(c->sup);

	if (setup->level != LEVEL_FULL || c->image_number != 0 || c->is_orphan)
		return false;
	if ((o->flags & O_ACCMODE) != O_RDONLY || o->flags & WRITES)
		return false;
	return (c->nr == __NR_openat || c->nr == __NR_open) && !gaps_spare(c->sup, OPENS_SPARED) &&
	       gaps_hold(c->sup);
}

bool open_passes(struct caller *c, const struct opening *o, const char *real)
{
	return may_pass(c, o) && !open_is_odd(real) && floor_lets_read(session_setup(c->sup)->floor, real);
}

/*
 * The real path, where path leads through a link: its length, or -errno.  On procfs it would be the
 * supervisor's.
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
	/* " (deleted)" may be part of the name, or not. */
	return buf[0] != '/' || resolve_says_deleted(buf) ? -ENOENT : n;
}

/* 0 where no link is on the way, so that path is the real path; -ELOOP, -errno.  Opening it as a directory
 * avoids a descriptor for everything else. */
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
	if (e == -ENOENT) /* the kernel will return it too */
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
