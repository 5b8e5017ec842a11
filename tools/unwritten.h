/* What a helper that died had read from no ring, or had not written: $XDG_STATE_HOME/pale/unwritten.jsonl. */
#ifndef PALE_UNWRITTEN_H
#define PALE_UNWRITTEN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct dirs;
struct launch;

/* Keeps it, after all writers have ended, and says how much it is. */
void unwritten_tell(const struct dirs *dirs, const struct launch *l);
/* How many of a session are there, and where that is. */
uint64_t unwritten_count(const char *session, char *path, size_t size);

#endif
