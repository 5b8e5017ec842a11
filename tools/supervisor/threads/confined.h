/* Callers that have confined themselves with Landlock: what is performed for them. */
#ifndef PALE_CONFINED_H
#define PALE_CONFINED_H

struct caller;

/*
 * Asked after the verdict and before an act that Landlock may limit: puts the caller's own domain on this
 * thread, which ends with the call.  What it does to /proc and to other processes afterwards may fail.  0,
 * or -EACCES where the act must not be performed.
 */
int caller_enter(struct caller *c);

#endif
