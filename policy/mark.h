/*
 * The mark of a session's processes, by which they are found where nobody is left who knows them.
 *
 * It is a resource limit that has no other use in a session: RLIMIT_MSGQUEUE counts POSIX queues, which the
 * filter refuses.  A limit is inherited by every child and every program, and the filter lets no process
 * change this one, so neither a new environment nor a double fork sheds it.  Everybody may read it in
 * /proc/PID/limits.
 */
#ifndef PALE_MARK_H
#define PALE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#define MARK_RESOURCE RLIMIT_MSGQUEUE

/* The mark of the session of that name: a value that everybody may lower the limit to. */
uint64_t mark_of(const char *session);
/* The text of a process's /proc/PID/limits has it. */
bool mark_is_in(const char *limits, uint64_t mark);

#endif
