/* Pushes of git: what each adds and removes, and where an allowed one may go. */
#ifndef PALE_PUSHES_H
#define PALE_PUSHES_H

#include <stdbool.h>
#include <stddef.h>

struct caller;
struct decision;
struct git_push;
struct request;

/* Writes how many commits a push adds and removes; may block for two seconds. */
void pushes_count(struct caller *c, const struct git_push *push, char *buf, size_t size);
/* After the operator allowed the push: aim has the URLs that it pushes to (struct request.aim), or is
 * NULL. */
void pushes_open(struct caller *c, const char *aim);
/* Where req goes to the destination of a push that the operator approved, and the caller is that push or
 * descends from it: sets *d to an allow and returns true.  A denial stays where its reason is not
 * REASON_HOST or REASON_PROCESS. */
bool pushes_reach(struct caller *c, const struct request *req, struct decision *d);

#endif
