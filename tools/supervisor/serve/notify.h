/* The life of a supervisor: prepared, started, ticked, stopped. */
#ifndef PALE_NOTIFY_H
#define PALE_NOTIFY_H

#include <stddef.h>

struct supervisor;
struct supervisor_setup;

/* Does everything that needs no listener, which need not exist yet.  *setup and what it points to must
 * outlive *ret. 0 or -errno. */
int supervisor_prepare(const struct supervisor_setup *setup, struct supervisor **ret);
/* Takes over the listener and starts serving.  A negative listener is returned as the error.  0, or -errno:
 * then s is freed and the listener is not closed. */
int supervisor_serve(struct supervisor *s, int listener);
/* Both.  0 or -errno. */
int supervisor_start(const struct supervisor_setup *setup, int listener, struct supervisor **ret);
/* Called each 100 ms from the main thread: gives up calls of processes that died, and replaces a leader
 * that is stuck. */
void supervisor_tick(struct supervisor *s);
/* Gives up the calls of these callers at once.  From the main thread. */
void supervisor_waiter_gone(struct supervisor *s);
/* Stops serving: calls that are not answered yet get ENOSYS.  Joins the threads, bounded in time: how many
 * did not end. */
size_t supervisor_stop(struct supervisor *s);

#endif
