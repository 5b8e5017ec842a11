/*
 * What /proc tells of a process, and of who listens at a port.
 *
 * For a process: its parents, its terminal, its filters, its signals.
 */
#ifndef PALE_PROCSTAT_H
#define PALE_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GENERATIONS_MAX 4096 /* a longer chain of parents does not occur in normal use */

struct stat_fields {
	pid_t ppid, group;
	dev_t tty;
	uint64_t start;
	unsigned flags; /* PF_ of include/linux/sched.h */
};

/* Opens NAME in the directory dir, or in /proc/PID where dir < 0.  The descriptor, or -errno. */
int procstat_open(int dir, pid_t pid, const char *name);
/* Reads stat in the directory dir, or in /proc/PID where dir < 0.  0 or -errno. */
int stat_read(int dir, pid_t pid, struct stat_fields *ret);
/* When a process started, in ticks since boot, by which a number that is used again is known; 0 where there
 * is no such process. */
uint64_t start_of(pid_t pid);
/* The number behind `key` in DIR/status or /proc/PID/status, read in base.  -errno. */
long status_number(int dir, pid_t pid, const char *key, int base);
/* True where pid is `above` or descends from it. */
bool pid_descends_from(pid_t pid, pid_t above);
/* pid (a thread or process id) belongs to the session: it descends from the agent. */
bool session_has_pid(pid_t pid);
/*
 * True where a signal waits for the task that stops or ends the process, or one of `handled` (as in
 * /proc/PID/status, SIGNALS_ALL) that its program handles.  The caller of this must know that the task
 * exists.
 */
#define SIGNALS_ALL UINT64_MAX
bool task_has_signal(pid_t tid, uint64_t handled);

#endif
