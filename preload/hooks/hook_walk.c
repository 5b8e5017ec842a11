/*
 * Walks that libc makes: glob and the tree walkers open directories inside libc, without a hook of open.
 * glob accepts functions that list a directory and gets our own.  The others do not: at level hooks a
 * directory that fts is about to enter, and the one that ftw starts from, are judged here; above level
 * hooks the kernel judges each.  Below its start ftw shows names and sizes, which can be read without an
 * open (README).
 */
#include "preload/judge/check.h"
#include "preload/process/raw.h"
#include "preload/process/session.h"

#include "hooks.h"
#include "late.h"

/* Functions that list a directory, with the types that glob requires. */
static void *glob_open(const char *path)
{
	return opendir(path);
}

static struct dirent *glob_read(void *dir)
{
	return readdir(dir);
}

static void glob_close(void *dir)
{
	closedir(dir);
}

typedef int glob_type(const char *pattern, int flags, int (*fail)(const char *path, int error), glob_t *ret);

/* On 64-bit systems both structures are the same. */
static int glob_listed(glob_type *libc_glob, const char *pattern, int flags,
		       int (*failed)(const char *path, int error), glob_t *ret)
{
	glob_t g;
	int r;

	if (!judging() || flags & GLOB_ALTDIRFUNC)
		return libc_glob(pattern, flags, failed, ret);
	g = *ret;
	g.gl_opendir = glob_open;
	g.gl_readdir = glob_read;
	g.gl_closedir = glob_close;
	g.gl_stat = stat;
	g.gl_lstat = lstat;
	r = libc_glob(pattern, flags | GLOB_ALTDIRFUNC, failed, &g);
	ret->gl_pathc = g.gl_pathc;
	ret->gl_pathv = g.gl_pathv;
	ret->gl_offs = g.gl_offs;
	ret->gl_flags = g.gl_flags & ~GLOB_ALTDIRFUNC;
	return r;
}

int glob(const char *pattern, int flags, int (*failed)(const char *path, int error), glob_t *ret)
{
	static glob_type *libc_glob;

	return glob_listed(LATE(libc_glob, "glob"), pattern, flags, failed, ret);
}

int glob64(const char *pattern, int flags, int (*failed)(const char *path, int error), glob64_t *ret)
{
	static glob_type *libc_glob;

	return glob_listed(LATE(libc_glob, "glob64"), pattern, flags, failed, (glob_t *)(void *)ret);
}

/* A denial looks like libc's result for a directory that cannot be opened. */
static FTSENT *fts_judged(FTSENT *e)
{
	int r;

	if (!e || e->fts_info != FTS_D || !judging_alone())
		return e;
	r = check_only(OP_READ, ACCESS_READ, AT_FDCWD, e->fts_accpath, RESOLVE_FOLLOW_LAST);
	if (r != -EACCES && r != -ENOENT)
		return e;
	e->fts_info = FTS_DNR;
	e->fts_errno = -r;
	return e;
}

FTSENT *fts_read(FTS *walk)
{
	static FTSENT *(*libc_read)(FTS *);

	return fts_judged(LATE(libc_read, "fts_read")(walk));
}

FTSENT64 *fts64_read(FTS64 *walk)
{
	static FTSENT64 *(*libc_read)(FTS64 *);

	return (FTSENT64 *)(void *)fts_judged((FTSENT *)(void *)LATE(libc_read, "fts64_read")(walk));
}

/* Judges the start of a walk: 0 or -errno.  If it is not a directory, it is not opened. */
static int check_start(const char *path)
{
	struct stat st;

	if (!judging_alone() || !path || raw4(SYS_newfstatat, AT_FDCWD, path, &st, 0) < 0 ||
	    !S_ISDIR(st.st_mode))
		return 0;
	return check_only(OP_READ, ACCESS_READ, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);
}

/* The 64 forms differ only in the name of a structure. */
#define FTW(name, fn_type)                                                                                   \
	int name(const char *path, fn_type fn, int fds)                                                      \
	{                                                                                                    \
		static int (*libc_walk)(const char *, fn_type, int);                                         \
		int r = check_start(path);                                                                   \
                                                                                                             \
		return r < 0 ? fail(r) : LATE(libc_walk, #name)(path, fn, fds);                              \
	}
#define NFTW(name, fn_type)                                                                                  \
	int name(const char *path, fn_type fn, int fds, int flags)                                           \
	{                                                                                                    \
		static int (*libc_walk)(const char *, fn_type, int, int);                                    \
		int r = check_start(path);                                                                   \
                                                                                                             \
		return r < 0 ? fail(r) : LATE(libc_walk, #name)(path, fn, fds, flags);                       \
	}

FTW(ftw, __ftw_func_t)
FTW(ftw64, __ftw64_func_t)
NFTW(nftw, __nftw_func_t)
NFTW(nftw64, __nftw64_func_t)
