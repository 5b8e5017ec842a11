/*
 * The warden: a process beside the session that ends what is left of it where `pale run` was killed, be its
 * helper killed with it (the kernel ends the agent then, and answers ENOSYS to its children; this ends them).
 *
 * It holds one end of a line, and nothing else.  The first packet is the entry of the environment that marks
 * the session, the second says that it is over; a hang-up between the two, that nobody is left to say so.
 * Made while `pale run` is small, before there are threads, and nobody's
 * child: the session's end waits for the children of `pale run`.  Who is left is found by two marks, as the
 * helper finds them: that entry, and a filter with no new privileges.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "tools.h"
#include "warden.h"

#define NAME	    "pale-warden"
#define LINE	    3 /* the number of its end, the only one that it has */
#define ENTRY_MAX   (sizeof(ENV_SESSION_DIR "=") + PATH_MAX)
#define ENVIRON_MAX ((size_t)4 << 20)
#define ROUNDS	    50
#define ROUND_NS    20000000 /* one that forks meanwhile is found in the next */

static bool proc_read(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read(path, ENVIRON_MAX, ret, ret_len) == 0;
}

static bool is_fenced(pid_t pid)
{
	_cleanup_free_ char *status = NULL;
	size_t len;

	return proc_read(pid, "status", &status, &len) && strstr(status, "\nNoNewPrivs:\t1\n") &&
	       strstr(status, "\nSeccomp:\t2\n");
}

static bool is_left(pid_t pid, const char *entry)
{
	_cleanup_free_ char *environ_of = NULL;
	size_t len = 0;

	if (!is_fenced(pid) || !proc_read(pid, "environ", &environ_of, &len))
		return false;
	for (size_t at = 0; at < len; at += strlen(environ_of + at) + 1)
		if (strcmp(environ_of + at, entry) == 0)
			return true;
	return false;
}

/* The descriptor is had before the look, so what is killed is what was looked at. */
static bool end_one(pid_t pid, const char *entry)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);

	return fd >= 0 && is_left(pid, entry) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

static size_t end_round(const char *entry)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	size_t n = 0;
	pid_t pid;

	while ((pid = proc_next(proc)))
		n += pid > 1 && end_one(pid, entry);
	return n;
}

static void end_all(const char *entry)
{
	const struct timespec nap = { .tv_nsec = ROUND_NS };

	for (int i = 0; i < ROUNDS && end_round(entry) > 0; i++)
		(void)nanosleep(&nap, NULL);
}

/* Of what `pale run` has, its standard output above all, nothing may be held open; end may be one of these.
 */
static void let_go(int end)
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

/* The next packet: its length, 0 for the hang-up. */
static size_t receive(char *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(LINE, buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

static void watch(int end)
{
	char entry[ENTRY_MAX] UNINITIALIZED, over;
	size_t len;

	(void)setsid();
	(void)prctl(PR_SET_NAME, NAME, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	let_go(end);
	len = receive(entry, sizeof(entry));
	if (len > 0 && entry[len - 1] == '\0' && receive(&over, 1) == 0)
		end_all(entry);
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
			watch(ends[0]);
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

int warden_watch(const struct warden *w, const char *runtime_dir)
{
	char entry[ENTRY_MAX];
	int n = snprintf(entry, sizeof(entry), ENV_SESSION_DIR "=%s", runtime_dir);

	if (n >= (int)sizeof(entry))
		return -ENAMETOOLONG;
	return send(w->fd, entry, (size_t)n + 1, MSG_NOSIGNAL) < 0 ? -errno : 0;
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
