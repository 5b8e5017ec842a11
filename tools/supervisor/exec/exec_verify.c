/*
 * Compares a new program with what was judged before it runs its first instruction, and kills the process
 * where they differ.  This is done for each exec at level strict, and at level full for an exec that was
 * approved (once or by a grant) and for a static program.
 *
 * The caller is traced from before the kernel reads its memory again until the exec is over
 * (PTRACE_SEIZE, PTRACE_O_TRACEEXEC).  At PTRACE_EVENT_EXEC the new program is stopped, and its file, words,
 * environment and directory are compared with the request, and for a question the file's content.  sudo's
 * intercept_verify does the same.
 *
 * The tracee must be released in every case: a call that is never answered, an exec that fails, a signal in
 * between.  So it is interrupted before the answer: any stop but that of a successful exec ends the watch.
 * If the interruption comes inside the exec, the kernel restarts the call, and it is carried and judged
 * again.  With PTRACE_O_EXITKILL a program that is still watched dies with the supervisor.
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

#include "policy/base/util.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/procs.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "exec.h"

#define NAP_MIN_NS 20000L
#define NAP_MAX_NS 1000000L

#define GIVE_UP_NS 10000000000L /* then the tracee hangs in the kernel: it is killed, not released */

/* The exec that this thread watches: answer.after takes no argument of its own. */
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
 * The state of the tracee.  Where it is also a child of this process (the agent, or an orphan), the kernel
 * reports its stops to the main thread too, and the first waitid(2) consumes them.  So waitid(2) is used here
 * only to see a death, which WNOWAIT leaves for the main thread.  A stop is seen by a ptrace(2) request,
 * which succeeds only on a stopped tracee.
 */
static enum fate fate_of(const struct watch *w, pid_t *ret_pid, siginfo_t *ret)
{
	const pid_t pids[] = { w->tgid, w->tid }; /* at exec a thread takes the pid of its process */

	ret->si_pid = 0;
	if (waitid(P_ALL, 0, ret, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) < 0)
		return errno == ECHILD ? FATE_GONE : FATE_BUSY;
	*ret_pid = ret->si_pid;
	if (ret->si_pid && ret->si_code != CLD_TRAPPED && ret->si_code != CLD_STOPPED)
		return FATE_DEAD;
	/* A thread that took its process's pid answers ptrace(2) only after a wait has consumed that stop. */
	if (ret->si_pid)
		(void)waitid(P_PID, (id_t)ret->si_pid, ret, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD);
	for (size_t i = 0; i < NELEM(pids); i++) {
		*ret_pid = pids[i];
		*ret = (siginfo_t){ 0 };
		/* EINVAL: a group stop, which has no siginfo. */
		if (ptrace(PTRACE_GETSIGINFO, pids[i], NULL, ret) == 0 || errno == EINVAL)
			return FATE_STOPPED;
	}
	return FATE_BUSY;
}

/* Reaps a dead tracee, because its parent cannot wait for it before its tracer has.  A child of this
 * process is left to the main thread. */
static void bury(pid_t pid)
{
	struct stat_fields f;
	int status;

	if (stat_read(-1, pid, &f) == 0 && f.ppid == getpid())
		return;
	(void)waitpid(pid, &status, WNOHANG | __WALL | __WNOTHREAD);
}

static void kill_changed(struct caller *c, struct watch *w, pid_t pid, const char *how)
{
	w->killed = true;
	verdict_refuse_with(c, &w->x->req, w->target, REASON_CHANGED, how);
	(void)kill(pid, SIGKILL);
}

/* What of the new program is not as it was judged; "" where all is. */
static const char *difference(struct caller *c, const struct watch *w, pid_t pid)
{
	struct exec_digest ran;
	const char *how;

	if (!exec_running(pid, EXEC_THERE, &ran))
		return "the program cannot be inspected";
	how = exec_digest_differs(&ran, &w->meant);
	if (!*how && !exec_stamp_stands(w->x, pid))
		return "the content of the program file differs";
	return *how || exec_aim_stands(w->x, c, pid) ? how : "the destination of the push differs";
}

/* True where the watch is over. */
static bool stopped(struct caller *c, struct watch *w, pid_t pid, const siginfo_t *si)
{
	int event = si->si_code > 0 && (si->si_code & 0xff) == SIGTRAP ? si->si_code >> 8 : 0;
	const char *how;

	/* SIGKILL was sent but is not delivered yet: this is still the previous stop. */
	if (w->killed)
		return false;
	if (event == PTRACE_EVENT_EXEC) {
		how = difference(c, w, pid);
		if (*how) {
			kill_changed(c, w, pid, how);
			return false;
		}
		exec_known(c, pid);
		atomic_fetch_add(&c->sup->execs_watched, 1);
	}
	/*
	 * Any other stop means that the exec failed, or that it is restarted and carried again.  A process
	 * that was killed in between cannot be released: it stays traced, and its parent cannot wait for it
	 * before we do.
	 */
	return ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(event ? 0 : si->si_signo)) == 0;
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

	/* Poll less often the longer it takes. */
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
 * A caller that another process traces cannot be watched, and at strict is refused: its tracer could change,
 * while it waits, the memory that the kernel is about to read.
 */
int exec_watch(struct caller *c, const struct exec *x, const char *target, struct answer *ret)
{
	const unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

	if (!caller_may_block(c))
		return -EAGAIN;
	if (ptrace(PTRACE_SEIZE, c->tid, NULL, (void *)options) < 0)
		return -EPERM;
	/*
	 * The interruption stops the caller when it returns to its own code: after the stop of a successful
	 * exec, or at once after a failed one.  It comes before the answer, so that a caller whose exec fails
	 * quickly cannot make its next call while it is still traced.  It does not wake a caller that waits
	 * for its answer (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
	 */
	(void)ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL);
	/* Opened now: once the call is answered it cannot be opened, and a change could not be reported. */
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
		verdict_refuse_with(c, &x->req, target, REASON_UNPROVEN, "another process traces it");
		e = -EACCES;
	}
	return e < 0 ? answer_result(e) : a;
}
