/* Who connects: marks that no process can remove, and what they say of a peer. */
#ifndef PALE_HELPER_TAINT_H
#define PALE_HELPER_TAINT_H

#include <stdbool.h>
#include <sys/types.h>

/* Marks that a process can neither remove nor hide.  A process with more marks than the baseline is inside
 * some fence. */
struct taint {
	long no_new_privs, seccomp, filters;
	long depth; /* levels of its pid namespace below the helper's */
};

/* Parent of a process by /proc/PID/stat, or -errno. */
pid_t proc_parent(pid_t pid);

int taint_read(pid_t pid, struct taint *ret);
/*
 * An operator is a process of this owner with no more marks than the baseline.  It is not the launcher (which
 * performs the agent's connects), and descends neither from the agent nor from the launcher (which adopts the
 * agent's orphans).
 */
struct taint_rules {
	uid_t owner;
	struct taint baseline;
	pid_t agent, launcher; /* 0 = not known (yet) */
};

struct taint_peer {
	pid_t pid;
	int pidfd; /* the caller closes it, if the check succeeds */
};

/*
 * Whether the peer of this new connection may act as the operator: 0 with *ret, or -EPERM with a static
 * reason in *ret_err (and the pid in *ret, where it is known).  The peer is identified by the kernel
 * (SO_PEERCRED, SO_PEERPIDFD).
 */
int taint_check(int fd, const struct taint_rules *rules, struct taint_peer *ret, const char **ret_err);
/* Checks a peer again; -ESRCH where it has exited. */
int taint_again(pid_t pid, int pidfd, const struct taint_rules *rules, const char **ret_err);

#endif
