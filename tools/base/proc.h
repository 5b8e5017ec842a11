/* Processes in /proc. */
#ifndef PALE_PROC_H
#define PALE_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

/* The next process of DIR /proc, 0 after the last; 0 for NULL. */
pid_t proc_next(DIR *proc);

struct proc_stat {
	pid_t ppid;
	unsigned long long start; /* ticks since boot: differs where a pid is used again */
	char state;
};

/* False where the process does not exist. */
bool proc_stat(pid_t pid, struct proc_stat *ret);

#endif
