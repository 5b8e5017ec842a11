/* Callers that have confined themselves with Landlock. */
#ifndef PALE_DOMAIN_H
#define PALE_DOMAIN_H

#include <stdbool.h>

struct caller;

/* True where the caller, or a process that it comes of, has confined itself with Landlock: domain.c. */
bool caller_is_confined(struct caller *c);
/*
 * Asked after the verdict and before an act that Landlock may limit.  0: the supervisor performs the act.
 * For a caller that has confined itself: RESULT_CONTINUE, so that the kernel performs it, or -EACCES where
 * the floor would not stop what the caller may turn the act into.
 */
int caller_acts(struct caller *c, bool may_truncate);
/* False where the caller is confined, and such a socket would be connected or bound outside of its domain. */
bool caller_may_reach(struct caller *c, bool is_unix);

#endif
