/*
 * Which program is this pid?  A process reports it when it attaches (a claim, like all records of the
 * session's ring); for others /proc is read once.  Bounded: sets of eight, in which the least recently used
 * entry is replaced.
 */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/base/taint.h"
#include "helper/base/images.h"
#include "helper/base/state.h"

#define WAYS	  8u
#define ANCESTORS 8

static struct proc *set_of(struct procs *p, int32_t pid)
{
	uint32_t h = (uint32_t)pid * 2654435761u;

	return &p->slot[(h >> 16) % (PROCS_MAX / WAYS) * WAYS];
}

/* pid's slot, or the slot to use for it. */
static struct proc *slot_of(struct procs *p, int32_t pid)
{
	struct proc *set = set_of(p, pid), *oldest = set;

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].pid == pid && pid > 0)
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

static void fill(struct procs *p, struct proc *slot, int32_t pid, int32_t ppid, const char *exe)
{
	bool attached = slot->pid == pid && slot->attached;
	char *copy = strdup(exe);

	free(slot->exe);
	*slot = (struct proc){
		.pid = pid, .ppid = ppid, .exe = copy, .used = ++p->clock, .attached = attached
	};
}

bool procs_attach(struct procs *p, int32_t pid, int32_t ppid, const char *exe)
{
	struct proc *slot = slot_of(p, pid);
	bool again;

	fill(p, slot, pid, ppid, exe);
	again = slot->attached;
	slot->attached = true;
	return !again;
}

void procs_tell(struct procs *p, int32_t pid, int32_t ppid, const char *exe)
{
	fill(p, slot_of(p, pid), pid, ppid, exe);
}

/* A process that has not executed a program yet has its parent's; "" where no near ancestor is known. */
static const char *inherited(struct procs *p, pid_t parent)
{
	for (int i = 0; i < ANCESTORS && parent > 1; i++) {
		const struct proc *known = procs_known(p, parent);

		if (known && *known->exe)
			return known->exe;
		parent = proc_parent(parent);
	}
	return "";
}

const struct proc *procs_find(struct procs *p, int32_t pid)
{
	static const struct proc unknown = { .exe = (char *)"" };
	struct proc *slot = slot_of(p, pid);
	char link[48], exe[LIMIT_PATH];
	pid_t parent;
	ssize_t n;

	if (slot->pid == pid && slot->exe) {
		slot->used = ++p->clock;
		return slot;
	}
	if (pid <= 0)
		return &unknown;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	parent = proc_parent(pid);
	fill(p, slot, pid, parent > 0 ? parent : 0, n > 0 || !p->inherits ? exe : inherited(p, parent));
	return slot->exe ? slot : &unknown;
}

const struct proc *program_of(struct helper *h, int32_t pid)
{
	return procs_find(&h->procs[h->level == LEVEL_HOOKS ? FEED_HOOK : FEED_KERNEL], pid);
}

const struct proc *procs_known(struct procs *p, int32_t pid)
{
	const struct proc *slot = slot_of(p, pid);

	return slot->pid == pid && slot->exe ? slot : NULL;
}

void procs_outdate(struct procs *p, int32_t pid)
{
	struct proc *slot = slot_of(p, pid);

	if (slot->pid != pid)
		return;
	free(slot->exe);
	slot->exe = NULL;
}

void procs_done(struct procs *p)
{
	for (size_t i = 0; i < PROCS_MAX; i++)
		free(p->slot[i].exe);
}
