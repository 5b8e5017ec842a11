/*
 * The rule on other processes: for the session, /proc/PID of a process outside it does not exist, because a
 * command line may hold a password.  No I/O: the caller says which pids belong to the session.
 */
#ifndef PALE_PROCPATH_H
#define PALE_PROCPATH_H

#include "policy/base/op.h"

struct pids {
	bool (*has)(const struct pids *p, int32_t pid); /* pid is a process of the session */
};

/* True for a read that this rule denied.  Programs such as ps and top try every process, so such a
 * denial is neither shown nor counted. */
bool proc_is_look(enum op op, enum reason reason, const char *path);
/*
 * True for a denial that is recorded and neither printed nor counted, because what was read does not exist
 * for the session: of another process in /proc, or in the home.
 */
bool reason_is_quiet(enum op op, enum reason reason, const char *path);
/* Reads a path component that is a pid or tid, and moves *at past it.  0 where it is not a number. */
int32_t proc_take_pid(const char **at);
/* True where path is, or is in, /proc/PID of a process that is not in pids. */
bool proc_is_closed(const char *path, const struct pids *pids);

#endif
