/*
 * pale explain: what would be decided, by which rule, against which others, and what to write to change it.
 */
#ifndef PALE_EXPLAIN_H
#define PALE_EXPLAIN_H

#include <stdbool.h>

#include "policy/base/op.h"

struct decision;
struct loaded;
struct options;
struct question;

/* Judges op on the words of argv, prints the verdict and returns the exit code. */
int explain_words(const struct options *o, enum op op, int argc, char **argv);
/* True where text has the form of a denial's id. */
bool explain_is_id(const char *text);
/* Prints the denial with this id, and what explain_words() says about the same request now.  Exit code. */
int explain_past(const struct options *o, const char *id);

/* tool_hook.c: answers one question of the hook of that agent, from standard input; the exit code. */
int tool_hook(const char *agent);

/*
 * What to write to change a decision: tested lines that work, or why no line can (the caller must free it).
 * judged: the command that the decision is about, such as a script of an interpreter; else q's own request.
 */
char *advice(const struct loaded *l, const struct question *q, const struct request *judged,
	     const struct decision *d);

#endif
