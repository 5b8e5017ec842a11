/*
 * What has been executed is what was judged, or it never runs an instruction: each exec at level strict,
 * and at level full one that somebody approved, once or by a grant.
 *
 * The caller is traced from before the kernel reads its memory again until the exec is over
 * (PTRACE_SEIZE, PTRACE_O_TRACEEXEC): at PTRACE_EVENT_EXEC the new program stands still, and its
 * file and its words are compared with the request.  sudo's intercept_verify does the same.
 *
 * What is traced must be let go in every case: a call that is never answered, an exec that fails, a
 * signal that comes between.  So it is interrupted before it is answered: a stop other than that of a
 * successful exec ends the watch.  Where the interruption lands inside the exec, the kernel restarts the
 * call, which is carried and judged again.  PTRACE_O_EXITKILL: should we die, so does what nobody watched.
 *
 * Source: ptrace(2), "execve(2) under ptrace"; waitid(2).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/supervisor/exec.h"
#include "tools/supervisor/notify.h"
#include "tools/tools.h"

#define NAP_MIN_NS 20000L
#define NAP_MAX_NS 1000000L

#define GIVE_UP_NS 10000000000L /* it hangs in the kernel: killed rather than let go */

/* The watched exec of this thread: answer.after has no argument for it. */
static _Thread_local struct watch {
	const struct exec *x;
	const char *target;
	struct exec_digest meant;
	pid_t tid, tgid;
	bool killed;
} watch;

/* --- the watch ---------------------------------------------------------------------------------------- */

static void nap(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	(void)nanosleep(&ts, NULL);
}

enum fate { FATE_BUSY, FATE_STOPPED, FATE_DEAD, FATE_GONE };

/*
 * What became of the tracee.  It may be a child of this process too (the agent, or an orphan); the kernel
 * then shows its stops to the main thread as well, and whoever waits first has them.  So a wait tells here of
 * death alone, left waitable for the main thread, and a stop is known by ptrace(2), which serves stopped
 * tracees only.
 */
static enum fate fate_of(const struct watch *w, pid_t *ret_pid, siginfo_t *ret)
{
	const pid_t pids[] = { w->tgid, w->tid }; /* a thread that executes becomes its process */

	ret->si_pid = 0;
	if (waitid(P_ALL, 0, ret, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) < 0)
		return errno == ECHILD ? FATE_GONE : FATE_BUSY;
	*ret_pid = ret->si_pid;
	if (ret->si_pid && ret->si_code != CLD_TRAPPED && ret->si_code != CLD_STOPPED)
		return FATE_DEAD;
	/* A thread that became its process is not to be had until somebody waited for that stop. */
	if (ret->si_pid)
		(void)waitid(P_PID, (id_t)ret->si_pid, ret, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD);
	for (size_t i = 0; i < NELEM(pids); i++) {
		*ret_pid = pids[i];
		*ret = (siginfo_t){ 0 };
		/* EINVAL is a stop of the whole group, which has no signal of its own. */
		if (ptrace(PTRACE_GETSIGINFO, pids[i], NULL, ret) == 0 || errno == EINVAL)
			return FATE_STOPPED;
	}
	return FATE_BUSY;
}

/* A dead tracee is hidden from its parent until its tracer took notice. */
static void bury(pid_t pid)
{
	struct stat_fields f;
	int status;

	if (stat_read(-1, pid, &f) == 0 && f.ppid == getpid())
		return;
	(void)waitpid(pid, &status, WNOHANG | __WALL | __WNOTHREAD);
}

static void kill_changed(struct caller *c, struct watch *w, pid_t pid)
{
	w->killed = true;
	verdict_refuse(c, &w->x->req, w->target, REASON_CHANGED);
	(void)kill(pid, SIGKILL);
}

/* True where the watch is over. */
static bool stopped(struct caller *c, struct watch *w, pid_t pid, const siginfo_t *si)
{
	int event = si->si_code > 0 && (si->si_code & 0xff) == SIGTRAP ? si->si_code >> 8 : 0;
	struct exec_digest ran;

	/* Until the signal has arrived, it is the same stop. */
	if (w->killed)
		return false;
	if (event == PTRACE_EVENT_EXEC) {
		if (!exec_running(pid, EXEC_THERE, &ran) || !exec_digest_is(&ran, &w->meant)) {
			kill_changed(c, w, pid);
			return false;
		}
		exec_known(c, pid);
	}
	/* Any other stop is outside of the exec: it failed, or will be restarted and carried again. */
	(void)ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(event ? 0 : si->si_signo));
	return true;
}

/* True where the watch is over. */
static bool looked(struct caller *c, struct watch *w)
{
	siginfo_t si;
	pid_t pid;

	switch (fate_of(w, &pid, &si)) {
	case FATE_STOPPED:
		return stopped(c, w, pid, &si);
	case FATE_DEAD:
		bury(pid);
		return true;
	case FATE_GONE:
		return true;
	case FATE_BUSY:
		return false;
	}
	return false;
}

static void watch_exec(struct caller *c)
{
	struct watch w = watch;
	long waited = 0, step;

	/* The longer it has taken, the less a look earlier or later matters. */
	while (waited < GIVE_UP_NS && !looked(c, &w)) {
		step = waited / 4 < NAP_MIN_NS ? NAP_MIN_NS : waited / 4;
		step = step < NAP_MAX_NS ? step : NAP_MAX_NS;
		nap(step);
		waited += step;
	}
	if (waited >= GIVE_UP_NS)
		(void)kill(w.tgid, SIGKILL);
}

/* --- may it be watched? ------------------------------------------------------------------------------- */

/*
 * One that another process of the session traces cannot be: its tracer could write, while it waits, what
 * the kernel is about to read.
 */
int exec_watch(struct caller *c, const struct exec *x, const char *target, struct answer *ret)
{
	const unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

	if (!caller_may_block(c))
		return -EAGAIN;
	if (ptrace(PTRACE_SEIZE, c->tid, NULL, (void *)options) < 0)
		return -EPERM;
	/*
	 * Taken note of on the way back to its own code: behind the stop of a successful exec, at once after
	 * a failed one.  Before the answer, or one that fails quickly is back here while it is watched; what
	 * waits for an answer is not woken by it (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
	 */
	(void)ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL);
	/* Once the call is answered there is none to be had, and a change could not be told. */
	(void)proc_pidfd(c);
	watch = (struct watch){
		.x = x, .target = target, .meant = exec_meant(x), .tid = c->tid, .tgid = caller_tgid(c)
	};
	*ret = answer_continue();
	ret->after = watch_exec;
	return 0;
}

struct answer exec_verify(struct caller *c, const struct exec *x, const char *target)
{
	struct answer a;
	int e = exec_watch(c, x, target, &a);

	if (e == -EPERM) {
		verdict_refuse(c, &x->req, target, REASON_UNPROVEN);
		e = -EACCES;
	}
	return e < 0 ? answer_result(e) : a;
}
