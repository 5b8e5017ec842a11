/* What a push sends, as its card says it. */
#ifndef PALE_PUSH_COUNT_H
#define PALE_PUSH_COUNT_H

#include <stddef.h>

struct caller;
struct git_push;

/* Writes how many commits a push adds and removes; may block for two seconds. */
void pushes_count(struct caller *c, const struct git_push *push, char *buf, size_t size);

#endif
