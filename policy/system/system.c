/* The time, locks, small files, descriptors and resource limits: see system.h. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/util.h"

uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_S + (uint64_t)ts.tv_nsec;
}

int file_lock(int fd, unsigned wait_ms)
{
	const struct timespec nap = { .tv_nsec = NS_MS };
	int r = flock(fd, LOCK_EX | LOCK_NB);

	for (unsigned i = 0; r < 0 && errno == EWOULDBLOCK && i < wait_ms; i++) {
		(void)nanosleep(&nap, NULL);
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r < 0 ? -errno : 0;
}

ssize_t read_up_to(int fd, void *buf, size_t size, off_t from)
{
	size_t len = 0;

	while (len < size) {
		char *at = (char *)buf + len;
		ssize_t n =
			from < 0 ? read(fd, at, size - len) : pread(fd, at, size - len, from + (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

ssize_t file_read_small(int dirfd, const char *path, char *buf, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_up_to(fd, buf, size - 1, -1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

ssize_t proc_read_small(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read_small(AT_FDCWD, path, buf, size);
}

int send_fds(int fd, const void *bytes, size_t len, const int *fds, size_t n, int flags)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(SEND_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)bytes, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(fd, &msg, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int spawn_plainly(pid_t *ret, const char *program, const posix_spawn_file_actions_t *files, short flags,
		  char *const argv[], char *const envp[])
{
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setflags(&attr,
				       (short)(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
	e = posix_spawn(ret, program, files, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	return -e;
}

int limits_check(bool raise, const char **ret_err)
{
	static const struct {
		__rlimit_resource_t which;
		rlim_t least;
		const char *err;
	} limits[] = {
		{ RLIMIT_NOFILE, 64, "RLIMIT_NOFILE is below 64 (see ulimit -n)" },
		{ RLIMIT_FSIZE, 64 << 20,
		  "RLIMIT_FSIZE is below 64 MiB: the ledger could not grow (see ulimit -f)" },
		{ RLIMIT_AS, 256 << 20, "RLIMIT_AS is below 256 MiB (see ulimit -v)" },
		{ RLIMIT_DATA, 64 << 20, "RLIMIT_DATA is below 64 MiB (see ulimit -d)" },
		{ RLIMIT_STACK, 512 << 10, "RLIMIT_STACK is below 512 KiB (see ulimit -s)" },
		{ RLIMIT_CPU, 60, "RLIMIT_CPU is below one minute (see ulimit -t)" },
	};
	struct rlimit r;

	for (size_t i = 0; i < NELEM(limits); i++) {
		*ret_err = limits[i].err;
		if (getrlimit(limits[i].which, &r) < 0)
			return -errno;
		if (raise && r.rlim_cur < limits[i].least && r.rlim_max >= limits[i].least) {
			r.rlim_cur = limits[i].least;
			(void)setrlimit(limits[i].which, &r);
		}
		if (r.rlim_cur < limits[i].least)
			return -EPERM;
	}
	*ret_err = NULL;
	return 0;
}
