/*
 * The parts of `pale init`: the agents on PATH, and the text of a first policy.
 */
#ifndef PALE_PALE_INIT_H
#define PALE_PALE_INIT_H

#include "tools/base/program.h"

/* An agent on PATH. */
struct agent_found {
	char name[32]; /* its command name */
	struct program program;
	const char *coverage, *kind; /* program_coverage() */
};

/* agents_found.c: the known agents that are on PATH, in the order of the table; at most max of them.  No
 * program is executed. */
size_t agents_find(struct agent_found *ret, size_t max);

/* init_text.c: a policy with comments; a user's is based on preset.  The caller must free it; NULL on
 * ENOMEM. */
enum init_kind { INIT_USER, INIT_PROJECT, INIT_FLOOR };
char *init_text(enum init_kind kind, const char *preset);

#endif
