/*
 * The rule on other processes: /proc/PID of a process outside the session is closed, except for the files
 * that the kernel shows of any process to any user.  No I/O: the caller says which pids belong to the
 * session.
 */
#ifndef PALE_PROCPATH_H
#define PALE_PROCPATH_H

#include "op.h"

struct pids {
	bool (*has)(const struct pids *p, int32_t pid); /* pid is a process of the session */
};

/* Reads a path component that is a pid or tid, and moves *at behind it.  0 where it is not a number. */
int32_t proc_take_pid(const char **at);
/* True where path is in /proc/PID of a process that is not in pids, and the rule closes it for this access.
 */
bool proc_is_closed(const char *path, unsigned access, const struct pids *pids);

#endif
