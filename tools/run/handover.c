/*
 * The child's way from fork to the agent's first instruction, and the notify listener's way to us.
 *
 *   parent                          child
 *   announces the child             confines itself: Landlock, filter; the listener is a
 *                               <-  descriptor of its own now, and says which
 *   fetches it (pidfd_getfd),
 *   starts to serve, "go"       ->  closes it, execs: the first call that is carried
 *                               <-  nothing (the pipe closes), or why not
 *
 * The listener is not sent over a socket: the filter would have to allow a system call for that, to all
 * processes and for the whole session.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/options.h"

#include "run.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int handover_open(struct handover *h)
{
	*h = (struct handover){ .go = { -1, -1 }, .back = { -1, -1 } };
	if (pipe2(h->go, O_CLOEXEC) < 0 || pipe2(h->back, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

void handover_close(struct handover *h)
{
	for (int i = 0; i < 2; i++) {
		close_fd(&h->go[i]);
		close_fd(&h->back[i]);
	}
}

/* --- the child: only async-signal-safe calls ------------------------------------------------------ */

static bool child_wait(const struct handover *h)
{
	char byte;

	return read(h->go[0], &byte, 1) == 1;
}

static void child_say(const struct handover *h, int what)
{
	(void)!write(h->back[1], &what, sizeof(what));
}

/* Confines the child and waits until the parent has the listener. */
static bool child_confine(const struct handover *h, const struct confine *c)
{
	int listener = confine_self(c);

	child_say(h, listener);
	if (listener < 0 || !child_wait(h))
		return false;
	return close(listener) == 0;
}

void handover_child(struct handover *h, const struct confine *c, const sigset_t *mask, const char *path,
		    char *const *argv, char *const *envp)
{
	int error;

	close_fd(&h->go[1]);
	if (c ? !child_confine(h, c) : (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !child_wait(h)))
		_exit(EXIT_PALE);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(path, argv, envp);
	error = errno;
	child_say(h, error);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED);
}

/* --- the parent -------------------------------------------------------------------------------------- */

int handover_go(const struct handover *h)
{
	return write(h->go[1], "g", 1) == 1 ? 0 : -errno;
}

/* Reads the child's message: 0 with *ret, -EPIPE where the child is gone or has become the agent. */
static int parent_hear(const struct handover *h, int *ret)
{
	return read_up_to(h->back[0], ret, sizeof(*ret), -1) == (ssize_t)sizeof(*ret) ? 0 : -EPIPE;
}

int handover_listener(struct handover *h, pid_t child)
{
	_cleanup_close_ int pidfd = -1;
	int number, r;
	long fd;

	close_fd(&h->back[1]);
	r = parent_hear(h, &number);
	if (r < 0 || number < 0)
		return r < 0 ? r : number;
	pidfd = pidfd_open(child, 0);
	fd = pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, number, 0);
	return fd < 0 ? -errno : (int)fd;
}

int handover_result(struct handover *h)
{
	int error;

	close_fd(&h->back[1]);
	return parent_hear(h, &error) == 0 ? -error : 0;
}
