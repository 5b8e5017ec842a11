/* Remembers the tasks that make calls, so that an ordinary call need not read /proc. */
#ifndef PALE_PROCS_H
#define PALE_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct caller;
struct supervisor;

#define PROCS_MAX  128
#define PROCS_WAYS 8u

#define PIDFD_LATER (-2) /* it can be opened, and no call has needed it yet */

/* What is remembered of a task, from one of its calls to the next. */
struct proc {
	pid_t tid, tgid; /* tid 0: unused */
	int pidfd; /* of exactly this task; -1: not available (a thread before Linux 6.9); PIDFD_LATER */
	int dir;   /* /proc/TID, -1: not opened yet */
	uint64_t proven;   /* the tick in which it was last seen alive */
	uint64_t used;	   /* the least recently used entry is replaced first */
	unsigned users;	   /* calls that hold it */
	uint32_t image;	   /* number of the image */
	unsigned image_of; /* sup->tag_changes when the image was found, plus 1; 0: never found */
	bool is_orphan;
	bool is_proven;	   /* its program is the one that was judged: exec_unproven.c */
	unsigned exe_told; /* sup->execs_watched when the helper knew its program, plus 1; 0: it may be
			      another one */
};

void proc_init(struct proc *p);

/* What is remembered of the caller's task, verified to be that task; held until proc_put().  NULL: the task
 * is gone. */
struct proc *proc_get(struct caller *c);
void proc_put(struct caller *c);
/* For an entry outside the table: releases what it held and sets it up for process tgid, with nothing
 * looked up yet. */
void proc_renew(struct proc *p, pid_t tgid);
/* A pidfd of the caller, owned by the supervisor.  -ENOENT: not available; -ESRCH: the caller is gone. */
int proc_pidfd(struct caller *c);
/* Looks the task up again, after the entry turned out to be of a task that is gone.  NULL: the caller is
 * gone too. */
struct proc *proc_again(struct caller *c);
void procs_done(struct supervisor *s);

#endif
