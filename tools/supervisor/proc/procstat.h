/*
 * What /proc tells of a process, and of who listens at a port.
 *
 * What /proc says of a process: its parents, its terminal, its filters, its signals.
 */
#ifndef PALE_PROCSTAT_H
#define PALE_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GENERATIONS_MAX 4096 /* a chain of parents that is longer is somebody's trick */

struct stat_fields {
	pid_t ppid, group;
	dev_t tty;
	uint64_t start;
	unsigned flags; /* PF_ of include/linux/sched.h */
};

/* Opens NAME of the directory dir where that is >= 0, else of /proc/PID.  The descriptor, or -errno. */
int procstat_open(int dir, pid_t pid, const char *name);
/* Reads DIR/stat where dir is >= 0, else /proc/PID/stat.  0 or -errno. */
int stat_read(int dir, pid_t pid, struct stat_fields *ret);
/* The number behind `key` in DIR/status or /proc/PID/status, read in base.  -errno. */
long status_number(int dir, pid_t pid, const char *key, int base);
/* pid is `above`, or has it among its parents. */
bool pid_descends_from(pid_t pid, pid_t above);
/* pid (a thread or process id) belongs to the session: it descends from the agent. */
bool session_has_pid(pid_t pid);
/* A signal waits for the task that its program handles.  The caller of this knows that the task is there. */
bool task_has_signal(pid_t tid);

#endif
