/* Processes that a session leaves: found and ended. */
#ifndef PALE_REAP_H
#define PALE_REAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens what the others here read.  To be called early: later, the session may have used up all descriptors.
 */
void reap_prepare(void);
/* We have a child other than spare. */
bool children_left(pid_t spare);
/* Ends every child but spare: TERM, after term_ms KILL, bounded in time.  Returns how many remain. */
#define REAP_TERM_MS 1500
size_t reap_children(pid_t spare, unsigned term_ms);
/* Sends a signal to all descendants of this process, except spare and its descendants.  Returns how
 * many got it. */
size_t tree_signal(int sig, pid_t spare);
/* The same for our own children alone, which needs no new descriptor. */
size_t children_signal(int sig, pid_t spare);

#endif
