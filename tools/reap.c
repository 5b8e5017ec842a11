/*
 * Ends what the agent left behind.  pale run is a subreaper: every orphan of the session becomes
 * its child, so only its own children have to be looked at, again and again until there are none;
 * and a child's pid cannot be reused before it is reaped, so no signal goes astray.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tools.h"

#define KILL_MS	 3000
#define STEP_MS	 5
#define PIDS_MAX 512 /* in one round; the next one takes the others */

struct pids {
	pid_t list[PIDS_MAX];
	size_t n;
};

static void add(struct pids *p, pid_t pid, pid_t spare)
{
	if (pid > 1 && pid != spare && p->n < PIDS_MAX)
		p->list[p->n++] = pid;
}

/* The kernel's own list; false where it is not built in. */
static bool children_listed(struct pids *p, pid_t spare)
{
	_cleanup_file_ FILE *f = NULL;
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fscanf(f, "%d", &pid) == 1)
		add(p, pid, spare);
	return true;
}

static pid_t parent_of(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[64], state;
	const char *after;
	size_t len;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 4096, &text, &len) < 0)
		return -1;
	/* The name may hold anything, brackets and blanks too. */
	after = strrchr(text, ')');
	return after && sscanf(after + 1, " %c %d", &state, &ppid) == 2 ? ppid : -1;
}

static void children_searched(struct pids *p, pid_t spare)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	if (!proc)
		return;
	while ((e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 1 && parent_of(pid) == getpid())
			add(p, pid, spare);
	}
	(void)closedir(proc);
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

static bool was_told(const struct pids *told, pid_t pid)
{
	for (size_t i = 0; i < told->n; i++)
		if (told->list[i] == pid)
			return true;
	return false;
}

/* One round: everybody gets the signal (TERM only once), the dead are buried; how many there were. */
static size_t signal_round(int sig, pid_t spare, struct pids *told)
{
	struct pids now;
	size_t n = children(&now, spare);

	/* Whoever forks faster than its orphans come to us is not waited for. */
	if (n > 0 && sig == SIGKILL)
		(void)tree_signal(SIGKILL, spare);

	for (size_t i = 0; i < n; i++) {
		if (sig == SIGTERM && was_told(told, now.list[i]))
			continue;
		if (kill(now.list[i], sig) == 0 && sig == SIGTERM) {
			/* A stopped process would sit on its TERM. */
			(void)kill(now.list[i], SIGCONT);
			add(told, now.list[i], spare);
		}
	}
	for (size_t i = 0; i < n; i++)
		(void)waitpid(now.list[i], NULL, WNOHANG);
	return n;
}

size_t reap_children(pid_t spare, unsigned term_ms)
{
	const struct {
		int sig, ms;
	} phases[] = { { SIGTERM, (int)term_ms }, { SIGKILL, KILL_MS } };
	struct pids told = { .n = 0 };
	size_t left = 0;

	for (size_t i = 0; i < NELEM(phases); i++) {
		for (int ms = 0; ms < phases[i].ms; ms += STEP_MS) {
			left = signal_round(phases[i].sig, spare, &told);
			if (left == 0)
				return 0;
			(void)poll(NULL, 0, STEP_MS);
		}
	}
	return left;
}
