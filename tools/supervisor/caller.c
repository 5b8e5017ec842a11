/*
 * The process that made the call: its memory, its directories, its descriptors.
 *
 * A task's number may belong to another task by the time it is used: NOTIF_ID_VALID afterwards proves that
 * the caller was alive all the time (seccomp_unotify(2)).  A pidfd or an open /proc/TID needs no such
 * proof: both fail once their task is gone.
 */
#include "caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/proc/procstat.h"

#include "listener.h"
#include "procs.h"
#include "setup.h"
#include "supervisor.h"

#define PAGE	   4096u
#define STRING_TRY 256u /* the first piece of a string to read: most paths are shorter */

const struct supervisor_setup *session_setup(const struct supervisor *s)
{
	return s->setup;
}

/* --- memory ------------------------------------------------------------------------------------------ */

/* Reads up to len bytes at addr and returns how many: the read ends at a missing page. */
static ssize_t peek_memory(const struct caller *c, uint64_t addr, void *buf, size_t len)
{
	/* cppcheck-suppress ctuuninitvar ; it is what is read into */
	struct iovec local = { buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);

	return n < 0 ? -errno : n;
}

int caller_read(struct caller *c, uint64_t addr, void *buf, size_t len)
{
	ssize_t n;

	if (len == 0)
		return 0;
	if (c->is_stand_in)
		return -ESRCH;
	n = peek_memory(c, addr, buf, len);
	if (!caller_alive(c))
		return -ESRCH;
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

/* Reads up to the end of a page each time, since the page behind the string may be missing. */
static int string_pieces(struct caller *c, uint64_t addr, char *buf, size_t size)
{
	size_t at = 0, want = STRING_TRY;

	while (at < size) {
		size_t page = PAGE - (addr + at) % PAGE;
		size_t len = want < page ? want : page;
		const char *end;
		ssize_t n;

		if (len > size - at)
			len = size - at;
		n = peek_memory(c, addr + at, buf + at, len);
		if (n <= 0)
			return n < 0 ? (int)n : -EFAULT;
		end = memchr(buf + at, '\0', (size_t)n);
		if (end)
			return (int)(end - buf);
		at += (size_t)n;
		want = PAGE;
	}
	return -ENAMETOOLONG;
}

int caller_string(struct caller *c, uint64_t addr, char *buf, size_t size)
{
	int n = c->is_stand_in ? -ESRCH : string_pieces(c, addr, buf, size);

	return caller_alive(c) ? n : -ESRCH;
}

/* --- the task ------------------------------------------------------------------------------------------ */

pid_t caller_tgid(struct caller *c)
{
	const struct proc *p = proc_get(c);

	return p ? p->tgid : 0;
}

int caller_proc(struct caller *c)
{
	struct proc *p = proc_get(c);
	char path[32];
	int fd;

	if (!p)
		return -ESRCH;
	if (p->dir >= 0)
		return p->dir;
	snprintf(path, sizeof(path), "/proc/%d", c->tid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (!caller_alive(c)) {
		close(fd);
		return -ESRCH;
	}
	p->dir = fd;
	return fd;
}

/* Opens an entry of /proc/TID; tries again where the remembered task is gone. */
static int open_entry(struct caller *c, const char *name, int flags)
{
	for (int tries = 0; tries < 2; tries++) {
		int dir = caller_proc(c);
		int fd = dir < 0 ? dir : openat(dir, name, flags | O_CLOEXEC);

		if (fd >= 0)
			return fd;
		if (dir < 0)
			return dir;
		if (errno != ENOENT && errno != ESRCH)
			return -errno;
		/* Only where the whole task is missing is it worth another try. */
		if (faccessat(dir, "stat", F_OK, 0) == 0)
			return -ENOENT;
		if (!proc_again(c))
			return -ESRCH;
	}
	return -ESRCH;
}

int caller_dir(struct caller *c, int dirfd)
{
	char name[24] = "cwd";
	int fd;

	if (c->is_stand_in)
		return -ESRCH;
	if (dirfd < 0 && dirfd != AT_FDCWD)
		return -EBADF;
	if (dirfd != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", dirfd);
	fd = open_entry(c, name, O_PATH | O_DIRECTORY);
	return fd == -ENOENT ? -EBADF : fd;
}

int caller_program(struct caller *c, char exe[LIMIT_PATH], char *words, size_t size)
{
	_cleanup_close_ int fd = open_entry(c, "cmdline", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : readlinkat(caller_proc(c), "exe", exe, LIMIT_PATH - 1);
	ssize_t len = n < 0 ? -1 : read(fd, words, size - 1);

	if (len < 0 || !caller_alive(c))
		return -ESRCH;
	exe[n] = words[len] = '\0';
	return (int)len;
}

int caller_umask(struct caller *c)
{
	int dir = caller_proc(c);
	long mask = dir < 0 ? dir : status_number(dir, 0, "\nUmask:", 8);

	if (mask < 0 && proc_again(c) && (dir = caller_proc(c)) >= 0)
		mask = status_number(dir, 0, "\nUmask:", 8);
	return (int)mask;
}

dev_t caller_tty(struct caller *c)
{
	struct stat_fields f;
	int dir = caller_proc(c);

	if (dir < 0 || stat_read(dir, 0, &f) < 0 || !caller_alive(c))
		return 0;
	return f.tty;
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

/*
 * Before Linux 6.9 a thread has no pidfd of its own.  The pidfd of its process serves where both share one
 * table of descriptors (CLONE_FILES), which kcmp(2) tells.
 */
static int fd_of_process(struct caller *c, int fd)
{
	_cleanup_close_ int pidfd = -1;
	int r;

	if (syscall(SYS_kcmp, c->tid, c->tgid, KCMP_FILES, 0, 0) != 0)
		return -EBADF;
	pidfd = (int)syscall(SYS_pidfd_open, c->tgid, 0);
	if (pidfd < 0)
		return -errno;
	r = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (r < 0)
		return -errno;
	if (!caller_alive(c)) {
		close(r);
		return -ESRCH;
	}
	return r;
}

int caller_fd(struct caller *c, int fd)
{
	int r;

	if (fd < 0)
		return -EBADF;
	/* Its number may belong to another process by now. */
	if (c->is_stand_in && (fd != STDERR_FILENO || !session_has_pid(c->tgid)))
		return -ESRCH;
	for (int tries = 0; tries < 2; tries++) {
		int pidfd = proc_pidfd(c);

		if (pidfd < 0)
			return pidfd == -ENOENT ? fd_of_process(c, fd) : pidfd;
		r = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		if (r >= 0)
			return r;
		if (errno != ESRCH)
			return -errno;
		if (!proc_again(c))
			break;
	}
	return -ESRCH;
}

/* --- hooks ------------------------------------------------------------------------------------------- */

#define MAPS_MAX (8u << 20) /* bytes looked at: no ordinary program has longer maps */

/* True where /proc/TID/maps names our object.  A line may cross two reads, so its beginning is kept. */
static bool maps_name(int fd, const char *path, char *buf, size_t size)
{
	size_t len = strlen(path), kept = 0, total = 0;
	ssize_t n;

	while (total < MAPS_MAX && (n = read(fd, buf + kept, size - kept)) > 0) {
		size_t have = kept + (size_t)n;

		if (memmem(buf, have, path, len))
			return true;
		total += (size_t)n;
		kept = have < len ? have : len;
		memmove(buf, buf + have - kept, kept);
	}
	return false;
}

bool caller_is_hooked(struct caller *c)
{
	const char *path = c->sup->setup->preload;
	_cleanup_close_ int fd = path && *path ? open_entry(c, "maps", O_RDONLY) : -ENOENT;
	char buf[2 * LIMIT_PATH] UNINITIALIZED;

	return fd >= 0 && maps_name(fd, path, buf, sizeof(buf));
}
