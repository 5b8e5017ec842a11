/*
 * The mark of a session's processes.  It identifies them when the process that started them is gone.
 *
 * It is a resource limit that has no other use in a session: RLIMIT_MSGQUEUE limits POSIX message queues,
 * which the filter refuses.  A limit is inherited over fork and exec, and the filter lets no process change
 * this one, so neither a new environment nor a double fork removes the mark.  Any process can read it in
 * /proc/PID/limits.
 */
#ifndef PALE_MARK_H
#define PALE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#define MARK_RESOURCE RLIMIT_MSGQUEUE
/*
 * At level hooks, where queues work, the limit is lowered by at most so many bytes.  This also
 * distinguishes the session's processes from others, but it restricts none of them.
 */
#define MARK_HOOKS 65536u

/* The mark of pale-gate and what it starts.  They descend from `pale run`, and some have a filter of their
 * own, but they are outside the session. */
#define MARK_OUTSIDE 0u

/* The mark of the session of that name, in bytes: a limit that needs no privilege to set. */
uint64_t mark_of(const char *session);
/* True where the text of a process's /proc/PID/limits has this mark. */
bool mark_is_in(const char *limits, uint64_t mark);

#endif
