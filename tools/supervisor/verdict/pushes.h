/* Pushes of git: where an allowed one may go. */
#ifndef PALE_PUSHES_H
#define PALE_PUSHES_H

#include <stdbool.h>

struct caller;
struct decision;
struct request;

/* After the operator allowed the push: aim has the URLs that it pushes to (struct request.aim), or is
 * NULL. */
void pushes_open(struct caller *c, const char *aim);
/* Where req goes to the destination of a push that the operator approved, and the caller is that push or
 * descends from it: sets *d to an allow and returns true.  A denial stays where its reason is not
 * REASON_HOST or REASON_PROCESS. */
bool pushes_reach(struct caller *c, const struct request *req, struct decision *d);
/*
 * The same for the exec of git http-push, which an approved push over WebDAV starts: there is no second
 * question about that push.
 */
bool pushes_go_on(struct caller *c, const struct request *req, struct decision *d);

#endif
