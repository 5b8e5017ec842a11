/*
 * The child puts the fence on itself, between fork and exec, in an order in which each step is still
 * permitted.  It first closes what it inherited, since neither Landlock nor the filter affects open
 * descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "confine.h"
#include "numbers.h"

#define COUNTED_MAX 64

int confine_make(const struct kernel *k, const struct filter_setup *s, struct floor *f, struct confine *ret)
{
	int r;

	ret->flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	if (k->wait_killable)
		ret->flags |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	if (ret->ruleset >= 0)
		r = landlock_add(ret->ruleset, f, k->landlock_abi);
	else
		r = ret->ruleset = landlock_ruleset(f, k->landlock_abi);
	return r < 0 ? r : filter_build(s, &ret->filter);
}

void confine_done(struct confine *c)
{
	if (c->ruleset >= 0)
		close(c->ruleset);
	free(c->filter.filter);
	c->ruleset = -1;
	c->filter = (struct sock_fprog){ 0 };
}

/* One end of pipe(2), as a shell's process substitution passes it.  A FIFO does not count: it has a name
 * that the policy judges. */
static bool is_pipe(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

/* The descriptor that name, an entry of /proc/self/fd, stands for; -1 for `.` and `..`. */
static int number_of(const char *name)
{
	int n = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		n = n * 10 + (*name - '0');
	return *name == '\0' ? n : -1;
}

struct entry { /* struct linux_dirent64, getdents64(2) */
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

static void close_entries(const char *buf, long len, int dir, int keep)
{
	for (long at = 0; at < len; at += ((const struct entry *)(const void *)(buf + at))->reclen) {
		int fd = number_of(((const struct entry *)(const void *)(buf + at))->name);

		if (fd > STDERR_FILENO && fd != dir && fd != keep && !is_pipe(fd))
			(void)close(fd);
	}
}

/* Since Linux 6.2 the size of /proc/self/fd is the number of descriptors, so a few low ones are closed
 * without a listing.  False where others are left, or their number is not known. */
static bool close_counted(int keep)
{
	struct stat st;
	off_t left;

	if (stat("/proc/self/fd", &st) < 0 || st.st_size <= 0)
		return false;
	left = st.st_size;
	for (int fd = 0; left > 0 && fd < COUNTED_MAX; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		left--;
		if (fd > STDERR_FILENO && fd != keep && !is_pipe(fd))
			(void)close(fd);
	}
	return left == 0;
}

/* opendir() allocates memory; between fork and exec that may wait forever for a lock. */
static int close_listed(int keep)
{
	_Alignas(struct entry) char buf[4096];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long len;

	if (dir < 0)
		return -errno;
	while ((len = syscall(__NR_getdents64, dir, buf, sizeof(buf))) > 0)
		close_entries(buf, len, dir, keep);
	if (len < 0)
		len = -errno;
	(void)close(dir);
	return (int)len;
}

int confine_self(const struct confine *c)
{
	long listener;
	int r = close_counted(c->ruleset) ? 0 : close_listed(c->ruleset);

	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	r = landlock_restrict(c->ruleset);
	if (r < 0)
		return r;
	(void)close(c->ruleset);
	listener = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, (unsigned long)c->flags, &c->filter);
	return listener < 0 ? -errno : (int)listener;
}
