/*
 * Hooks of calls on names: remove, rename, link and make.  Each judges its path, then acts by an *at call
 * on the place that was judged.
 */
#include "policy/base/fileop.h"

#include "preload/judge/check.h"
#include "preload/judge/name_call.h"
#include "preload/judge/next.h"
#include "preload/process/gate.h"
#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/* --- remove ------------------------------------------------------------------------------------- */

static int delete_at(int dirfd, const char *path, int flags)
{
	struct name_call c = { .op = OP_DELETE,
			       .follow = RESOLVE_ENTRY_LAST,
			       .dirfd = dirfd,
			       .path = path,
			       .nr = SYS_unlinkat,
			       .word = { flags },
			       .act = NEXT(next_unlinkat) };

	return (int)libc_result(name_call(&c));
}

int unlink(const char *path)
{
	return delete_at(AT_FDCWD, path, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
	return delete_at(dirfd, path, flags);
}

int rmdir(const char *path)
{
	return delete_at(AT_FDCWD, path, AT_REMOVEDIR);
}

/* libc's remove tries unlink and then rmdir.  Here one call is made, so that it is judged and recorded
 * once. */
int remove(const char *path)
{
	struct stat st;
	bool dir = raw4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);

	return delete_at(AT_FDCWD, path, dir ? AT_REMOVEDIR : 0);
}

/* --- rename and link ---------------------------------------------------------------------------- */

struct ends {
	int fromfd;
	const char *from;
	int tofd;
	const char *to;
	unsigned flags;
};

/* If the gate refused the call, neither end is recorded. */
static long spots_did(struct spot *from, struct spot *to, long r)
{
	spot_did(from, r);
	return spot_did(to, r);
}

/* renameat2 without flags is renameat, which more file systems and emulators support. */
static long rename_act(const struct spot *from, const struct spot *to, const struct ends *e)
{
	if (e->flags)
		return gate5(SYS_renameat2, from->dirfd, from->name, to->dirfd, to->name, e->flags);
	if (real_interposed)
		return next_renameat(from->dirfd, from->name, to->dirfd, to->name);
	return gate4(SYS_renameat, from->dirfd, from->name, to->dirfd, to->name);
}

static long rename_plain(const struct ends *e)
{
	if (e->flags)
		return carried5(SYS_renameat2, e->fromfd, e->from, e->tofd, e->to, e->flags);
	if (real_interposed)
		return next_renameat(e->fromfd, e->from, e->tofd, e->to);
	return carried4(SYS_renameat, e->fromfd, e->from, e->tofd, e->to);
}

/*
 * A directory may be renamed, so the cached paths of directories become invalid, in every process.
 * Landlock does not allow a directory to move (tools/wall/landlock.c): the supervisor renames it, after it
 * has checked what is in it.
 */
static long rename_counted(const struct spot *from, const struct spot *to, const struct ends *e)
{
	uint64_t begun = sys_move_begin();
	long r = from ? rename_act(from, to, e) : rename_plain(e);

	sys_move_end(begun, r == 0, from ? from->target : NULL, to ? to->target : NULL);
	return r;
}

static long rename_ends(const struct ends *e)
{
	unsigned swap = e->flags & RENAME_EXCHANGE ? ACCESS_DELETE | ACCESS_WRITE : 0;
	struct spot from UNINITIALIZED, to UNINITIALIZED;
	long r = check_access(&from, OP_RENAME, ACCESS_DELETE | swap, e->fromfd, e->from, RESOLVE_ENTRY_LAST);

	if (r == CHECK_ACT) {
		swap |= rename_takes(mode_of(from.dirfd, from.name));
		r = check_beside(&to, &from, OP_RENAME, ACCESS_WRITE | swap, e->tofd, e->to);
		if (r == CHECK_ACT)
			r = spots_did(&from, &to, rename_counted(&from, &to, e));
		spot_done(&to);
	}
	spot_done(&from);
	return r == CHECK_PLAIN ? rename_counted(NULL, NULL, e) : r;
}

int rename(const char *from, const char *to)
{
	struct ends e = { AT_FDCWD, from, AT_FDCWD, to, 0 };

	return (int)libc_result(rename_ends(&e));
}

int renameat(int fromfd, const char *from, int tofd, const char *to)
{
	struct ends e = { fromfd, from, tofd, to, 0 };

	return (int)libc_result(rename_ends(&e));
}

int renameat2(int fromfd, const char *from, int tofd, const char *to, unsigned flags)
{
	struct ends e = { fromfd, from, tofd, to, flags };

	return (int)libc_result(rename_ends(&e));
}

/* A hard link is another name to write through, so the source is judged as a write. */
static long link_judged(const struct ends *e)
{
	enum resolve_follow follow =
		e->flags & AT_SYMLINK_FOLLOW ? RESOLVE_FOLLOW_LAST : RESOLVE_NOFOLLOW_LAST;
	struct spot from UNINITIALIZED, to UNINITIALIZED;
	long r = check_access(&from, OP_LINK, ACCESS_WRITE, e->fromfd, e->from, follow);

	if (r == CHECK_ACT) {
		unsigned flags =
			from.magic || !from.scratch ? e->flags : e->flags & ~(unsigned)AT_SYMLINK_FOLLOW;

		r = check_beside(&to, &from, OP_LINK, ACCESS_WRITE, e->tofd, e->to);
		if (r == CHECK_ACT)
			r = spots_did(&from, &to,
				      gate5(SYS_linkat, from.dirfd, from.name, to.dirfd, to.name, flags));
		spot_done(&to);
	}
	spot_done(&from);
	return r == CHECK_PLAIN ? carried5(SYS_linkat, e->fromfd, e->from, e->tofd, e->to, e->flags) : r;
}

/* If the source is a descriptor, its magic link in /proc is used, which is judged by what it leads to. */
static long link_ends(const struct ends *e)
{
	struct ends named = *e;
	char self[40];

	if (judging() && e->flags & AT_EMPTY_PATH && e->from && memory_has(e->from, 1) && !*e->from &&
	    e->fromfd >= 0) {
		sys_fd_link(e->fromfd, self, sizeof self);
		named.fromfd = AT_FDCWD;
		named.from = self;
		named.flags = AT_SYMLINK_FOLLOW;
	}
	return link_judged(&named);
}

int link(const char *from, const char *to)
{
	struct ends e = { AT_FDCWD, from, AT_FDCWD, to, 0 };

	return (int)libc_result(link_ends(&e));
}

int linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
	struct ends e = { fromfd, from, tofd, to, (unsigned)flags };

	return (int)libc_result(link_ends(&e));
}

/* --- make --------------------------------------------------------------------------------------- */

int symlinkat(const char *target, int dirfd, const char *path)
{
	struct name_call c = { .op = OP_SYMLINK,
			       .follow = RESOLVE_ENTRY_LAST,
			       .dirfd = dirfd,
			       .path = path,
			       .nr = SYS_symlinkat,
			       .word = { RAW_ARG(target) } };

	return (int)libc_result(name_call(&c));
}

int symlink(const char *target, const char *path)
{
	return symlinkat(target, AT_FDCWD, path);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	struct name_call c = { .op = OP_MKDIR,
			       .follow = RESOLVE_ENTRY_LAST,
			       .dirfd = dirfd,
			       .path = path,
			       .nr = SYS_mkdirat,
			       .word = { mode },
			       .act = NEXT(next_mkdirat) };

	return (int)libc_result(name_call(&c));
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
	struct name_call c = { .op = OP_MKNOD,
			       .follow = RESOLVE_ENTRY_LAST,
			       .dirfd = dirfd,
			       .path = path,
			       .nr = SYS_mknodat,
			       .word = { mode, (long)dev },
			       .act = NEXT(next_mknodat) };

	/* The kernel uses 32 bits of the device number here. */
	return dev != (unsigned)dev ? fail(-EINVAL) : (int)libc_result(name_call(&c));
}

int mknod(const char *path, mode_t mode, dev_t dev)
{
	return mknodat(AT_FDCWD, path, mode, dev);
}

int mkfifoat(int dirfd, const char *path, mode_t mode)
{
	return mknodat(dirfd, path, mode | S_IFIFO, 0);
}

int mkfifo(const char *path, mode_t mode)
{
	return mknodat(AT_FDCWD, path, mode | S_IFIFO, 0);
}

/* Programs built before glibc 2.33 import these. */
int __xmknod(int ver, const char *path, mode_t mode, dev_t *dev)
{
	return ver > 1 ? fail(-EINVAL) : mknodat(AT_FDCWD, path, mode, *dev);
}

int __xmknodat(int ver, int dirfd, const char *path, mode_t mode, dev_t *dev)
{
	return ver > 1 ? fail(-EINVAL) : mknodat(dirfd, path, mode, *dev);
}
