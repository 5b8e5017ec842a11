/*
 * Runs the agent as a child: starts it, in a process group of its own where it has a terminal (terminal.h),
 * passes signals and job control on, checks that it carries the preload, and ends all of its processes.
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

#include "policy/base/util.h"
#include "policy/system/system.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/environment/environment.h"
#include "tools/run/end/reap.h"
#include "tools/run/end/warden.h"
#include "tools/run/terminal/outputs.h"
#include "tools/run/terminal/terminal.h"
#include "tools/supervisor/descent.h"
#include "tools/supervisor/serve/notify.h"
#include "tools/supervisor/serve/policies.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/waiters.h"

#include "run.h"
#include "surface.h"

#define ATTACH_MS 5000
#define TICK_MS	  100
#define HANGUP_MS 5000 /* for an agent that does not end when its terminal closes */

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };

struct running {
	const struct agentproc *a;
	pid_t pid;
	struct terminal *terminal;
	uint64_t started_ms, hung_up_ms; /* when the terminal was closed, or 0 */
	int sigfd;
	sigset_t old_mask;
	struct agent_fate fate;
	bool ended, killed, started, told_to_end;
	struct supervisor_setup setup;
	struct supervisor *supervisor; /* NULL at level hooks */
};

static int block_signals(struct running *r)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NELEM(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	/* The descriptor is made first: SIGTTOU is blocked only while the terminal changes its foreground
	 * group. */
	r->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	return r->sigfd < 0 ? -errno : 0;
}

/* With a terminal the agent has a process group of its own, else it stays in ours, which is the shell's
 * job. */
static pid_t group_of(const struct running *r)
{
	return r->terminal->is ? -r->pid : r->pid;
}

/* The ring knows the child before the hooks in it can announce themselves. */
static void introduce(struct running *r)
{
	atomic_store(&r->a->launch->ring->root_pid, (int32_t)r->pid);
	if (r->terminal->is) {
		(void)setpgid(r->pid, r->pid);
		if (r->terminal->fore)
			terminal_hand(r->terminal, r->pid);
	}
	(void)launch_agent(r->a->launch, r->pid);
	r->started_ms = clock_awake_ms();
}

static int narrowed(void *ctx, pid_t pid, uint32_t image)
{
	struct running *r = ctx;

	return supervisor_narrowed(r->supervisor, pid, image);
}

static int reloaded(void *ctx, bool *ret_performs)
{
	struct running *r = ctx;

	return supervisor_reload(r->supervisor, ret_performs);
}

/* The last step before the agent's first instruction; its limits have been put on. */
static int let_agent_go(struct running *r, const struct handover *h)
{
	const struct session_limits *limits = r->a->limits;
	int e = limits_attach(r->a->limits, r->pid);

	if (e == 0 && *limits->instead)
		(void)launch_tell(r->a->launch,
				  json_pack("{ss, ss, ss}", "type", "limit", "text", limits->instead,
					    "limits", limits->text),
				  -1);
	if (e == 0)
		e = handover_go(h);
	r->fate.let_go = e == 0;
	return e;
}

/* The child has confined itself: from now on we must answer its calls. */
static int supervise(struct running *r, struct handover *h, char *const *envp)
{
	struct launch *l = r->a->launch;
	struct supervisor *s;
	int listener, e;

	r->setup = (struct supervisor_setup){ .level = r->a->fence->level,
					      .kernel = &r->a->fence->kernel,
					      .image = &l->image,
					      .ring = l->ring,
					      .ring_fd = l->ring_fd,
					      .kernel_ring = l->kernel_ring,
					      .session_dir = l->runtime_dir,
					      .preload = r->a->preload,
					      .preload_fd = open(r->a->preload, O_RDONLY | O_CLOEXEC),
					      .floor = &r->a->fence->floor,
					      .git = r->a->git,
					      .gate = r->a->gate,
					      .moves_fd = r->a->moves_fd,
					      .environment = (const char *const *)envp,
					      .root = r->pid,
					      .terminal = r->terminal->is ? tty_number(r->terminal->fd) : 0,
					      .draws = r->a->draws };
	memcpy(r->setup.nonce, l->nonce, sizeof(r->setup.nonce));
	e = r->setup.preload_fd < 0 ? -errno : supervisor_prepare(&r->setup, &s);
	if (e < 0)
		return e;
	listener = handover_listener(h, r->pid);
	e = supervisor_serve(s, listener);
	if (e < 0) {
		if (listener >= 0)
			(void)close(listener);
		return e;
	}
	r->supervisor = s;
	l->on_narrowed = narrowed;
	l->on_reload = reloaded;
	l->narrowed_ctx = r;
	return let_agent_go(r, h);
}

static int start_child(struct running *r, struct handover *h, char **envp)
{
	bool walled = r->a->fence->level > LEVEL_HOOKS;
	int e;

	r->pid = fork();
	if (r->pid < 0)
		return -errno;
	if (r->pid == 0) {
		outputs_child(r->a->outputs);
		warden_mark(r->a->launch->session, walled);
	}
	if (r->pid == 0)
		handover_child(h, walled ? &r->a->fence->confine : NULL, &r->old_mask, r->a->path, r->a->argv,
			       envp);
	outputs_start(r->a->outputs);
	/*
	 * We have the operator's whole environment, so the agent may not read our /proc/PID/environ or
	 * memory.  This is done after the fork, since the child must stay open to us until we have the
	 * listener.
	 */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	introduce(r);
	e = walled ? supervise(r, h, envp) : let_agent_go(r, h);
	if (e < 0) {
		(void)kill(r->pid, SIGKILL);
		talk("the agent cannot be put inside the fence: %s", strerror(-e));
		return e;
	}
	e = handover_result(h);
	/* The child has its own copy, so ours is released now and not at the end. */
	confine_done(&r->a->fence->confine);
	return e;
}

static int start(struct running *r, char **envp)
{
	struct handover h;
	int e = handover_open(&h);

	if (e == 0)
		e = start_child(r, &h, envp);
	handover_close(&h);
	return e;
}

/*
 * The agent stopped, so we stop too, for the shell to see its job stopped; both continue together.  With a
 * terminal the shell sees the front, and we go on serving the processes that did not stop.
 */
static void stop_together(struct running *r, int sig)
{
	if (r->terminal->is) {
		terminal_hand(r->terminal, getpgrp());
		terminal_stopped(r->terminal, sig);
		return;
	}
	(void)kill(getpid(), SIGSTOP);
	(void)kill(r->pid, SIGCONT);
}

/* Reads the messages of the front. */
static void hear_front(struct running *r)
{
	int word;

	while ((word = terminal_hear(r->terminal))) {
		if (r->ended)
			continue;
		/* A shell that the agent runs may have given the terminal to a job of its own. */
		if (word == RELAY_FRONT && terminal_is_ours(r->terminal))
			terminal_hand(r->terminal, r->pid);
		(void)kill(group_of(r), SIGCONT);
	}
}

/* The kernel has sent SIGHUP to the session already. */
static void hung_up(struct running *r)
{
	r->terminal->fd = -1;
	r->hung_up_ms = clock_awake_ms();
	r->told_to_end = true;
}

static void end_hung_up(const struct running *r)
{
	if (r->hung_up_ms && !r->ended && clock_awake_ms() - r->hung_up_ms > HANGUP_MS)
		(void)kill(group_of(r), SIGKILL);
}

/*
 * The next child that ended or was stopped by a signal.  A thread that verifies an exec traces the child,
 * and the child's stops are for that thread alone; but wait(2) reports them to any thread of this process.
 * So the state is looked at first, without taking it.  While one child is in such a stop, the children
 * behind it are not seen: the next tick looks again.
 */
static pid_t next_child(int *ret_status)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WNOTHREAD) < 0 ||
	    si.si_pid == 0 || si.si_code == CLD_TRAPPED)
		return 0;
	return waitpid(si.si_pid, ret_status, WNOHANG | WUNTRACED | __WNOTHREAD);
}

/* Reaps the children that ended; notes when the agent itself stops or ends. */
static void wait_children(struct running *r)
{
	pid_t pid;
	int status;

	while ((pid = next_child(&status)) > 0) {
		/* A helper that was stopped may continue, and must still be spared at the end. */
		if (pid == r->a->launch->pid && !WIFSTOPPED(status))
			r->a->launch->pid = -1;
		if (pid != r->pid)
			continue;
		if (WIFSTOPPED(status)) {
			stop_together(r, WSTOPSIG(status));
			continue;
		}
		r->fate.status = status;
		r->ended = true;
	}
}

/* The kernel sent the terminal's signals to the whole group already. */
static bool had_it_already(const struct running *r, const struct signalfd_siginfo *si)
{
	return si->ssi_code == SI_KERNEL && !r->terminal->is;
}

/* The operator's terminal sent the signal to its foreground group. */
static bool is_for_all(const struct signalfd_siginfo *si)
{
	return si->ssi_code == SI_QUEUE && si->ssi_int == RELAY_GROUP;
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
	if (sig == SIGCONT || is_for_all(si))
		(void)kill(group_of(r), sig);
	else if (!had_it_already(r, si))
		(void)kill(r->pid, sig);
}

static void check_attached(struct running *r)
{
	if (r->fate.attached || !r->a->must_attach) {
		r->fate.attached = true;
		return;
	}
	r->fate.attached = atomic_load(&r->a->launch->ring->root_attached) != 0;
	if (r->fate.attached || r->ended || clock_awake_ms() - r->started_ms < ATTACH_MS)
		return;
	r->killed = true;
	(void)kill(group_of(r), SIGKILL);
}

/* How long to poll: each millisecond until the hooks have announced themselves; the supervisor needs its
 * tick. */
static int patience(const struct running *r)
{
	if (!r->fate.attached && !r->killed)
		return 1;
	return session_clock_wait(r->a->launch->clock, r->supervisor || r->hung_up_ms ? TICK_MS : -1);
}

/* Work that is done at intervals.  It also waits for children, since those behind a traced child are not
 * seen. */
static void tick(struct running *r)
{
	if (!r->supervisor)
		return;
	supervisor_tick(r->supervisor);
	wait_children(r);
}

static void wait_agent(struct running *r)
{
	while (!r->ended && !session_clock_gives_up(r->a->launch->clock)) {
		struct pollfd p[] = {
			{ .fd = r->sigfd, .events = POLLIN },
			{ .fd = r->a->launch->fd, .events = POLLIN },
			{ .fd = supervisor_waiters(r->supervisor), .events = POLLIN },
			{ .fd = surfaces_fd(r->a->launch->surfaces), .events = POLLIN },
			{ .fd = r->terminal->link, .events = POLLIN },
			{ .fd = r->terminal->fd },
		};
		struct signalfd_siginfo si;

		(void)poll(p, NELEM(p), patience(r));
		if (p[2].revents)
			supervisor_waiter_gone(r->supervisor);
		while (read(r->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
			on_signal(r, &si);
		if (p[1].revents)
			launch_listen(r->a->launch);
		if (p[3].revents)
			surfaces_ready(r->a->launch->surfaces);
		if (p[4].revents)
			hear_front(r);
		if (p[5].revents)
			hung_up(r);
		end_hung_up(r);
		if (!r->killed)
			check_attached(r);
		if (session_clock_tick(r->a->launch->clock, r->a->launch->pid))
			r->told_to_end = true;
		tick(r);
	}
	if (!r->ended)
		r->fate.status = SIGKILL;
}

/* Serves the processes that the command left behind until they have ended by themselves. */
static void linger(struct running *r)
{
	r->ended = false;
	while (children_left(r->a->launch->pid) && !r->told_to_end) {
		struct pollfd p[] = {
			{ .fd = r->sigfd, .events = POLLIN },
			{ .fd = supervisor_waiters(r->supervisor), .events = POLLIN },
			{ .fd = r->terminal->link, .events = POLLIN },
			{ .fd = r->terminal->fd },
		};
		struct signalfd_siginfo si;

		(void)poll(p, NELEM(p), TICK_MS);
		if (p[1].revents)
			supervisor_waiter_gone(r->supervisor);
		if (p[2].revents)
			hear_front(r);
		if (p[3].revents)
			hung_up(r);
		while (read(r->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
			if (si.ssi_signo == SIGCHLD)
				wait_children(r);
			else if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGINT || si.ssi_signo == SIGHUP)
				r->told_to_end = true;
		}
		launch_listen(r->a->launch);
		if (session_clock_tick(r->a->launch->clock, r->a->launch->pid))
			r->told_to_end = true;
		tick(r);
	}
}

/* Ends the remaining processes of the session, then stops answering their calls.  How many would not end, and
 * how many threads of ours. */
static size_t end_rest(struct running *r)
{
	size_t left, held = 0;

	/* The programs of surfaces are our children, but they are no part of the session. */
	surfaces_stop(r->a->launch->surfaces);
	r->a->launch->surfaces = NULL;
	if (r->a->lingers && r->started)
		linger(r);
	left = reap_children(r->a->launch->pid, session_clock_grace(r->a->launch->clock, REAP_TERM_MS));
	if (left)
		talk("%zu processes of the session would not end", left);
	if (r->supervisor)
		held = supervisor_stop(r->supervisor);
	if (held)
		talk("a file system that does not answer holds %zu calls: pale run stays until it does",
		     held);
	r->a->launch->on_narrowed = NULL;
	r->a->launch->on_reload = NULL;
	return left + held;
}

struct agent_end agentproc_run(const struct agentproc *a)
{
	struct running r = { .a = a, .sigfd = -1, .terminal = a->terminal };
	char **envp =
		agent_environment(a->environment, a->preload, a->launch->runtime_dir, NULL, a->fence->level);
	struct agent_end end = { .refused = true, .code = EXIT_PALE };
	int error = envp ? block_signals(&r) : -ENOMEM;
	size_t left;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	reap_prepare();
	if (error == 0) {
		error = start(&r, envp);
		r.started = error == 0;
		if (r.started)
			error = session_clock_start(a->launch->clock,
						    a->limits->want.of[RESOURCE_TIME].value);
		if (r.started)
			wait_agent(&r);
		else if (r.pid > 0)
			(void)waitpid(r.pid, NULL, 0);
		check_attached(&r);
		terminal_end(r.terminal);
		r.fate.error = error;
		end = agent_end_of(a, &r.fate);
		left = end_rest(&r);
		terminal_done(r.terminal);
		agent_end_overrule(&end, a->launch->clock->why);
		end.left = left;
		(void)close(r.sigfd);
		sigprocmask(SIG_SETMASK, &r.old_mask, NULL);
	}
	environment_free(envp);
	return end;
}
