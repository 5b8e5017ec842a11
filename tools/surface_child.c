#include "tools/surface_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/loop.h"

void child_init(struct surface_child *c)
{
	c->pid = -1;
	c->pidfd = -1;
}

bool child_runs(const struct surface_child *c)
{
	return c->pidfd >= 0;
}

static int set_files(posix_spawn_file_actions_t *files)
{
	int r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDWR, 0);

	if (r == 0)
		r = posix_spawn_file_actions_adddup2(files, STDIN_FILENO, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(files, STDIN_FILENO, STDERR_FILENO);
	/* Nothing is to be found by a name in the agent's workspace. */
	if (r == 0)
		r = posix_spawn_file_actions_addchdir_np(files, "/");
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
	return -r;
}

/* Signals as a program expects them: ours are held off, to be read from a descriptor. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attr, &all);
	if (r == 0)
		r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							   POSIX_SPAWN_SETSID);
	return -r;
}

static int spawn(struct surface_child *c, const char *file, const char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r = -posix_spawn_file_actions_init(&files);

	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attr);
	if (r == 0) {
		r = set_files(&files);
		if (r == 0)
			r = set_attributes(&attr);
		if (r == 0)
			r = -posix_spawn(&c->pid, file, &files, &attr, (char *const *)(uintptr_t)argv,
					 environ);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&files);
	return r;
}

int child_start(struct surface_child *c, const char *file, const char *const *argv, int epoll, uint64_t tag)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = tag };
	int r;

	child_init(c);
	r = spawn(c, file, argv);
	if (r < 0) {
		c->pid = -1;
		return r;
	}
	c->began_ns = loop_now();
	/* Nobody else of this process waits for children meanwhile, so the number is still its own. */
	c->pidfd = pidfd_open(c->pid, 0);
	if (c->pidfd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, c->pidfd, &e) < 0) {
		r = -errno;
		(void)kill(c->pid, SIGKILL);
		child_stop(c);
		return r;
	}
	return 0;
}

static void bury(struct surface_child *c)
{
	(void)waitpid(c->pid, NULL, WNOHANG);
	if (c->pidfd >= 0)
		(void)close(c->pidfd);
	c->pid = -1;
	c->pidfd = -1;
}

bool child_take(struct surface_child *c)
{
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

	if (c->pidfd < 0 || poll(&p, 1, 0) <= 0)
		return false;
	bury(c);
	return true;
}

void child_signal(const struct surface_child *c, int sig)
{
	if (c->pidfd >= 0)
		(void)pidfd_send_signal(c->pidfd, sig, NULL, 0);
}

void child_stop(struct surface_child *c)
{
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

	if (c->pid <= 0)
		return;
	child_signal(c, SIGKILL);
	(void)poll(&p, c->pidfd >= 0, 1000);
	bury(c);
}
