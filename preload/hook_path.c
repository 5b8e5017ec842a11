/*
 * Hooks of what is done to names: remove, rename, link, make, and change attributes.  Each judges,
 * then acts by an *at call on the very place that was judged.
 */
#include "preload/hooks.h"
#include "preload/next.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/* --- remove ------------------------------------------------------------------------------------- */

static int delete_at(int dirfd, const char *path, int flags)
{
	struct spot s;
	long r = check_path(&s, OP_DELETE, dirfd, path, RESOLVE_ENTRY_LAST);

	if (r == 0)
		r = next_unlinkat(s.dirfd, s.name, flags);
	spot_done(&s);
	return (int)r;
}

int unlink(const char *path)
{
	return (int)libc_result(delete_at(AT_FDCWD, path, 0));
}

int unlinkat(int dirfd, const char *path, int flags)
{
	return (int)libc_result(delete_at(dirfd, path, flags));
}

int rmdir(const char *path)
{
	return (int)libc_result(delete_at(AT_FDCWD, path, AT_REMOVEDIR));
}

int remove(const char *path)
{
	struct spot s;
	long r = check_path(&s, OP_DELETE, AT_FDCWD, path, RESOLVE_ENTRY_LAST);

	if (r == 0) {
		r = next_unlinkat(s.dirfd, s.name, 0);
		if (r == -EISDIR)
			r = next_unlinkat(s.dirfd, s.name, AT_REMOVEDIR);
	}
	spot_done(&s);
	return (int)libc_result(r);
}

/* --- rename and link ---------------------------------------------------------------------------- */

struct ends {
	int fromfd;
	const char *from;
	int tofd;
	const char *to;
	unsigned flags;
};

/* What moved may be a directory: cached paths of directories end here, in every process.  Asking what
 * it was would cost every rename of a file more than the next look-up costs. */
static void note_move(void)
{
	if (session.ring)
		atomic_fetch_add_explicit(&session.ring->moved, 1, memory_order_release);
}

static long rename_ends(const struct ends *e)
{
	unsigned swap = e->flags & RENAME_EXCHANGE ? ACCESS_DELETE | ACCESS_WRITE : 0;
	struct spot from, to = { 0 };
	struct beside b = { &from, e->fromfd, e->from };
	long r = check_access(&from, OP_RENAME, ACCESS_DELETE | swap, e->fromfd, e->from, RESOLVE_ENTRY_LAST);

	if (r == 0)
		r = check_beside(&to, &b, OP_RENAME, ACCESS_WRITE | swap, e->tofd, e->to);
	if (r == 0) {
		r = e->flags ? raw5(SYS_renameat2, from.dirfd, from.name, to.dirfd, to.name, (long)e->flags)
			     : next_renameat(from.dirfd, from.name, to.dirfd, to.name);
		if (r == 0)
			note_move();
	}
	spot_done(&from);
	spot_done(&to);
	return r;
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

/* A hard link is another name to write through, so its source needs the right to be written. */
static long link_judged(const struct ends *e)
{
	enum resolve_follow follow =
		e->flags & AT_SYMLINK_FOLLOW ? RESOLVE_FOLLOW_LAST : RESOLVE_NOFOLLOW_LAST;
	struct spot from, to = { 0 };
	struct beside b = { &from, e->fromfd, e->from };
	long r = check_access(&from, OP_LINK, ACCESS_WRITE, e->fromfd, e->from, follow);

	if (r == 0)
		r = check_beside(&to, &b, OP_LINK, ACCESS_WRITE, e->tofd, e->to);
	if (r == 0) {
		unsigned flags =
			from.magic || !from.scratch ? e->flags : e->flags & ~(unsigned)AT_SYMLINK_FOLLOW;

		r = raw5(SYS_linkat, from.dirfd, from.name, to.dirfd, to.name, (long)flags);
	}
	spot_done(&from);
	spot_done(&to);
	return r;
}

/* A descriptor instead of a source: said by its magic link, which is judged by what it leads to. */
static long link_ends(const struct ends *e)
{
	struct ends named = *e;
	char self[40];

	if (judging() && e->flags & AT_EMPTY_PATH && e->from && !*e->from && e->fromfd >= 0) {
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
	struct spot s;
	long r = check_path(&s, OP_SYMLINK, dirfd, path, RESOLVE_ENTRY_LAST);

	if (r == 0)
		r = raw3(SYS_symlinkat, target, s.dirfd, s.name);
	spot_done(&s);
	return (int)libc_result(r);
}

int symlink(const char *target, const char *path)
{
	return symlinkat(target, AT_FDCWD, path);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	struct spot s;
	long r = check_path(&s, OP_MKDIR, dirfd, path, RESOLVE_ENTRY_LAST);

	if (r == 0)
		r = next_mkdirat(s.dirfd, s.name, mode);
	spot_done(&s);
	return (int)libc_result(r);
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
	struct spot s;
	long r = check_path(&s, OP_MKNOD, dirfd, path, RESOLVE_ENTRY_LAST);

	if (r == 0)
		r = next_mknodat(s.dirfd, s.name, mode, dev);
	spot_done(&s);
	return (int)libc_result(r);
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
