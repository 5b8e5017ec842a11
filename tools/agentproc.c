/*
 * The agent as a child: started in a group of its own that owns the terminal, waited for with
 * signals and job control passed on, proven to carry the preload, and ended whole.
 *
 * The child waits on a pipe until the ring knows its pid, so the preload's announcement cannot
 * come too early.  Signals are read from a descriptor: nothing here runs in a handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "policy/ring.h"
#include "policy/wire.h"

#include "tools.h"

#define ATTACH_MS 5000

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };

struct running {
	const struct agentproc *a;
	pid_t pid;
	bool own_group; /* the agent has a group of its own, and the terminal */
	int sigfd;
	sigset_t old_mask;
	uint64_t started_ms;
	bool attached, ended, killed;
	int status;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/*
 * A group of its own only where the terminal is ours to hand over: in a pipeline, or in the
 * background, the agent stays in our group, which is the shell's job.
 */
static bool owns_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static int block_signals(struct running *r)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NELEM(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	/* The descriptor is made first: SIGTTOU is only to be held off while the terminal changes hands. */
	r->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	return r->sigfd < 0 ? -errno : 0;
}

/* In the child: only async-signal-safe calls. */
static _Noreturn void become_agent(const struct running *r, int go, int failed, char **envp)
{
	char byte;
	int error;

	if (read(go, &byte, 1) != 1)
		_exit(EXIT_PALE);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(EXIT_PALE);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	execve(r->a->path, r->a->argv, envp);
	error = errno;
	(void)!write(failed, &error, sizeof(error));
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED);
}

static void hand_terminal(const struct running *r, pid_t group)
{
	if (r->own_group)
		(void)tcsetpgrp(STDIN_FILENO, group);
}

/* Lets the waiting child go and tells whether its execve() worked: 0 or -errno. */
static int release(struct running *r, int go, int failed)
{
	int error = 0;
	ssize_t n;

	atomic_store(&r->a->launch->ring->root_pid, (int32_t)r->pid);
	if (r->own_group) {
		(void)setpgid(r->pid, r->pid);
		hand_terminal(r, r->pid);
	}
	(void)launch_agent(r->a->launch, r->pid);
	r->started_ms = now_ms();
	if (write(go, "g", 1) != 1)
		return -errno;
	do
		n = read(failed, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? -error : 0;
}

static void close_pair(int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

static int start(struct running *r, char **envp)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 };
	int error;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0 || (r->pid = fork()) < 0) {
		error = -errno;
		close_pair(go);
		close_pair(failed);
		return error;
	}
	if (r->pid == 0) {
		(void)close(go[1]);
		become_agent(r, go[0], failed[1], envp);
	}
	(void)close(failed[1]);
	failed[1] = -1;
	error = release(r, go[1], failed[0]);
	close_pair(go);
	close_pair(failed);
	return error;
}

/* The agent stopped: so do we, that the shell sees its job stopped; both go on together. */
static void stop_together(struct running *r)
{
	hand_terminal(r, getpgrp());
	/* The others of our group, if a script started us; ours is held off by the mask. */
	if (r->own_group)
		(void)kill(0, SIGTSTP);
	(void)kill(getpid(), SIGSTOP);
	if (r->own_group && tcgetpgrp(STDIN_FILENO) == getpgrp())
		hand_terminal(r, r->pid);
	(void)kill(r->own_group ? -r->pid : r->pid, SIGCONT);
}

/* Buries whoever ended; sees the agent itself stop and end. */
static void wait_children(struct running *r)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);

		if (pid <= 0)
			return;
		if (pid == r->a->launch->pid) {
			r->a->launch->pid = -1;
			continue;
		}
		if (pid != r->pid)
			continue;
		if (WIFSTOPPED(status)) {
			stop_together(r);
			continue;
		}
		r->status = status;
		r->ended = true;
	}
}

/* The kernel sent the terminal's signals to the whole group already. */
static bool had_it_already(const struct running *r, const struct signalfd_siginfo *si)
{
	return si->ssi_code == SI_KERNEL && !r->own_group;
}

static void on_signal(struct running *r, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;

	if (sig == SIGCHLD) {
		wait_children(r);
		return;
	}
	if (r->ended)
		return;
	if (sig == SIGCONT)
		(void)kill(r->own_group ? -r->pid : r->pid, SIGCONT);
	else if (!had_it_already(r, si))
		(void)kill(r->pid, sig);
}

static void check_attached(struct running *r)
{
	if (r->attached || !r->a->must_attach) {
		r->attached = true;
		return;
	}
	r->attached = atomic_load(&r->a->launch->ring->root_attached) != 0;
	if (r->attached || r->ended || now_ms() - r->started_ms < ATTACH_MS)
		return;
	r->killed = true;
	(void)kill(r->own_group ? -r->pid : r->pid, SIGKILL);
}

static void wait_agent(struct running *r)
{
	while (!r->ended) {
		struct pollfd p[] = {
			{ .fd = r->sigfd, .events = POLLIN },
			{ .fd = r->a->launch->fd, .events = POLLIN },
		};
		struct signalfd_siginfo si;

		/* Until the proof has come it is looked for each millisecond. */
		(void)poll(p, NELEM(p), r->attached || r->killed ? -1 : 1);
		while (read(r->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
			on_signal(r, &si);
		if (p[1].revents)
			launch_listen(r->a->launch);
		if (!r->killed)
			check_attached(r);
	}
}

static struct agent_end ending(const struct running *r, int error)
{
	struct agent_end end = { 0 };

	if (error < 0) {
		talk("cannot run %s: %s", r->a->path, strerror(-error));
		return (struct agent_end){ .refused = true,
					   .code = error == -ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED };
	}
	if (!r->attached) {
		talk("%s did not attach: the fence would not hold it; ended (--allow-unhooked runs it "
		     "unfenced)",
		     r->a->path);
		return (struct agent_end){ .refused = true, .code = EXIT_REFUSED };
	}
	if (WIFSIGNALED(r->status))
		end.signal = WTERMSIG(r->status);
	else
		end.code = WEXITSTATUS(r->status);
	return end;
}

static void free_environment(char **envp)
{
	if (!envp)
		return;
	free(envp[0]);
	free(envp[1]);
	free(envp);
}

struct agent_end agentproc_run(const struct agentproc *a)
{
	struct running r = { .a = a, .sigfd = -1, .own_group = owns_terminal() };
	char **envp = agent_environment(a->preload, a->launch->runtime_dir, NULL);
	struct agent_end end = { .refused = true, .code = EXIT_PALE };
	int error = envp ? block_signals(&r) : -ENOMEM;
	size_t left;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* Our environment is the operator's whole one: /proc/PID/environ and memory are not for the agent. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (error == 0) {
		error = start(&r, envp);
		if (error == 0)
			wait_agent(&r);
		else if (r.pid > 0)
			(void)waitpid(r.pid, NULL, 0);
		check_attached(&r);
		hand_terminal(&r, getpgrp());
		end = ending(&r, error);
		left = reap_children(a->launch->pid);
		if (left)
			talk("%zu processes of the session would not end", left);
		(void)close(r.sigfd);
		sigprocmask(SIG_SETMASK, &r.old_mask, NULL);
	}
	free_environment(envp);
	return end;
}

/* Appends the entries of list that are not ours already. */
static void append_entries(char *buf, size_t size, const char *list, const char *ours)
{
	size_t len = strlen(buf);

	while (*list) {
		size_t n = strcspn(list, " :");

		if (n && (n != strlen(ours) || strncmp(list, ours, n) != 0) && len + n + 2 <= size) {
			buf[len++] = ':';
			memcpy(buf + len, list, n);
			len += n;
			buf[len] = '\0';
		}
		list += n + (list[n] != '\0');
	}
}

static char *preload_entry(const char *preload)
{
	const char *old = getenv(ENV_PRELOAD);
	size_t size = sizeof(ENV_PRELOAD "=") + strlen(preload) + (old ? strlen(old) + 1 : 0) + 1;
	char *entry = malloc(size);

	if (!entry)
		return NULL;
	snprintf(entry, size, ENV_PRELOAD "=%s", preload);
	if (old)
		append_entries(entry, size, old, preload);
	return entry;
}

static bool is_ours(const char *entry)
{
	return strncmp(entry, ENV_PRELOAD "=", sizeof(ENV_PRELOAD)) == 0 ||
	       strncmp(entry, ENV_SESSION_DIR "=", sizeof(ENV_SESSION_DIR)) == 0 ||
	       strncmp(entry, ENV_IMAGE "=", sizeof(ENV_IMAGE)) == 0;
}

char **agent_environment(const char *preload, const char *session_dir, const char *image)
{
	/* The filter that man-db puts on its pipelines answers ENOSYS to what the hooks ask of the kernel. */
	static char no_filter[] = "MAN_DISABLE_SECCOMP=1";
	size_t n = 0, used = 2;
	char **envp;

	while (environ[n])
		n++;
	envp = calloc(n + 5, sizeof(*envp));
	if (!envp)
		return NULL;
	envp[0] = preload_entry(preload);
	if (!envp[0] || asprintf(&envp[1], ENV_SESSION_DIR "=%s", session_dir) < 0) {
		free(envp[0]);
		free(envp);
		return NULL;
	}
	if (image)
		envp[used++] = (char *)image;
	if (!getenv("MAN_DISABLE_SECCOMP"))
		envp[used++] = no_filter;
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]))
			envp[used++] = environ[i];
	return envp;
}
