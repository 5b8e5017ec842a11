/*
 * What a killed launcher leaves behind.  The kernel ends the agent with it (PR_SET_PDEATHSIG) and
 * answers ENOSYS to what the agent's children ask from then on; this ends them too.
 *
 * Found by two marks: the session's directory in the environment that they were started with, and more
 * seccomp filters than this process began with, which nobody outside a fence has.  Who wrote over his
 * environment is not found, and is left to ENOSYS; so is all of it where the helper is another user, who may
 * neither look nor kill, and says so in the session's last record.
 */
#include "helper.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

#define ENVIRON_MAX (128 * 1024)
#define ROUNDS	    5 /* one that forks meanwhile is found in the next */
#define ROUND_NS    (20 * NS_MS)

static bool has_entry(const char *environ, size_t len, const char *entry)
{
	for (size_t at = 0; at < len; at += strnlen(environ + at, len - at) + 1)
		if (strcmp(environ + at, entry) == 0)
			return true;
	return false;
}

/* Of a process by its first thread, or of another thread. */
static bool has_marks(struct helper *h, pid_t pid, const char *entry, char *buf)
{
	struct taint t;
	char path[48];
	ssize_t n;

	if (taint_read(pid, &t) < 0 || t.no_new_privs <= 0 || t.filters <= h->baseline.filters)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	n = file_read_small(AT_FDCWD, path, buf, ENVIRON_MAX);
	return n > 0 && has_entry(buf, (size_t)n, entry);
}

/* It has ended, its other threads perhaps not; nobody may read its environment then. */
static bool is_zombie(pid_t pid, char *buf)
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	n = file_read_small(AT_FDCWD, path, buf, ENVIRON_MAX);
	return n > 0 && strstr(buf, "\nState:\tZ") != NULL;
}

static bool is_left(struct helper *h, pid_t pid, const char *entry, char *buf)
{
	const struct dirent *e;
	bool found = has_marks(h, pid, entry, buf);
	char path[48];
	DIR *threads;

	if (found || !is_zombie(pid, buf))
		return found;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && !found && (e = readdir(threads))) {
		pid_t one = (pid_t)strtol(e->d_name, NULL, 10);

		found = one > 0 && one != pid && has_marks(h, one, entry, buf);
	}
	if (threads)
		closedir(threads);
	return found;
}

/* The descriptor is had before the look, so what is killed is what was looked at (Linux 5.3). */
static bool end_one(struct helper *h, pid_t pid, const char *entry, char *buf)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);

	return fd >= 0 && is_left(h, pid, entry, buf) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

static size_t end_round(struct helper *h, const char *entry, char *buf)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	if (!proc)
		return 0;
	while ((e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 1)
			n += end_one(h, pid, entry, buf);
	}
	closedir(proc);
	return n;
}

size_t leftovers_end(struct helper *h)
{
	const struct timespec nap = { .tv_nsec = ROUND_NS };
	_cleanup_free_ char *buf = malloc(ENVIRON_MAX);
	_cleanup_free_ char *entry = NULL;
	size_t n = 0, more;

	if (h->foreign || !buf || asprintf(&entry, ENV_SESSION_DIR "=%s", h->runtime_dir) < 0)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		more = end_round(h, entry, buf);
		n += more;
		if (more == 0)
			break;
		nanosleep(&nap, NULL);
	}
	return n;
}
