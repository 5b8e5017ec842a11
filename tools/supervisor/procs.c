/*
 * Remembers the tasks that make calls, so that an ordinary call need not read /proc.
 *
 * An entry is for a task id.  Ids are used again: an entry has a pidfd of exactly that task.  In each new
 * tick, and whenever an operation through the pidfd fails, the supervisor checks that the task still lives.
 * Within one tick (100 ms) an id cannot be used again: pid_max forks take longer.  So a process that is
 * seen for the first time gets its pidfd when one is needed, or when it calls in another tick: most
 * processes end before that, and to make and close a pidfd costs as much as the rest of a call.
 *
 * The entries are in sets of eight; the least recently used is replaced.  An entry is not given to another
 * task while a call holds it.
 */
#include "procs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tools/supervisor/proc/procstat.h"

#include "caller.h"
#include "listener.h"
#include "supervisor.h"

#define PIDFD_THREAD_ O_EXCL /* Linux 6.9: a pidfd of a thread that leads no group */

void proc_init(struct proc *p)
{
	*p = (struct proc){ .pidfd = -1, .dir = -1 };
}

static void proc_reset(struct proc *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->dir >= 0)
		close(p->dir);
	proc_init(p);
}

void proc_renew(struct proc *p, pid_t tgid)
{
	proc_reset(p);
	if (tgid <= 0)
		return;
	p->tid = p->tgid = tgid;
	p->pidfd = PIDFD_LATER;
}

static bool is_gone(const struct proc *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	return p->pidfd < 0 || poll(&fd, 1, 0) != 0;
}

static bool leads_group(pid_t tid)
{
	return syscall(SYS_tgkill, tid, tid, 0) == 0 || errno == EPERM;
}

/* Finds the task's own pidfd and its process.  A pidfd without flags can be opened for a group's leader
 * only, so success needs no look into /proc. */
static int identify(struct proc *p, pid_t tid, bool is_new)
{
	long tgid;

	if (is_new && leads_group(tid)) {
		p->pidfd = PIDFD_LATER;
		p->tgid = tid;
		return 0;
	}
	p->pidfd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (p->pidfd >= 0) {
		p->tgid = tid;
		return 0;
	}
	tgid = status_number(-1, tid, "\nTgid:", 10);
	if (tgid <= 0)
		return -ESRCH;
	p->tgid = (pid_t)tgid;
	p->pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD_);
	return 0;
}

/* Under procs_lock.  A call that holds the entry of a task that is gone keeps it, but later calls do not
 * find it. */
static struct proc *find_proc(struct supervisor *s, struct proc *set, pid_t tid, bool *ret_is_new)
{
	uint64_t tick = atomic_load_explicit(&s->tick, memory_order_relaxed);

	/* With nested runs each call looks up the task, and what is known of its image must be kept. */
	*ret_is_new = atomic_load(&s->tag_changes) == 0;
	for (size_t i = 0; i < PROCS_WAYS; i++) {
		struct proc *p = &set[i];

		if (p->tid != tid)
			continue;
		*ret_is_new = false;
		/* With nested runs the image depends on it, so it is verified each time. */
		if ((p->proven == tick && atomic_load(&s->tag_changes) == 0) || !is_gone(p)) {
			p->proven = tick;
			return p;
		}
		p->tid = 0;
		if (p->users == 0)
			proc_reset(p);
	}
	return NULL;
}

static struct proc *place_for(struct proc *set, struct proc *own)
{
	struct proc *oldest = NULL;

	for (size_t i = 0; i < PROCS_WAYS; i++)
		if (set[i].users == 0 && (!oldest || set[i].used < oldest->used))
			oldest = &set[i];
	return oldest ? oldest : own;
}

/* Under procs_lock. */
static struct proc *remember(struct caller *c, struct proc *set, bool is_new)
{
	struct proc *p = place_for(set, &c->worker->own);

	proc_reset(p);
	/* What was looked up belongs to the caller only if the caller has been alive all the time. */
	if (identify(p, c->tid, is_new) < 0 || !caller_alive(c)) {
		proc_reset(p);
		return NULL;
	}
	p->tid = c->tid;
	p->proven = atomic_load_explicit(&c->sup->tick, memory_order_relaxed);
	return p;
}

struct proc *proc_get(struct caller *c)
{
	struct supervisor *s = c->sup;
	uint32_t hash = (uint32_t)c->tid * 2654435761u;
	struct proc *set = &s->procs[(hash >> 16) % (PROCS_MAX / PROCS_WAYS) * PROCS_WAYS], *p;
	bool is_new;

	if (c->proc)
		return c->proc;
	pthread_mutex_lock(&s->procs_lock);
	p = find_proc(s, set, c->tid, &is_new);
	if (!p)
		p = remember(c, set, is_new);
	if (p) {
		p->users++;
		p->used = ++s->procs_clock;
		c->tgid = p->tgid;
	}
	pthread_mutex_unlock(&s->procs_lock);
	c->proc = p;
	return p;
}

int proc_pidfd(struct caller *c)
{
	struct proc *p = proc_get(c);
	int r;

	if (!p)
		return -ESRCH;
	pthread_mutex_lock(&c->sup->procs_lock);
	r = p->pidfd == PIDFD_LATER ? (int)syscall(SYS_pidfd_open, c->tid, 0) : p->pidfd;
	if (p->pidfd == PIDFD_LATER && (r < 0 || !caller_alive(c))) {
		if (r >= 0)
			close(r);
		r = -ESRCH;
	} else {
		p->pidfd = r;
		r = r < 0 ? -ENOENT : r;
	}
	pthread_mutex_unlock(&c->sup->procs_lock);
	return r;
}

void proc_put(struct caller *c)
{
	struct proc *p = TAKE_PTR(c->proc);

	if (!p || c->is_stand_in)
		return;
	pthread_mutex_lock(&c->sup->procs_lock);
	p->users--;
	if (p->users == 0 && (p->tid == 0 || p == &c->worker->own))
		proc_reset(p);
	pthread_mutex_unlock(&c->sup->procs_lock);
}

struct proc *proc_again(struct caller *c)
{
	/* The process of a stand-in has either this entry or none. */
	if (c->is_stand_in)
		return NULL;
	if (c->proc) {
		pthread_mutex_lock(&c->sup->procs_lock);
		c->proc->tid = 0;
		pthread_mutex_unlock(&c->sup->procs_lock);
		proc_put(c);
	}
	return proc_get(c);
}

void procs_done(struct supervisor *s)
{
	for (size_t i = 0; i < NELEM(s->procs); i++)
		proc_reset(&s->procs[i]);
	for (size_t i = 0; i < atomic_load(&s->slots); i++)
		proc_reset(&s->workers[i].own);
}
