/*
 * From a caller's (dirfd, path) to a place that is held.  The resolver is the one that the preload uses,
 * with other system calls below it.
 *
 * Guarantees: no link is followed to the supervisor itself: "self" and "thread-self" of procfs mean the
 * caller, and magic links (/proc/PID/fd/N, cwd, root, exe) are followed only where PID belongs to the
 * session.  The supervisor stands outside the agent's Landlock domain, so the kernel would let it follow
 * many links that it refuses to the agent (ptrace(2), "access mode checking").
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"

#include "caller.h"
#include "domain.h"
#include "procfs.h"

/*
 * The caller for which this thread resolves.  The resolver's table has no argument for it, since the
 * preload, which always resolves for itself, would have the cost of one.  Set in place_resolve() only,
 * while it resolves.
 */
static _Thread_local struct walk_for {
	struct caller *c;
	struct place *p;
} walk_for;

/* --- the resolver's system calls --- */

static int walk_open_path(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | (directory ? O_DIRECTORY : 0u) |
					 (nofollow ? O_NOFOLLOW : 0u) };
	long fd;

	if (walk_for.p->foreign || walk_for.p->beyond)
		return -EACCES;
	if (no_symlinks)
		how.resolve = RESOLVE_NO_SYMLINKS;
	fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

static int walk_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, path, buf, size);

	if (n < 0)
		return -errno;
	if (strcmp(path, "self") == 0 && procfs_is_root(dirfd))
		return snprintf(buf, size, "%d", caller_tgid(walk_for.c));
	if (strcmp(path, "thread-self") == 0 && procfs_is_root(dirfd))
		return snprintf(buf, size, "%d/task/%d", caller_tgid(walk_for.c), walk_for.c->tid);
	return (int)n;
}

static int walk_fd_path(int fd, char *buf, size_t size)
{
	return procfs_fd_path(fd, buf, size);
}

/* Never called: the caller's directory is given as a descriptor. */
static int walk_cwd_path(char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return -ENOENT;
}

static int walk_close(int fd)
{
	return close(fd);
}

/* Called before a magic link is followed.  A link of a process outside the session, or outside the caller's
 * own Landlock domain, ends the resolution. */
static int walk_is_magic(int dirfd)
{
	char path[LIMIT_PATH] UNINITIALIZED;

	if (!procfs_holds(dirfd))
		return 0;
	walk_for.p->crossed = true;
	if (procfs_fd_path(dirfd, path, sizeof(path)) < 0 || procfs_is_foreign(walk_for.c, dirfd, path))
		walk_for.p->foreign = true;
	else if (caller_is_confined(walk_for.c))
		walk_for.p->beyond = !caller_may_look_into(walk_for.c, procfs_pid(dirfd, path));
	return 1;
}

/* place_resolve() sets magic_fd itself: the resolver would look up descriptor N of the supervisor. */
static const struct resolve_sys walk_sys = {
	.open_path = walk_open_path,
	.readlinkat = walk_readlinkat,
	.fd_path = walk_fd_path,
	.cwd_path = walk_cwd_path,
	.close = walk_close,
	.is_magic = walk_is_magic,
	.own_pid = NULL,
};

/* --- reading --- */

static void place_init(struct place *p, int dirfd)
{
	p->dirfd = dirfd;
	p->base = -1;
	p->foreign = p->crossed = p->beyond = false;
	p->r.parent = p->r.magic_fd = -1;
	p->r.parent_owned = p->r.magic = false;
}

int place_read(struct place *p, struct caller *c, int dirfd, uint64_t addr)
{
	int n;

	place_init(p, dirfd);
	n = caller_string(c, addr, p->raw, sizeof(p->raw));
	if (n < 0)
		p->raw[0] = '\0';
	return n < 0 ? n : 0;
}

int place_from(struct place *p, int dirfd, const char *path)
{
	size_t n = strlen(path);

	place_init(p, dirfd);
	p->raw[0] = '\0';
	if (n >= sizeof(p->raw))
		return -ENAMETOOLONG;
	memcpy(p->raw, path, n + 1);
	return 0;
}

int place_base(struct place *p, struct caller *c)
{
	if (p->raw[0] == '/')
		return AT_FDCWD;
	if (p->base < 0)
		p->base = caller_dir(c, p->dirfd);
	return p->base;
}

void place_release(struct place *p)
{
	resolved_done(&walk_sys, &p->r);
}

void place_done(struct place *p)
{
	place_release(p);
	if (p->base >= 0)
		close(p->base);
	p->base = -1;
}

/* --- holding --- */

int place_resolve(struct place *p, struct caller *c, enum resolve_follow follow)
{
	int base = p->raw[0] ? place_base(p, c) : -ENOENT;
	int e;

	if (base < 0 && base != AT_FDCWD)
		return base;
	place_release(p);
	p->foreign = p->crossed = p->beyond = false;
	walk_for = (struct walk_for){ c, p };
	e = resolve(&walk_sys, base, p->raw, follow, &p->r);
	walk_for = (struct walk_for){ NULL, NULL };
	if (e == 0 && p->beyond)
		e = -EACCES;
	if (e < 0)
		return e;
	if (p->r.magic)
		p->r.magic_fd = procfs_fd_number(c, p->r.parent, p->r.name);
	return 0;
}

bool place_is_foreign(const struct place *p, struct caller *c)
{
	if (p->foreign)
		return true;
	return !p->r.magic && procfs_holds(p->r.parent) && procfs_is_foreign(c, p->r.parent, p->r.path);
}

const char *place_given(const struct place *p)
{
	bool by_number =
		p->crossed && (path_is_under(p->r.given, "/proc") || path_is_under(p->r.given, "/dev"));

	return p->r.same || p->r.magic || by_number ? NULL : p->r.given;
}

/* --- the near way --- */

/* The path of the directory that raw starts from: its length, or -errno where it is not known. */
static int base_path(struct place *p, struct caller *c, char *buf, size_t size)
{
	char name[24] = "cwd";
	ssize_t n;
	int dir;

	if (p->base >= 0) {
		n = procfs_fd_path(p->base, buf, size);
	} else {
		dir = caller_proc(c);
		if (dir < 0)
			return dir;
		if (p->dirfd != AT_FDCWD)
			snprintf(name, sizeof(name), "fd/%d", p->dirfd);
		n = readlinkat(dir, name, buf, size - 1);
		n = n < 0 ? -errno : n == (ssize_t)size - 1 ? -ENAMETOOLONG : n;
	}
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	return buf[0] != '/' || resolve_says_deleted(buf) ? -ENOENT : (int)n;
}

int place_lexical(struct place *p, struct caller *c, char *buf, size_t size)
{
	char base[LIMIT_PATH] UNINITIALIZED;
	int n;

	if (path_has_dotdot(p->raw))
		return -ELOOP;
	if (p->raw[0] == '/')
		return path_normalise("/", p->raw, buf, size);
	n = base_path(p, c, base, sizeof(base));
	return n < 0 ? n : path_normalise(base, p->raw, buf, size);
}

bool place_stands(struct place *p, struct caller *c, const char *lexical)
{
	char base[LIMIT_PATH] UNINITIALIZED;

	if (p->raw[0] == '/')
		return true;
	return base_path(p, c, base, sizeof(base)) > 0 && path_is_under(lexical, base);
}

/*
 * The links that a merged /usr leaves in the root (hier(7)): the C library of every program is opened
 * through one.  Only root can change them, so they are read once.
 */
static const char *const merged[] = { "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/libx32/" };
static bool is_merged[NELEM(merged)];

static void find_merged(void)
{
	for (size_t i = 0; i < NELEM(merged); i++) {
		char name[16], to[32] = { 0 };

		snprintf(name, sizeof(name), "%.*s", (int)strlen(merged[i]) - 1, merged[i]);
		is_merged[i] = readlink(name, to, sizeof(to) - 1) > 0 && strncmp(to, "usr", 3) == 0 &&
			       strcmp(to + 3, name) == 0;
	}
}

const char *place_unmerged(const char *lexical, char *buf, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_merged);
	for (size_t i = 0; i < NELEM(merged); i++)
		if (is_merged[i] && strncmp(lexical, merged[i], strlen(merged[i])) == 0 &&
		    snprintf(buf, size, "/usr%s", lexical) < (int)size)
			return buf;
	return lexical;
}
