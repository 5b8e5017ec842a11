/*
 * Sends signals to all descendants of this process, in any session and process group: pale is a subreaper,
 * so no descendant can leave.
 *
 * Each process is held by a pidfd and examined again before the signal, so that no other process is
 * signalled where a pid was reused.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/proc.h"

#include "reap.h"

enum kin { KIN_UNKNOWN, KIN_OURS, KIN_NOT };

struct task {
	pid_t pid;
	struct proc_stat stat;
	enum kin kin;
};

struct tasks {
	struct task *list;
	size_t n;
};

static int by_pid(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool tasks_read(struct tasks *all)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	pid_t pid;

	while ((pid = proc_next(proc))) {
		struct task t = { .pid = pid, .kin = KIN_UNKNOWN }, *room;

		if (pid == 1 || !proc_stat(pid, &t.stat))
			continue;
		room = LIST_NEW(all->list, all->n);
		if (!room)
			return false;
		*room = t;
		all->n++;
	}
	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), by_pid);
	return proc != NULL;
}

static struct task *task_find(const struct tasks *all, pid_t pid)
{
	const struct task key = { .pid = pid };

	return bsearch(&key, all->list, all->n, sizeof(*all->list), by_pid);
}

/* Goes up to an ancestor whose answer is known, then down again with that answer: each task is visited
 * twice. */
static void settle_task(const struct tasks *all, struct task *t, pid_t spare)
{
	const pid_t self = getpid();
	struct task *at = t;
	enum kin kin = KIN_NOT;

	/* A pid that was reused while the list was made could make the chain of parents a circle. */
	for (size_t steps = 0; at && steps <= all->n; steps++) {
		if (at->pid == spare || at->pid == self)
			break;
		if (at->kin != KIN_UNKNOWN || at->stat.ppid == self) {
			kin = at->stat.ppid == self ? KIN_OURS : at->kin;
			break;
		}
		at = task_find(all, at->stat.ppid);
	}
	for (size_t steps = 0; t && t->kin == KIN_UNKNOWN && steps <= all->n; steps++) {
		t->kin = t->pid == spare || t->pid == self ? KIN_NOT : kin;
		if (t == at)
			break;
		t = task_find(all, t->stat.ppid);
	}
}

static bool send_signal(const struct task *t, int sig)
{
	_cleanup_close_ int fd = pidfd_open(t->pid, 0);
	struct proc_stat again;

	if (fd < 0 && errno != ENOSYS)
		return false;
	if (!proc_stat(t->pid, &again) || again.start != t->stat.start)
		return false;
	return fd < 0 ? kill(t->pid, sig) == 0 : pidfd_send_signal(fd, sig, NULL, 0) == 0;
}

size_t tree_signal(int sig, pid_t spare)
{
	struct tasks all = { 0 };
	size_t n = 0;

	if (!tasks_read(&all))
		all.n = 0;
	for (size_t i = 0; i < all.n; i++) {
		if (all.list[i].kin == KIN_UNKNOWN)
			settle_task(&all, &all.list[i], spare);
		if (all.list[i].kin != KIN_OURS || all.list[i].stat.state == 'Z')
			continue;
		n += send_signal(&all.list[i], sig);
	}
	free(all.list);
	/* Where descriptors are short: what these leave behind becomes our own child next. */
	return n ? n : children_signal(sig, spare);
}
