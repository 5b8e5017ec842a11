/* Callers that have confined themselves with Landlock: what is performed for them. */
#ifndef PALE_CONFINED_H
#define PALE_CONFINED_H

struct caller;

/*
 * Called after the verdict, and before an act that Landlock may limit.  Where the caller is confined, this
 * thread enters the caller's domain, and ends with the call; afterwards it may no longer be able to use /proc
 * or other processes.  0; or -EACCES or -EAGAIN, and the act must not be performed.
 */
int caller_enter(struct caller *c);

#endif
