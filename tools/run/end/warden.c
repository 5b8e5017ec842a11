/*
 * The warden: a process beside the session that ends the session's processes if `pale run` is killed, even
 * together with its helper.  (The kernel then kills the agent and answers ENOSYS to its children, which would
 * live on.)
 *
 * The warden holds one end of a socket pair, and nothing else.  The first packet is the session's mark
 * (policy/programs/mark.h), the second one says that the session is over.  A hang-up between the two means
 * that `pale run` was killed.  The warden is forked while `pale run` is small and has no threads.  It is not
 * a child of `pale run`, which waits for its children at the session's end.  It finds the session's processes
 * by that mark, by no_new_privs and by their seccomp filter.
 *
 * A process that forks and exits again and again is gone before a walk of /proc reaches it, and its child is
 * newer than the list being walked.  So during each walk, and for a while after it, each new pid is examined,
 * the newest first.
 */
#include "warden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "policy/programs/mark.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/proc.h"
#include "tools/base/readfile.h"

#define NAME	   "pale-warden"
#define LINE	   3 /* the warden's end of the socket pair, its only descriptor but /dev/null */
#define FILE_MAX   ((size_t)64 << 10)
#define ROUNDS_MIN 3
#define QUIET_NS   20000000    /* a round ends after this time without a new process */
#define STEP_NS	   200000      /* pause between two looks for new pids */
#define FOLLOW_MAX 256	       /* most new pids examined in one look */
#define STRIDE	   32	       /* processes of a walk between two looks for new pids */
#define LONGEST_NS 30000000000 /* then it gives up: a process may sleep in the kernel for ever */

struct hunt {
	uint64_t mark;
	int sig;
	pid_t before, newest; /* the newest pid at the last look but one, and at the last */
	bool skipped;	      /* some new pids were not examined */
	uint64_t until;
};

static bool proc_read(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read(path, FILE_MAX, ret, ret_len) == 0;
}

static bool is_fenced(pid_t pid)
{
	_cleanup_free_ char *status = NULL;
	size_t len;

	return proc_read(pid, "status", &status, &len) && strstr(status, "\nNoNewPrivs:\t1\n") &&
	       strstr(status, "\nSeccomp:\t2\n");
}

/* Limits belong to the process, so they can be read even where its first thread has ended. */
static bool is_left(pid_t pid, uint64_t mark)
{
	_cleanup_free_ char *limits = NULL;
	size_t len;

	return proc_read(pid, "limits", &limits, &len) && mark_is_in(limits, mark) && is_fenced(pid);
}

/* The pidfd is opened before the process is examined, so the signal goes to that same process. */
static bool signal_one(const struct hunt *h, pid_t pid)
{
	_cleanup_close_ int fd = pid > 1 ? pidfd_open(pid, 0) : -1;

	return fd >= 0 && is_left(pid, h->mark) && pidfd_send_signal(fd, h->sig, NULL, 0) == 0;
}

/* The newest pid (perhaps that of a thread); 0 where /proc does not show it. */
static pid_t pid_newest(void)
{
	_cleanup_free_ char *text = NULL;
	const char *last;
	size_t len;

	if (file_read("/proc/loadavg", 256, &text, &len) < 0)
		return 0;
	last = strrchr(text, ' ');
	return last ? (pid_t)strtol(last + 1, NULL, 10) : 0;
}

/*
 * Signals the processes that are newer than the last look, the newest first, since the others may have
 * exited. A pid is taken a moment before its process is visible, so the pids of the last look are examined
 * again. Where there are too many, or pids have wrapped around, the rest is left to one more round.
 */
static size_t signal_newer(struct hunt *h)
{
	const pid_t newest = pid_newest();
	pid_t before = h->before;
	size_t n = 0;

	if (newest < before || newest - before > FOLLOW_MAX) {
		before = newest > FOLLOW_MAX ? newest - FOLLOW_MAX : 0;
		h->skipped = true;
	}
	h->before = h->newest;
	h->newest = newest;
	for (pid_t pid = newest; pid > before; pid--)
		n += signal_one(h, pid);
	return n;
}

/* Signals all processes of the session.  One that exits before its turn may have a child that the list lacks.
 */
static size_t signal_all(struct hunt *h)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	size_t n = 0;
	pid_t pid;

	h->before = h->newest = pid_newest();
	for (unsigned i = 1; (pid = proc_next(proc)); i++) {
		n += signal_one(h, pid);
		/* With many processes, or many zombies, a walk takes long. */
		if (i % STRIDE == 0)
			n += signal_newer(h);
	}
	return n;
}

/* A walk, and then looks for new pids until there was none for a while; true where a process was signalled,
 * or skipped. */
static bool round_of(struct hunt *h, int sig)
{
	const struct timespec nap = { .tv_nsec = STEP_NS };
	bool any;
	uint64_t quiet;

	h->sig = sig;
	h->skipped = false;
	any = signal_all(h) > 0;
	for (quiet = clock_awake_ns(); clock_awake_ns() - quiet < QUIET_NS && clock_awake_ns() < h->until;) {
		if (signal_newer(h) > 0) {
			any = true;
			quiet = clock_awake_ns();
		} else if (h->newest == h->before) {
			(void)nanosleep(&nap, NULL);
		}
	}
	return any || h->skipped;
}

/* All are stopped before any is killed, so that none can fork when another one dies. */
static void end_all(uint64_t mark)
{
	struct hunt h = { .mark = mark, .until = clock_awake_ns() + LONGEST_NS };

	(void)round_of(&h, SIGSTOP);
	for (int i = 1; (round_of(&h, SIGKILL) || i < ROUNDS_MIN) && clock_awake_ns() < h.until; i++)
		;
}

/* Closes all that `pale run` has open, since a reader of its standard output waits for the end of file. `end`
 * may be one of descriptors 0 to 2. */
static void close_files(int end)
{
	int null;

	(void)dup2(end, LINE);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)close_range(LINE + 1, ~0U, 0);
	if (chdir("/") < 0)
		_exit(0);
}

/* Receives the next packet: its length, 0 at a hang-up. */
static size_t receive_packet(char *buf, size_t size)
{
	ssize_t n = TEMP_FAILURE_RETRY(recv(LINE, buf, size, 0));

	return n > 0 ? (size_t)n : 0;
}

static void watch_session(int end)
{
	uint64_t mark = 0;
	char over;

	(void)setsid();
	(void)prctl(PR_SET_NAME, NAME, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	close_files(end);
	if (receive_packet((char *)&mark, sizeof(mark)) == sizeof(mark) && receive_packet(&over, 1) == 0)
		end_all(mark);
	_exit(0);
}

int warden_start(struct warden *w)
{
	int ends[2], e;

	*w = (struct warden){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	w->pid = fork();
	e = w->pid < 0 ? -errno : 0;
	if (w->pid == 0) {
		(void)close(ends[1]);
		if (fork() == 0)
			watch_session(ends[0]);
		_exit(0);
	}
	(void)close(ends[0]);
	if (e < 0) {
		(void)close(ends[1]);
		w->pid = 0;
		return e;
	}
	w->fd = ends[1];
	return 0;
}

int warden_watch(const struct warden *w, const char *session)
{
	uint64_t mark = mark_of(session);

	return send(w->fd, &mark, sizeof(mark), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void warden_mark(const char *session, bool walled)
{
	struct rlimit mark = { mark_of(session), mark_of(session) };

	if (!walled && getrlimit(MARK_RESOURCE, &mark) == 0 && mark.rlim_cur > MARK_HOOKS)
		mark.rlim_cur -= mark_of(session) % MARK_HOOKS + 1;
	(void)setrlimit(MARK_RESOURCE, &mark);
}

void warden_settle(struct warden *w)
{
	if (w->pid > 0)
		(void)waitpid(w->pid, NULL, 0);
	w->pid = 0;
}

void warden_done(struct warden *w)
{
	warden_settle(w);
	if (w->fd < 0)
		return;
	(void)send(w->fd, "", 1, MSG_NOSIGNAL);
	(void)close(w->fd);
	w->fd = -1;
}
