/* Decisions that a helper had not written when it died: $XDG_STATE_HOME/pale/unwritten.jsonl. */
#ifndef PALE_UNWRITTEN_H
#define PALE_UNWRITTEN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define UNWRITTEN_FILE "unwritten.jsonl"
#define UNWRITTEN_OLD  "unwritten.old.jsonl" /* the one before it */

/* Both files, read once for any number of sessions. */
struct unwritten_files {
	char *text[2];	     /* NULL: not there, or not readable */
	char path[PATH_MAX]; /* of the newer one */
};

/* Reads them; the caller must release them with unwritten_close(). */
void unwritten_open(struct unwritten_files *ret);
void unwritten_close(struct unwritten_files *f);
/* The number of this session's decisions in them. */
uint64_t unwritten_count(const struct unwritten_files *f, const char *session);

#endif
