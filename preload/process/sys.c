/*
 * The system calls that the resolver needs, for this process; the lexical path of what a caller names;
 * scratch memory.
 */
#include "sys.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/vfs.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/base/seqlock.h"
#include "policy/wire/ring.h"

#include "clock.h"
#include "gate.h"
#include "process.h"
#include "session.h"

struct process *process;

/* musl lacks this variable, and one missing name would keep the program from starting. */
#pragma weak __libc_single_threaded

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

void process_init(void)
{
	long p = raw6(SYS_mmap, 0, (sizeof *process + 4095) & ~4095ul, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p < 0 && p > -4096)
		return;
	if (raw3(SYS_madvise, p, (sizeof *process + 4095) & ~4095ul, MADV_WIPEONFORK) < 0)
		return;
	process = (struct process *)p;
	/* Write to the page before reading it: a page that is read first costs two page faults. */
	process->pid = (int32_t)raw0(SYS_getpid);
}

int32_t sys_pid(void)
{
	int32_t pid = process ? __atomic_load_n(&process->pid, __ATOMIC_RELAXED) : 0;

	if (pid)
		return pid;
	pid = (int32_t)raw0(SYS_getpid);
	if (process)
		__atomic_store_n(&process->pid, pid, __ATOMIC_RELAXED);
	return pid;
}

bool sys_pid_is_new(void)
{
	return process && __atomic_load_n(&process->pid, __ATOMIC_RELAXED) == 0;
}

struct eval_memo *sys_memos(void)
{
	return process ? process->memos : NULL;
}

void *scratch_get(size_t size)
{
	long p = raw6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

void scratch_put(void *p, size_t size)
{
	if (p)
		raw2(SYS_munmap, p, size);
}

long gate_carried(long nr, long a, long b, long c, long d, long e)
{
	long r = -EINTR;

	for (int i = 0; r == -EINTR && i < GATE_ROUNDS; i++)
		r = raw6(nr, a, b, c, d, e, 0);
	return r;
}

int sys_close(int fd)
{
	return (int)raw1(SYS_close, fd);
}

static int sys_open_path(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow)
{
	unsigned long flags =
		O_PATH | O_CLOEXEC | (directory ? O_DIRECTORY : 0u) | (nofollow ? O_NOFOLLOW : 0u);

	if (no_symlinks) {
		struct open_how how = { .flags = flags, .resolve = RESOLVE_NO_SYMLINKS };

		return (int)gate_openat2(dirfd, path, &how);
	}
	return (int)raw4(SYS_openat, dirfd, path, (long)flags, 0);
}

static int sys_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	return (int)gate4(SYS_readlinkat, dirfd, path, buf, size);
}

void sys_fd_link(int fd, char *buf, size_t size)
{
	struct out o = out_of(buf, size);

	text_str(&o, "/proc/self/fd/");
	text_uint(&o, (uint64_t)fd);
	text_end(&o);
}

static int sys_fd_path(int fd, char *buf, size_t size)
{
	char link[40];
	long n;

	if (fd < 0)
		return -EBADF;
	sys_fd_link(fd, link, sizeof link);
	n = gate4(SYS_readlinkat, AT_FDCWD, link, buf, size - 1);
	if (n == (long)size - 1)
		return -ENAMETOOLONG;
	if (n < 0)
		return n == -ENOENT ? -EBADF : (int)n;
	buf[n] = '\0';
	return (int)n;
}

/* getcwd(2) gives "(unreachable)/x" for a directory outside the process's root and fails for a
 * deleted one. */
static int sys_cwd_path(char *buf, size_t size)
{
	long n = raw2(SYS_getcwd, buf, size);

	if (n == -ERANGE)
		return -ENAMETOOLONG;
	if (n < 0)
		return (int)n;
	return buf[0] == '/' ? (int)n - 1 : -ENOENT;
}

static int sys_is_magic(int dirfd)
{
	struct statfs sf;

	return raw2(SYS_fstatfs, dirfd, &sf) == 0 && sf.f_type == PROC_SUPER_MAGIC;
}

static int sys_own_pid(void)
{
	return sys_pid();
}

const struct resolve_sys sys_self = {
	.open_path = sys_open_path,
	.readlinkat = sys_readlinkat,
	.fd_path = sys_fd_path,
	.cwd_path = sys_cwd_path,
	.close = sys_close,
	.is_magic = sys_is_magic,
	.own_pid = sys_own_pid,
};

/* --- directory descriptors ---------------------------------------------------------------------- */

static uint64_t moved_now(void)
{
	return session.ring ? atomic_load_explicit(&session.ring->moved, memory_order_acquire) : 0;
}

/* Copies the cached path if the entry is complete and still valid.  Returns the length or 0. */
static int dir_lookup(const struct dir_entry *e, int fd, const struct statx *sx, uint64_t moved, char *buf,
		      size_t size)
{
	uint32_t seq = seq_read(&e->seq);
	uint32_t len = e->len;

	if (moved >= RING_COUNT_BUSY || e->fd != fd || e->moved != moved || e->ino != sx->stx_ino ||
	    len == 0 || len >= size || len >= DIR_CACHE_PATH)
		return 0;
	if (e->birth != (uint64_t)sx->stx_btime.tv_sec * 1000000000u + sx->stx_btime.tv_nsec ||
	    e->dev != ((uint64_t)sx->stx_dev_major << 32 | sx->stx_dev_minor))
		return 0;
	memcpy(buf, e->path, len);
	buf[len] = '\0';
	return seq_is_whole(&e->seq, seq) ? (int)len : 0;
}

/* If another writer has the entry, or the path is too long, nothing is cached. */
static void dir_store(struct dir_entry *e, int fd, const struct statx *sx, uint64_t moved, const char *path,
		      int len)
{
	if (len <= 0 || len >= DIR_CACHE_PATH || !(sx->stx_mask & STATX_BTIME) || !seq_take(&e->seq))
		return;
	e->fd = fd;
	e->moved = moved;
	e->ino = sx->stx_ino;
	e->birth = (uint64_t)sx->stx_btime.tv_sec * 1000000000u + sx->stx_btime.tv_nsec;
	e->dev = (uint64_t)sx->stx_dev_major << 32 | sx->stx_dev_minor;
	memcpy(e->path, path, (size_t)len);
	e->len = (uint32_t)len;
	seq_give(&e->seq);
}

/* The path of an open directory, from the cache or from the kernel.  Returns the length or -errno. */
static int dirfd_path(int fd, char *buf, size_t size)
{
	struct dir_entry *e = process ? &process->dirs[(unsigned)fd % DIR_CACHE_WAYS] : NULL;
	uint64_t moved = moved_now();
	struct statx sx;
	int n;

	if (!e || raw5(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &sx) < 0)
		return sys_fd_path(fd, buf, size);
	n = dir_lookup(e, fd, &sx, moved, buf, size);
	if (n > 0)
		return n;
	n = sys_fd_path(fd, buf, size);
	dir_store(e, fd, &sx, moved, buf, n);
	return n;
}

/* --- the working directory ---------------------------------------------------------------------- */

/*
 * True if every change of a working directory and every rename is counted: by the hooks, and by the
 * supervisor for calls that do not come through a hook, which the filter of level full sends to it.  False
 * with threads, since one may change the directory between the check and the act.
 */
static bool cwd_is_counted(void)
{
	return session.ring && process && level_now() == LEVEL_FULL && session.img.h->pass && sys_is_alone();
}

static int cwd_lookup(const struct cwd_entry *e, uint64_t moved, uint64_t wandered, char *buf, size_t size)
{
	uint32_t seq = seq_read(&e->seq);
	uint32_t len = e->len;

	if (len == 0 || len >= size || len >= DIR_CACHE_PATH || e->moved != moved ||
	    e->wandered != wandered || clock_now() - e->asked_ns >= CWD_NS)
		return 0;
	memcpy(buf, e->path, len + 1);
	return seq_is_whole(&e->seq, seq) ? (int)len : 0;
}

static __attribute__((cold)) void cwd_store(struct cwd_entry *e, uint64_t moved, uint64_t wandered,
					    const char *path, int len)
{
	uint64_t asked_ns = clock_now();

	if (len <= 0 || len >= DIR_CACHE_PATH || e->off ||
	    __atomic_load_n(&process->pid, __ATOMIC_RELAXED) != (int32_t)raw0(SYS_getpid) ||
	    !seq_take(&e->seq))
		return;
	e->moved = moved;
	e->wandered = wandered;
	e->asked_ns = asked_ns;
	memcpy(e->path, path, (size_t)len + 1);
	e->len = (uint32_t)len;
	seq_give(&e->seq);
}

/* Like sys_cwd_path(), with a cache. */
static int cwd_path(char *buf, size_t size)
{
	uint64_t moved, wandered;
	int n;

	if (!cwd_is_counted())
		return sys_cwd_path(buf, size);
	moved = moved_now();
	wandered = atomic_load_explicit(&session.ring->wandered, memory_order_acquire);
	if ((moved | wandered) >= RING_COUNT_BUSY)
		return sys_cwd_path(buf, size);
	n = cwd_lookup(&process->cwd, moved, wandered, buf, size);
	if (n > 0)
		return n;
	n = sys_cwd_path(buf, size);
	cwd_store(&process->cwd, moved, wandered, buf, n);
	return n;
}

__attribute__((cold)) long sys_wander(long nr, long where)
{
	long r;

	if (!session.ring)
		return gate1(nr, where);
	ring_count_begin(&session.ring->wandered);
	if (process && __atomic_load_n(&process->pid, __ATOMIC_RELAXED) == 0)
		process->cwd.off = true;
	r = gate1(nr, where);
	ring_count_end(&session.ring->wandered, true);
	return r;
}

uint64_t sys_move_begin(void)
{
	return session.ring ? ring_count_begin(&session.ring->moved) : 0;
}

void sys_move_end(uint64_t begun, bool done, const char *from, const char *to)
{
	struct cwd_entry *e = process ? &process->cwd : NULL;
	uint64_t before = session.ring ? ring_count_end(&session.ring->moved, done) : 0;

	/* The cached path stays valid only if the counts show no other rename. */
	if (!done || !from || !to || !e || before != begun + RING_COUNT_BUSY || !seq_take(&e->seq))
		return;
	if (e->len > 0 && e->moved == begun && !path_is_under(e->path, from) && !path_is_under(e->path, to))
		e->moved = begun + 1;
	seq_give(&e->seq);
}

/* The path of the directory that relative paths start from.  Returns the length or -errno. */
static int start_path(int dirfd, char *buf, size_t size)
{
	return dirfd == AT_FDCWD ? cwd_path(buf, size) : dirfd_path(dirfd, buf, size);
}

int sys_lexical(int dirfd, const char *path, char *buf, size_t size)
{
	char base[NEAR_PATH] UNINITIALIZED;
	int n;

	if (path[0] == '/')
		return path_normalise("/", path, buf, size);
	n = start_path(dirfd, base, sizeof base);
	if (n < 0)
		return n;
	return path_normalise(base, path, buf, size);
}

/* The kernel's path of the starting directory is normalised already, so a plain relative path is appended
 * to it. */
static bool near_plain(int dirfd, const char *path, size_t len, char *buf, size_t size)
{
	int n = start_path(dirfd, buf, size);

	if (n <= 0 || (size_t)n + len + 2 > size)
		return false;
	n -= n == 1; /* "/" */
	buf[n] = '/';
	memcpy(buf + n + 1, path, len + 1);
	return true;
}

const char *sys_near(int dirfd, const char *path, char *buf, size_t size)
{
	size_t len;

	if (path_plain_length(path) > 0)
		return path;
	len = path_plain_relative(path);
	if (len > 0)
		return near_plain(dirfd, path, len, buf, size) ? buf : NULL;
	if (path_has_dotdot(path) || sys_lexical(dirfd, path, buf, size) < 0)
		return NULL;
	return buf;
}

bool sys_libc_is_known(void)
{
	return &__libc_single_threaded != NULL;
}

bool sys_is_alone(void)
{
	return !sys_libc_is_known() || __libc_single_threaded;
}

int sys_anchor(int dirfd, const char *path)
{
	long fd;

	if (path[0] == '/')
		return dirfd;
	if (dirfd == AT_FDCWD)
		fd = raw4(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	else
		fd = raw3(SYS_fcntl, dirfd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? dirfd : (int)fd;
}
