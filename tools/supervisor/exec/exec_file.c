/*
 * exec: the file of the program, and of an interpreter.  It is found as the kernel would find it for the
 * caller, and held open.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/wall/confine.h"

#include "exec.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/*
 * The fast way: most paths have no symbolic link, so the path as written is the real path, and openat2(2)
 * confirms it.  A descriptor, or -errno: use hold_far().
 */
static int hold_near(struct place *p, struct caller *c, char *real)
{
	char unmerged[LIMIT_PATH] UNINITIALIZED;
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	size_t len = strlen(p->raw);
	int n, fd;

	/* Whether the component before a trailing slash is a directory cannot be seen in the text. */
	if (len == 0 || p->raw[len - 1] == '/')
		return -ELOOP;
	n = place_lexical(p, c, real, LIMIT_PATH);
	if (n < 0)
		return n;
	p->r.same = place_unmerged(real, unmerged, sizeof(unmerged)) == real;
	if (!p->r.same) {
		strcpy(p->r.given, real);
		strcpy(real, unmerged);
	}
	fd = (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (procfs_holds(fd) || !place_stands(p, c, real)) {
		(void)close(fd);
		return -ELOOP;
	}
	return fd;
}

static int hold_far(struct place *p, struct caller *c, enum resolve_follow follow, char *real)
{
	int e = place_resolve(p, c, follow), fd;

	if (e < 0)
		return e;
	if (place_is_foreign(p, c))
		return -EACCES;
	if (p->r.magic && p->r.magic_fd >= 0)
		fd = caller_fd(c, p->r.magic_fd);
	else
		fd = openat(p->r.parent, p->r.name, O_PATH | O_CLOEXEC | (p->r.magic ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return p->r.magic_fd >= 0 ? fd : -errno;
	if (p->r.magic)
		e = procfs_fd_path(fd, real, LIMIT_PATH);
	else
		strcpy(real, p->r.path);
	if (e < 0) {
		(void)close(fd);
		return e;
	}
	return fd;
}

/* The program is the descriptor itself. */
static bool is_by_fd(const struct place *p, const struct exec_call *call)
{
	return !p->raw[0] && call->flags & AT_EMPTY_PATH;
}

static int hold_fd(struct caller *c, int dirfd, char *real)
{
	int fd = dirfd == AT_FDCWD ? caller_dir(c, AT_FDCWD) : caller_fd(c, dirfd);
	int e = fd < 0 ? fd : procfs_fd_path(fd, real, LIMIT_PATH);

	if (e < 0 && fd >= 0)
		(void)close(fd);
	return e < 0 ? e : fd;
}

/* The program of the call.  real is its real path. */
static int hold_program(struct place *p, struct caller *c, const struct exec_call *call, char *real)
{
	enum resolve_follow follow =
		call->flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST;
	int e = place_read(p, c, call->dirfd, call->path), fd;

	if (e < 0)
		return e;
	if (is_by_fd(p, call))
		return hold_fd(c, call->dirfd, real);
	fd = hold_near(p, c, real);
	return fd < 0 && fd != -EMFILE && fd != -ENFILE ? hold_far(p, c, follow, real) : fd;
}

int exec_hold_program(struct exec *x, struct caller *c, const struct exec_call *call)
{
	int fd = hold_program(&x->place, c, call, x->real);

	x->req.path = x->real;
	if (is_by_fd(&x->place, call))
		return fd;
	x->req.raw = x->place.raw;
	if (fd >= 0 && !x->place.r.same && strcmp(x->place.r.given, x->real) != 0)
		x->req.given = x->place.r.given;
	return fd;
}

int exec_hold(struct exec *x, struct caller *c, const char *path, char *real)
{
	int fd;

	place_done(&x->interp);
	fd = place_from(&x->interp, AT_FDCWD, path);
	if (fd < 0)
		return fd;
	fd = hold_near(&x->interp, c, real);
	return fd < 0 ? hold_far(&x->interp, c, RESOLVE_FOLLOW_LAST, real) : fd;
}

static bool is_file(int fd, const struct stat *was)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == was->st_dev && st.st_ino == was->st_ino;
}

bool exec_names_stand(struct exec *x, struct caller *c, const struct exec_call *call)
{
	_cleanup_close_ int dir = caller_dir(c, AT_FDCWD), program = -1, tool = -1;
	struct place *again = caller_scratch(c, sizeof(*again));
	char path[LIMIT_PATH];
	struct stat st;

	if (!again || fstat(x->held, &st) < 0)
		return false;
	(void)place_from(again, AT_FDCWD, "");
	program = hold_program(again, c, call, path);
	place_done(again);
	if (!is_file(program, &st))
		return false;
	if (x->tool) {
		tool = exec_hold(x, c, x->tool, path);
		if (!is_file(tool, &x->tool_file))
			return false;
	}
	return dir >= 0 && x->req.cwd && procfs_fd_path(dir, path, sizeof(path)) >= 0 &&
	       strcmp(path, x->cwd) == 0;
}

/* --- what it is --------------------------------------------------------------------------------------- */

int exec_usable(int fd, unsigned flags, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return -errno;
	if (S_ISLNK(ret->st_mode) && flags & AT_SYMLINK_NOFOLLOW)
		return -ELOOP;
	if (!S_ISREG(ret->st_mode))
		return -EACCES;
	return syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0 ? -errno : 0;
}

void exec_look(struct exec *x, int held, struct elf_info *ret)
{
	char link[PROCFS_LINK_MAX];

	procfs_own_link(held, link);
	if (!exec_inspect(link, ret))
		x->closed = true;
}

void exec_note_file(struct exec *x, struct caller *c, const struct stat *st, const char *real)
{
	const struct floor *f = session_setup(c->sup)->floor;

	x->file = *st;
	/* A file without a path (memfd, deleted) came to the caller as a descriptor: the floor has no rule
	 * for it. */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hold() has filled real */
	if (f && real[0] == '/' && st->st_nlink > 0 && !(floor_grants(f, real) & FLOOR_READ))
		x->readable = false;
}
