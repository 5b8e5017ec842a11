/*
 * The rule on other processes: /proc/PID of a process outside the session, and all that lies in it, does not
 * exist.  A command line may hold a password.  No I/O: the caller says which pids belong to the session.
 */
#ifndef PALE_PROCPATH_H
#define PALE_PROCPATH_H

#include "policy/base/op.h"

struct pids {
	bool (*has)(const struct pids *p, int32_t pid); /* pid is a process of the session */
};

/* Programs look into every process there is (ps, top): that such a look found none is nothing denied. */
bool proc_is_look(enum op op, enum reason reason, const char *path);
/* Reads a path component that is a pid or tid, and moves *at behind it.  0 where it is not a number. */
int32_t proc_take_pid(const char **at);
/* True where path is, or is in, /proc/PID of a process that is not in pids. */
bool proc_is_closed(const char *path, const struct pids *pids);

#endif
