/* Callers that wait in open(2) for the other end. */
#ifndef PALE_WAITERS_H
#define PALE_WAITERS_H

#include <stdbool.h>

struct caller;
struct supervisor;
struct worker;

/* A descriptor that is readable when a caller whose open(2) waits has ended: then supervisor_waiter_gone()
 * must be called.  -1 without s. */
int supervisor_waiters(const struct supervisor *s);

/* True where the call that w serves needs no answer: its caller is gone, or has a signal that ends its
 * open(2).  w is held. */
bool worker_is_given_up(const struct worker *w);
/* Makes workers whose caller is gone leave their open(2), and waits for that, bounded in time; not worker
 * `but` (NULL: all), and not one that a dead file system holds. */
void waiters_leave(struct supervisor *s, const struct worker *but);
/* Called before and after an open(2) that waits.  False: too many wait already. */
bool waiter_begin(struct caller *c);
void waiter_end(struct caller *c);
/* After an interruption: true where the caller gives no reason for it, so that the open must be
 * repeated. */
bool waiter_stays(struct caller *c);

#endif
