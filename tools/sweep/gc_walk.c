/*
 * Directories that an agent could write, walked and removed by the operator.
 *
 * Guarantees: nothing is reached through a link or across a mount point, and what is removed lies in a
 * directory that was open when it was examined.  At most LEVELS directories are open: a deeper tree is not
 * removed (-E2BIG).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "policy/system/cleanup.h"

#include "gc.h"

#define LEVELS 32
#define TRIES  8 /* of an openat2() that failed because of a concurrent rename */

/* RESOLVE_NO_SYMLINKS refuses a link at the end with ELOOP; O_NOFOLLOW would give ENOTDIR. */
#define OPEN_FLAGS (O_DIRECTORY | O_CLOEXEC)

static int open_beneath(int at, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned)flags,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV |
					   RESOLVE_NO_MAGICLINKS };
	long fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

static int check_ours(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() ? 0 : -EPERM;
}

/* Adds our permissions to a directory of ours that lacks them, to remove it; by its descriptor, not by its
 * name. */
static int unlock(int at, const char *path)
{
	_cleanup_close_ int held = open_beneath(at, path, O_PATH | OPEN_FLAGS);
	char link[64];

	if (held < 0)
		return held;
	if (check_ours(held) < 0)
		return -EPERM;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	return chmod(link, 0700) < 0 ? -errno : 0;
}

int gc_open_dir(int at, const char *path)
{
	/* O_NOATIME, since the sweep must not change the access times by which it sees the agent's own
	 * accesses. */
	int fd = open_beneath(at, path, O_RDONLY | O_NOATIME | OPEN_FLAGS);
	int r;

	if (fd < 0)
		return fd;
	r = check_ours(fd);
	if (r < 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

DIR *gc_stream(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir && copy >= 0)
		(void)close(copy);
	return dir;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void gc_each(struct sweep *g, int fd, gc_entry_fn *fn, void *ctx)
{
	DIR *stream = gc_stream(fd);
	const struct dirent *e;

	while (stream && (e = readdir(stream))) {
		if (is_dot(e->d_name))
			continue;
		if (!gc_is_over(g))
			fn(ctx, dirfd(stream), e->d_name);
		else if (!gc_leave(g))
			break;
	}
	if (stream)
		(void)closedir(stream);
}

/* --- how old it is --- */

bool gc_may_be_used(const struct sweep *g, const struct stat *st)
{
	return st->st_ctime >= g->here_since;
}

static int64_t newest_of(const struct sweep *g, const struct stat *st, bool accessed)
{
	if (gc_may_be_used(g, st))
		return INT64_MAX;
	return accessed && st->st_atime > st->st_mtime ? st->st_atime : st->st_mtime;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Pushes at/name; false where it cannot be opened. */
static bool push(DIR *stack[LEVELS], size_t *n, int at, const char *name)
{
	int fd = *n < LEVELS ? gc_open_dir(at, name) : -EMFILE;

	if (fd < 0)
		return false;
	stack[*n] = fdopendir(fd);
	if (!stack[*n])
		(void)close(fd);
	else
		(*n)++;
	return true;
}

int64_t gc_tree_newest(const struct sweep *g, int at, const char *name, int64_t enough, bool accessed)
{
	DIR *stack[LEVELS];
	struct stat st;
	int64_t newest;
	size_t n = 0;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return INT64_MAX;
	newest = newest_of(g, &st, accessed);
	if (S_ISDIR(st.st_mode) && newest <= enough)
		(void)push(stack, &n, at, name);
	while (n) {
		const struct dirent *e;

		if (newest <= enough && gc_is_over(g))
			newest = INT64_MAX;
		e = newest > enough ? NULL : readdir(stack[n - 1]);

		if (!e) {
			(void)closedir(stack[--n]);
			continue;
		}
		if (is_dot(e->d_name) ||
		    fstatat(dirfd(stack[n - 1]), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		newest = max(newest, newest_of(g, &st, accessed));
		if (S_ISDIR(st.st_mode) && newest <= enough)
			(void)push(stack, &n, dirfd(stack[n - 1]), e->d_name);
	}
	return newest;
}

/* --- removing it --- */

struct held {
	DIR *dir;
	struct timespec mtime;
	char name[NAME_MAX + 1];
};

struct removal {
	const struct sweep *g;
	struct held stack[LEVELS];
	size_t n;
	bool progress;
	int error; /* the first */
};

/* ENOENT is no error: another sweep removed it. */
static void note_error(struct removal *r, int error)
{
	if (r->error == 0 && error != -ENOENT)
		r->error = error;
}

static int enter(struct removal *r, int at, const char *name)
{
	struct held *l = &r->stack[r->n];
	int fd = gc_open_dir(at, name);
	struct stat st;

	if (fd == -EACCES && unlock(at, name) == 0)
		fd = gc_open_dir(at, name);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || ((st.st_mode & 0700) != 0700 && fchmod(fd, 0700) < 0)) {
		(void)close(fd);
		return -EACCES;
	}
	l->dir = fdopendir(fd);
	if (!l->dir) {
		(void)close(fd);
		return -ENOMEM;
	}
	l->mtime = st.st_mtim;
	snprintf(l->name, sizeof(l->name), "%s", name);
	r->n++;
	return 0;
}

static void remove_entry(struct removal *r, const struct dirent *e)
{
	int at = dirfd(r->stack[r->n - 1].dir), err;

	if (unlinkat(at, e->d_name, 0) == 0) {
		r->progress = true;
		return;
	}
	/* For a directory Linux returns EISDIR, POSIX EPERM. */
	if (errno != EISDIR && errno != EPERM) {
		note_error(r, -errno);
		return;
	}
	err = errno;
	if (unlinkat(at, e->d_name, AT_REMOVEDIR) == 0) {
		r->progress = true;
		return;
	}
	if (errno == ENOTDIR) {
		note_error(r, -err);
		return;
	}
	err = r->n < LEVELS ? enter(r, at, e->d_name) : -E2BIG;
	if (err < 0)
		note_error(r, err);
}

static void leave(struct removal *r)
{
	struct held *l = &r->stack[--r->n];

	(void)closedir(l->dir);
	if (r->n && unlinkat(dirfd(r->stack[r->n - 1].dir), l->name, AT_REMOVEDIR) == 0)
		r->progress = true;
}

/* A directory that is removed in part keeps its old time, so that the next sweep continues with it. */
static void give_up(struct removal *r)
{
	while (r->n) {
		const struct held *l = &r->stack[--r->n];
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, l->mtime };

		(void)futimens(dirfd(l->dir), times);
		(void)closedir(l->dir);
	}
}

static int empty_directory(struct removal *r)
{
	while (r->n) {
		const struct dirent *e;

		if (gc_is_over(r->g)) {
			give_up(r);
			return -ETIME;
		}
		e = readdir(r->stack[r->n - 1].dir);
		if (!e)
			leave(r);
		else if (!is_dot(e->d_name))
			remove_entry(r, e);
	}
	return 0;
}

int gc_tree_remove(const struct sweep *g, int at, const char *name)
{
	_cleanup_free_ struct removal *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->g = g;
	do {
		if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno == ENOTDIR)
			return unlinkat(at, name, 0) < 0 && errno != ENOENT ? -errno : 0;
		r->progress = false;
		r->error = 0;
		err = enter(r, at, name);
		if (err == 0)
			err = empty_directory(r);
	} while (err == 0 && r->progress);
	if (err == -ENOENT || (err == 0 && (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)))
		return 0;
	return err < 0 ? err : r->error < 0 ? r->error : -ENOTEMPTY;
}
