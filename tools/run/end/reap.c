/*
 * Ends what the agent left behind.  pale run is a subreaper: every orphan of the session becomes its child,
 * so it only needs to look at its own children, repeatedly, until none is left.  A child's pid cannot be
 * reused before the child is reaped, so no signal reaches another process.
 */
#include "reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/proc.h"

#define KILL_MS	 3000
#define STEP_MS	 5
#define PIDS_MAX 4096 /* most pids in one round; the next round takes the others */
#define TOLD_MAX 512
#define BURST	 64 /* looks at our own children for each look at all descendants */

struct pids {
	pid_t list[PIDS_MAX];
	size_t n;
};

struct told {
	pid_t list[TOLD_MAX];
	size_t n;
};

static void add_pid(struct pids *p, pid_t pid, pid_t spare)
{
	if (pid > 1 && pid != spare && p->n < PIDS_MAX)
		p->list[p->n++] = pid;
}

/* The kernel's list of our children; -1 if the kernel is built without it. */
static int children_fd = -1;

void reap_prepare(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	children_fd = open(path, O_RDONLY | O_CLOEXEC);
}

static bool children_listed(struct pids *p, pid_t spare)
{
	char text[PIDS_MAX * 8 + 1], *at = text, *end;
	size_t len = 0;
	ssize_t n;

	if (children_fd < 0 || lseek(children_fd, 0, SEEK_SET) < 0)
		return false;
	while (len < sizeof(text) - 1 && (n = read(children_fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	for (pid_t pid; (pid = (pid_t)strtol(at, &end, 10)) > 0 && *end; at = end)
		add_pid(p, pid, spare);
	return true;
}

static void children_searched(struct pids *p, pid_t spare)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct proc_stat stat;
	pid_t pid;

	while ((pid = proc_next(proc)))
		if (proc_stat(pid, &stat) && stat.ppid == getpid())
			add_pid(p, pid, spare);
}

static size_t children(struct pids *p, pid_t spare)
{
	p->n = 0;
	if (!children_listed(p, spare))
		children_searched(p, spare);
	return p->n;
}

bool children_left(pid_t spare)
{
	struct pids p;

	return children(&p, spare) > 0;
}

static void signal_children(struct pids *ret, int sig, pid_t spare)
{
	children(ret, spare);
	for (size_t i = 0; i < ret->n; i++)
		(void)kill(ret->list[i], sig);
}

size_t children_signal(int sig, pid_t spare)
{
	struct pids now;

	signal_children(&now, sig, spare);
	return now.n;
}

static bool was_told(const struct told *told, pid_t pid)
{
	for (size_t i = 0; i < told->n; i++)
		if (told->list[i] == pid)
			return true;
	return false;
}

static void bury(const struct pids *p)
{
	for (size_t i = 0; i < p->n; i++)
		(void)waitpid(p->list[i], NULL, WNOHANG);
}

/* Sends TERM to each process once and reaps the dead.  Returns how many there were. */
static size_t term_round(pid_t spare, struct told *told)
{
	struct pids now;

	children(&now, spare);
	for (size_t i = 0; i < now.n; i++) {
		if (was_told(told, now.list[i]) || kill(now.list[i], SIGTERM) < 0)
			continue;
		/* A stopped process does not act on TERM. */
		(void)kill(now.list[i], SIGCONT);
		if (told->n < TOLD_MAX)
			told->list[told->n++] = now.list[i];
	}
	bury(&now);
	return now.n;
}

/*
 * A process that forks and exits at once is gone before a walk of all processes is over, and its child may
 * be gone too.  But that child is then our own child, and the list of our children is short and read
 * quickly.
 */
static size_t kill_round(pid_t spare)
{
	struct pids now = { .n = 1 };

	(void)tree_signal(SIGKILL, spare);
	for (unsigned i = 0; now.n && i < BURST; i++) {
		signal_children(&now, SIGKILL, spare);
		bury(&now);
	}
	return now.n;
}

size_t reap_children(pid_t spare, unsigned term_ms)
{
	uint64_t kill_at = clock_awake_ms() + term_ms, end = kill_at + KILL_MS, now;
	struct told told = { .n = 0 };
	size_t left = 1;

	while (left && (now = clock_awake_ms()) < end) {
		left = now < kill_at ? term_round(spare, &told) : kill_round(spare);
		if (left)
			(void)poll(NULL, 0, STEP_MS);
	}
	return left;
}
