/* The questions and grants of all sessions. */
#ifndef PALE_PENDING_H
#define PALE_PENDING_H

#include <jansson.h>
#include <stddef.h>

/* Fetches all cards of a session over fd, page by page, into one array (the caller drops it).  Returns as
 * control_call(). */
int cards_fetch(int fd, json_t **ret, char *why, size_t size);
/* Calls fn for each waiting question and each grant of all sessions, with enough of its id to answer it and
 * its description as one line of visible text.  Sessions that do not answer are skipped. */
typedef void named_fn(void *ctx, const char *id, const char *what);
void cards_each(named_fn *fn, void *ctx);
void grants_each(named_fn *fn, void *ctx);

#endif
