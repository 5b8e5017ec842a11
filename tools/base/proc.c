/*
 * Processes as /proc lists them at some moment of the walk.  A pid may belong to another process in the
 * next moment: a caller that sends signals must hold a descriptor of the process first.
 */
#include "proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/system/system.h"

pid_t proc_next(DIR *proc)
{
	const struct dirent *e;

	while (proc && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			return (pid_t)strtol(e->d_name, NULL, 10);
	return 0;
}

/* PID (NAME) STATE PPID ... START: the name may hold anything, brackets and blanks too. */
bool proc_stat(pid_t pid, struct proc_stat *ret)
{
	char text[1024];
	const char *after;

	if (proc_read_small(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	after = strrchr(text, ')');
	return after &&
	       sscanf(after + 1,
		      " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		      &ret->state, &ret->ppid, &ret->start) == 3;
}
