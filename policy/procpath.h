/*
 * The rule on other processes: what lies in /proc/PID of a process outside the session is closed, but for
 * what the kernel shows of any process to anybody.  Text in, value out; whose a number is, the caller knows.
 */
#ifndef PALE_PROCPATH_H
#define PALE_PROCPATH_H

#include "op.h"

struct pids {
	bool (*has)(const struct pids *p, int32_t pid); /* pid is a process of the session */
};

/* Takes a component that is a process's or a thread's number.  0 where there is none. */
int32_t proc_take_pid(const char **at);
/* path is below /proc in the directory of a process that pids does not have, and this access is closed there.
 */
bool proc_is_closed(const char *path, unsigned access, const struct pids *pids);

#endif
