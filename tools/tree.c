/*
 * Signals to all that descends from this process, however deep, whatever sessions and groups it made:
 * pale is a subreaper, so none can leave.
 *
 * Each is held by a descriptor of its process and looked at again before the signal, so that a pid that was
 * given to somebody else meanwhile is nobody's harm.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "tools.h"

enum kin { KIN_UNKNOWN, KIN_OURS, KIN_NOT };

struct task {
	pid_t pid, ppid;
	unsigned long long start; /* ticks since boot: tells one bearer of a pid from the next */
	char state;
	enum kin kin;
};

struct tasks {
	struct task *list;
	size_t n, cap;
};

/* PID (NAME) STATE PPID ... START: the name may hold anything, brackets and blanks too. */
static bool task_read(pid_t pid, struct task *t)
{
	_cleanup_close_ int fd = -1;
	char path[32], text[1024];
	const char *after;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	after = strrchr(text, ')');
	t->pid = pid;
	t->kin = KIN_UNKNOWN;
	return after &&
	       sscanf(after + 1,
		      " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		      &t->state, &t->ppid, &t->start) == 3;
}

static int by_pid(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool tasks_read(struct tasks *all)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	bool good = proc != NULL;

	while (good && (e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid <= 1)
			continue;
		if (all->n == all->cap) {
			size_t cap = all->cap ? all->cap * 2 : 256;
			struct task *grown = reallocarray(all->list, cap, sizeof(*grown));

			good = grown != NULL;
			if (!good)
				break;
			all->list = grown;
			all->cap = cap;
		}
		all->n += task_read(pid, &all->list[all->n]);
	}
	if (proc)
		(void)closedir(proc);
	if (good && all->n)
		qsort(all->list, all->n, sizeof(*all->list), by_pid);
	return good;
}

static struct task *task_find(const struct tasks *all, pid_t pid)
{
	const struct task key = { .pid = pid };

	return bsearch(&key, all->list, all->n, sizeof(*all->list), by_pid);
}

/* Up to somebody who is known, then down again with the answer: each task is passed twice in all. */
static void settle(const struct tasks *all, struct task *t, pid_t spare)
{
	const pid_t self = getpid();
	struct task *at = t;
	enum kin kin = KIN_NOT;

	/* A pid that was reused while the list was made could close a circle. */
	for (size_t steps = 0; at && steps <= all->n; steps++) {
		if (at->pid == spare || at->pid == self)
			break;
		if (at->kin != KIN_UNKNOWN || at->ppid == self) {
			kin = at->ppid == self ? KIN_OURS : at->kin;
			break;
		}
		at = task_find(all, at->ppid);
	}
	for (size_t steps = 0; t && t->kin == KIN_UNKNOWN && steps <= all->n; steps++) {
		t->kin = t->pid == spare || t->pid == self ? KIN_NOT : kin;
		if (t == at)
			break;
		t = task_find(all, t->ppid);
	}
}

static void send_signal(const struct task *t, int sig)
{
	_cleanup_close_ int fd = pidfd_open(t->pid, 0);
	struct task again;

	if (fd < 0 && errno != ENOSYS)
		return;
	if (!task_read(t->pid, &again) || again.start != t->start)
		return;
	if (fd < 0)
		(void)kill(t->pid, sig);
	else
		(void)pidfd_send_signal(fd, sig, NULL, 0);
}

size_t tree_signal(int sig, pid_t spare)
{
	struct tasks all = { 0 };
	size_t n = 0;

	if (!tasks_read(&all)) {
		free(all.list);
		return 0;
	}
	for (size_t i = 0; i < all.n; i++) {
		if (all.list[i].kin == KIN_UNKNOWN)
			settle(&all, &all.list[i], spare);
		if (all.list[i].kin != KIN_OURS || all.list[i].state == 'Z')
			continue;
		send_signal(&all.list[i], sig);
		n++;
	}
	free(all.list);
	return n;
}
