/* Decisions that a helper had not written when it died: $XDG_STATE_HOME/pale/unwritten.jsonl. */
#ifndef PALE_UNWRITTEN_H
#define PALE_UNWRITTEN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define UNWRITTEN_FILE "unwritten.jsonl"
#define UNWRITTEN_OLD  "unwritten.old.jsonl" /* the one before it */

struct dirs;
struct launch;

/* Saves them, and tells the operator how many there are.  Call it when all processes of the session have
 * ended. */
void unwritten_tell(const struct dirs *dirs, const struct launch *l);
/* The number of this session's decisions in the file, whose path is copied to `path`; 0 where it cannot be
 * read. */
uint64_t unwritten_count(const char *session, char *path, size_t size);

#endif
