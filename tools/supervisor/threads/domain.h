/* Callers that have confined themselves with Landlock. */
#ifndef PALE_DOMAIN_H
#define PALE_DOMAIN_H

#include <stdbool.h>

struct caller;
struct supervisor;

/* 0 or -ENOMEM. */
int domains_new(struct supervisor *s);
void domains_done(struct supervisor *s);
/* True where the caller, or a process that it comes of, has confined itself with Landlock: domain.c. */
bool caller_is_confined(struct caller *c);
/*
 * Asked after the verdict and before an act that Landlock may limit: puts the caller's own domain on this
 * thread, which ends with the call.  What it does to /proc and to other processes afterwards may fail.  0,
 * or -EACCES where the act must not be performed.
 */
int caller_enter(struct caller *c);
/* False where the caller is confined, and such a socket would be connected or bound outside of its domain. */
bool caller_may_reach(struct caller *c, bool is_unix);

#endif
