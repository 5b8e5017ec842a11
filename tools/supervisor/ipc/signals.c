/*
 * Signals, where the kernel's Landlock has no scope for them (before ABI 6, Linux 6.12): a process of the
 * session may signal only processes of the session, and a process of a nested run only those of that run.
 *
 * A signal to the caller's own process is left to the kernel: that process waits for the answer, so its pid
 * cannot be given to another one.  Every other signal is sent from here, through a pidfd.  The pidfd is
 * opened first, and then the pid is judged.  If the process behind the pidfd still takes the signal, it had
 * that pid all the time, so a pid that is used again reaches no other process.
 *
 * The receiver learns the sender.  The kernel lets no process put another pid into the siginfo of kill(2), so
 * the siginfo has the code of sigqueue(3), and the caller's pid and uid.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "policy/system/cleanup.h"

#include "tools/base/readfile.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/descent.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/wall/numbers.h"

#define PIDFD_THREAD_ O_EXCL /* Linux 6.9 */
#define EVERYBODY     (-1)   /* instead of a process group: all processes, as in kill(2) */

/* --- which processes -------------------------------------------------------------------------------- */

/* Only a session of root can have processes of several users. */
static long user_of(pid_t pid)
{
	return geteuid() == 0 ? status_number(-1, pid, "\nUid:", 10) : (long)getuid();
}

/* As in kill(2): a caller that is not root signals only processes of its own user. */
static bool is_of_user(struct caller *c, pid_t pid)
{
	long user = user_of(c->tid);

	return user == 0 || user == user_of(pid);
}

/* pid is a process or a thread. */
static bool may_signal(struct caller *c, pid_t pid)
{
	return caller_reaches(c, pid) && is_of_user(c, pid);
}

/* The siginfo that names the caller as the sender. */
static siginfo_t told(struct caller *c, int sig)
{
	return (siginfo_t){ .si_signo = sig,
			    .si_code = SI_QUEUE,
			    .si_pid = caller_tgid(c),
			    .si_uid = (uid_t)user_of(c->tid) };
}

/* Reads the caller's siginfo at addr.  -EPERM where its code is of those kept for tkill(2) and the kernel. */
static int read_told(struct caller *c, uint64_t addr, int sig, siginfo_t *ret)
{
	int r = caller_read(c, addr, ret, sizeof(*ret));

	ret->si_signo = sig;
	return r < 0 ? r : ret->si_code >= 0 || ret->si_code == SI_TKILL ? -EPERM : 0;
}

/* --- how -------------------------------------------------------------------------------------------- */

static int send_by(int pidfd, const siginfo_t *info)
{
	return syscall(SYS_pidfd_send_signal, pidfd, info->si_signo, info, 0) < 0 ? -errno : 0;
}

/* The id of a thread means its process, as in kill(2). */
static int signal_process(struct caller *c, pid_t number, const siginfo_t *info)
{
	pid_t pid = (pid_t)status_number(-1, number, "\nTgid:", 10);
	_cleanup_close_ int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (pidfd < 0)
		return -ESRCH;
	return may_signal(c, pid) ? send_by(pidfd, info) : -EPERM;
}

/*
 * Signals one thread; tgid 0: of any process.  Before Linux 6.9 a thread has no pidfd.  There the first
 * thread is signalled by the process's pidfd, and a later one by its pid and tid: the wrong thread would get
 * the signal only if both numbers were used again in that moment.
 */
static int signal_thread(struct caller *c, pid_t tgid, pid_t tid, const siginfo_t *info)
{
	pid_t pid = (pid_t)status_number(-1, tid, "\nTgid:", 10);
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD_);

	if (pid <= 0 || (tgid != 0 && tgid != pid))
		return -ESRCH;
	if (pidfd < 0 && pid == tid)
		pidfd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (!may_signal(c, tid))
		return -EPERM;
	if (pidfd >= 0)
		return send_by(pidfd, info);
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, info->si_signo, info) < 0 ? -errno : 0;
}

static bool is_in(pid_t pid, pid_t group)
{
	struct stat_fields f;

	return group == EVERYBODY || (stat_read(-1, pid, &f) == 0 && f.group == group);
}

/*
 * Signals each member of the group that the caller may signal; one is enough for success.  The caller's own
 * process comes last, since the signal may end it.
 */
static int signal_group(struct caller *c, pid_t group, const siginfo_t *info)
{
	const pid_t own = caller_tgid(c);
	DIR *all = opendir("/proc");
	int result = -ESRCH, r;
	struct dirent *e;

	if (!all)
		return -errno;
	while ((e = readdir(all))) {
		pid_t pid = isdigit((unsigned char)*e->d_name) ? atoi(e->d_name) : 0;

		if (pid <= 0 || pid == own || !is_in(pid, group))
			continue;
		r = signal_process(c, pid, info);
		result = r == 0 || result == 0 ? 0 : r;
	}
	closedir(all);
	if (group == EVERYBODY || !is_in(own, group))
		return result;
	r = signal_process(c, own, info);
	return result == 0 ? 0 : r;
}

/* --- the calls -------------------------------------------------------------------------------------- */

struct answer carry_kill(struct caller *c)
{
	const pid_t to = (pid_t)c->arg[0], own = caller_tgid(c);
	struct stat_fields f = { .group = (pid_t) - (int64_t)to };
	siginfo_t info;
	int r = 0;

	if (own <= 0)
		return answer_result(-ESRCH);
	if (to == own)
		return answer_continue();
	info = told(c, (int)c->arg[1]);
	if (to > 0)
		return answer_result(signal_process(c, to, &info));
	/* This reads all of /proc, so another thread should lead; where none can, the call is served anyway.
	 */
	(void)caller_may_block(c);
	if (to == 0)
		r = stat_read(-1, own, &f);
	if (r == 0)
		r = signal_group(c, to == -1 ? EVERYBODY : f.group, &info);
	return answer_result(r);
}

/* The arguments of tkill, tgkill, rt_sigqueueinfo and rt_tgsigqueueinfo. */
static const struct form {
	int nr;
	int tgid, tid, sig, info; /* number of the argument; -1: the call has no such argument */
} forms[] = {
	{ __NR_tkill, -1, 0, 1, -1 },
	{ __NR_tgkill, 0, 1, 2, -1 },
	{ __NR_rt_sigqueueinfo, 0, -1, 1, 2 },
	{ __NR_rt_tgsigqueueinfo, 0, 1, 2, 3 },
};

static pid_t pid_at(const struct caller *c, int arg)
{
	return arg < 0 ? 0 : (pid_t)c->arg[arg];
}

struct answer carry_signal(struct caller *c)
{
	const pid_t own = caller_tgid(c);
	const struct form *f = forms;
	pid_t tgid, tid;
	siginfo_t info;
	int sig, r = 0;

	while (f->nr != c->nr)
		f++;
	tgid = pid_at(c, f->tgid);
	tid = pid_at(c, f->tid);
	sig = (int)c->arg[f->sig];
	/* An id below 1 is invalid: the kernel returns the error. */
	if ((f->tgid >= 0 && (tgid == own || tgid <= 0)) || (f->tid >= 0 && tid <= 0) || tid == c->tid)
		return answer_continue();
	if (f->info >= 0)
		r = read_told(c, c->arg[f->info], sig, &info);
	else
		info = told(c, sig);
	if (r == 0)
		r = f->tid < 0 ? signal_process(c, tgid, &info) : signal_thread(c, tgid, tid, &info);
	return answer_result(r);
}

/* The pid behind a pidfd; 0: not a pidfd, -1: its process is gone. */
static pid_t pid_of(int pidfd)
{
	_cleanup_free_ char *text = NULL;
	char path[48];
	const char *p;
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (file_read(path, 4096, &text, &len) < 0)
		return 0;
	p = strstr(text, "\nPid:");
	return p ? atoi(p + strlen("\nPid:")) : 0;
}

/* Flags (Linux 6.9) are refused: one of them means a process group. */
struct answer carry_pidfd_signal(struct caller *c)
{
	_cleanup_close_ int pidfd = caller_fd(c, (int)c->arg[0]);
	const pid_t pid = pidfd < 0 ? 0 : pid_of(pidfd);
	siginfo_t info;
	int r = 0;

	if (pidfd < 0 || pid == 0)
		return answer_result(-EBADF);
	if ((uint32_t)c->arg[3] != 0)
		return answer_result(-EINVAL);
	if (c->arg[2] != 0)
		r = read_told(c, c->arg[2], (int)c->arg[1], &info);
	else
		info = told(c, (int)c->arg[1]);
	if (r == 0)
		r = pid < 0 ? -ESRCH : may_signal(c, pid) ? send_by(pidfd, &info) : -EPERM;
	return answer_result(r);
}

/* F_SETOWN names the process that gets SIGIO: the caller may name only its own process. */
struct answer carry_fcntl(struct caller *c)
{
	const pid_t to = (pid_t)c->arg[2];

	return to == 0 || to == caller_tgid(c) ? answer_continue() : answer_result(-EPERM);
}
