/*
 * May this peer act as the operator?  A process inside a fence carries marks that it can neither
 * shed nor hide: no_new_privs and seccomp filters only ever rise, and fork and exec inherit them.
 * So a peer that has more of them than this process had at its start is inside some fence, and
 * refused; so is the agent and what descends from it, and what fell to the launcher, which is the
 * reaper of the session's orphans (a second fork and setsid lead there).
 *
 * Compared with a baseline and not with zero: the operator may live in a container that is
 * filtered itself.  The pidfd is read first and must be alive last, or the pid was reused.
 */
#include "helper.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5, headers of 6.1 do not have it */
#endif

#define ANCESTORS_MAX 512

static long status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

int taint_read(pid_t pid, struct taint *ret)
{
	char path[48], status[8192];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	n = file_read_small(AT_FDCWD, path, status, sizeof(status));
	if (n < 0)
		return (int)n;
	/* The name of the program stands on the first line and must not be taken for a key: it holds no
	 * newline. */
	ret->no_new_privs = status_number(status, "\nNoNewPrivs:");
	ret->seccomp = status_number(status, "\nSeccomp:");
	ret->filters = status_number(status, "\nSeccomp_filters:");
	return 0;
}

pid_t proc_parent(pid_t pid)
{
	char path[48], stat[1024];
	const char *end;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	n = file_read_small(AT_FDCWD, path, stat, sizeof(stat));
	if (n < 0)
		return (pid_t)n;
	/* The program's name may hold parentheses and spaces: what counts stands behind the last one. */
	end = strrchr(stat, ')');
	if (!end || strlen(end) < 5)
		return -EPROTO;
	return (pid_t)strtol(end + 4, NULL, 10);
}

/* The launcher itself is no child of its own: it is the operator's. */
static bool is_inside(pid_t pid, const struct taint_rules *rules)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (pid == rules->agent || (i > 0 && pid == rules->launcher))
			return true;
		pid = proc_parent(pid);
	}
	return pid > 1 || pid < 0; /* too deep, or gone while we looked: not to be trusted */
}

static int peer_pidfd(int fd, pid_t pid)
{
	int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
	return pidfd_open(pid, 0);
}

static bool is_alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

int taint_check(int fd, const struct taint_rules *rules, pid_t *ret_pid, const char **ret_err)
{
	const struct taint *baseline = &rules->baseline;
	struct ucred cred = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(cred);
	_cleanup_close_ int pidfd = -1;
	struct taint t;

	*ret_err = "the peer is another user";
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid == (uid_t)-1)
		return -EPERM;
	*ret_pid = cred.pid;
	if (cred.uid != rules->owner && cred.uid != geteuid())
		return -EPERM;
	*ret_err = "the peer cannot be identified";
	if (cred.pid <= 0)
		return -EPERM;
	pidfd = peer_pidfd(fd, cred.pid);
	if (pidfd < 0 || taint_read(cred.pid, &t) < 0)
		return -EPERM;
	*ret_err = "the peer is inside a session";
	if (t.no_new_privs > baseline->no_new_privs || t.seccomp > baseline->seccomp ||
	    t.filters > baseline->filters)
		return -EPERM;
	if (is_inside(cred.pid, rules))
		return -EPERM;
	*ret_err = "the peer is gone";
	if (!is_alive(pidfd))
		return -EPERM;
	*ret_err = "";
	return 0;
}
