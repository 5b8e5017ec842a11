/*
 * May this peer act as the operator?  A process inside a fence carries marks that it can neither remove nor
 * hide: no_new_privs and the number of seccomp filters only rise, and fork and exec inherit them.  A peer
 * with more marks than the baseline (the launcher's at the start) is inside a fence and is refused.  The
 * agent and its descendants are refused too, and so are those of the launcher, which adopts the session's
 * orphans (a process becomes one by a second fork and setsid).
 *
 * The marks are compared with a baseline and not with zero, because the operator may live in a container
 * that is filtered itself.  The pidfd is opened first and must be alive last; otherwise the pid was reused.
 */
#include "taint.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/system/system.h"

#include "stamp.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5, headers of 6.1 do not have it */
#endif

#define ANCESTORS_MAX 512

static long status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

/* The number of words after the key: one pid for each pid namespace down to the process's own. */
static long count_pids(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	long n = 0;

	for (at = at ? at + strlen(key) : "\n"; *at && *at != '\n'; n++) {
		at += strspn(at, "\t ");
		at += strcspn(at, "\t \n");
	}
	return n;
}

int taint_read(pid_t pid, struct taint *ret)
{
	char status[8192];
	ssize_t n = proc_read_small(pid, "status", status, sizeof(status));

	if (n < 0)
		return (int)n;
	/* The program's name is on the first line and cannot pass for a key: it holds no newline. */
	ret->no_new_privs = status_number(status, "\nNoNewPrivs:");
	ret->seccomp = status_number(status, "\nSeccomp:");
	ret->filters = status_number(status, "\nSeccomp_filters:");
	ret->depth = count_pids(status, "\nNSpid:");
	return 0;
}

pid_t proc_parent(pid_t pid)
{
	char stat[1024];
	const char *end;
	ssize_t n = proc_read_small(pid, "stat", stat, sizeof(stat));

	if (n < 0)
		return (pid_t)n;
	/* The program's name may hold parentheses and spaces: the fields begin after the last ')'. */
	end = strrchr(stat, ')');
	if (!end || strlen(end) < 5)
		return -EPROTO;
	return (pid_t)strtol(end + 4, NULL, 10);
}

/*
 * 0 where the process is outside, -EPERM where it is inside or too deep to tell, -ESRCH where a process
 * exited meanwhile.
 */
static int descent_check(pid_t pid, const struct taint_rules *rules)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (pid == rules->agent || pid == rules->launcher)
			return -EPERM;
		pid = proc_parent(pid);
	}
	return pid < 0 ? -ESRCH : pid > 1 ? -EPERM : 0;
}

/* When the process was started, to the tick (10 ms, rounded down), or UINT64_MAX. */
static uint64_t started_ns(pid_t pid)
{
	char stat[1024], *at;
	long hz = sysconf(_SC_CLK_TCK);

	if (hz <= 0 || proc_read_small(pid, "stat", stat, sizeof(stat)) < 0 || !(at = strrchr(stat, ')')))
		return UINT64_MAX;
	/* Field 22; the state, after the name, is field 3. */
	for (int field = 2; field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return UINT64_MAX;
	}
	return strtoull(at, NULL, 10) * (NS_S / (uint64_t)hz);
}

/*
 * The pidfd of the process that connected, even if it has exited and its pid was reused.  Before Linux 6.5
 * only its pid is known: then the process must be older than this check, and from here on the descriptor
 * identifies it.  There, a process that got the pid of a peer that died before the accept passes for that
 * peer; what the peer had sent by then can hold no nonce, so it answers no question.
 */
static int peer_pidfd(int fd, pid_t pid)
{
	uint64_t now_ns = clock_boot_ns();
	int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
	pidfd = pidfd_open(pid, 0);
	if (pidfd >= 0 && started_ns(pid) > now_ns) {
		close(pidfd);
		return -ESRCH;
	}
	return pidfd < 0 ? -errno : pidfd;
}

static bool is_alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* A failed read says nothing about a peer that has exited: the result is then -ESRCH. */
static int untold(int pidfd, const char *why, const char **ret_err)
{
	bool gone = !is_alive(pidfd);

	*ret_err = gone ? "the process is gone" : why;
	return gone ? -ESRCH : -EPERM;
}

int taint_again(pid_t pid, int pidfd, const struct taint_rules *rules, const char **ret_err)
{
	const struct taint *baseline = &rules->baseline;
	struct taint t;
	int r;

	*ret_err = "the process performs the agent's calls";
	if (pid == rules->launcher || pid == getpid())
		return -EPERM;
	if (taint_read(pid, &t) < 0)
		return untold(pidfd, "the process cannot be identified", ret_err);
	*ret_err = "the process is inside a session";
	if (t.no_new_privs > baseline->no_new_privs || t.seccomp > baseline->seccomp ||
	    t.filters > baseline->filters || t.depth > baseline->depth)
		return -EPERM;
	r = descent_check(pid, rules);
	if (r < 0)
		return r == -ESRCH ? untold(pidfd, *ret_err, ret_err) : r;
	/* Last: this shows that what was read above belonged to this process. */
	if (!is_alive(pidfd))
		return untold(pidfd, "", ret_err);
	*ret_err = "";
	return 0;
}

int taint_check(int fd, const struct taint_rules *rules, struct taint_peer *ret, const char **ret_err)
{
	struct ucred cred = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(cred);
	int pidfd, r;

	*ret_err = "the process belongs to another user";
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid == (uid_t)-1)
		return -EPERM;
	ret->pid = cred.pid;
	if (cred.uid != rules->owner)
		return -EPERM;
	*ret_err = "the process cannot be identified";
	if (cred.pid <= 0)
		return -EPERM;
	pidfd = peer_pidfd(fd, cred.pid);
	if (pidfd < 0)
		return -EPERM;
	r = taint_again(cred.pid, pidfd, rules, ret_err);
	if (r < 0)
		close(pidfd);
	else
		ret->pidfd = pidfd;
	return r;
}
