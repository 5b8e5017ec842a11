/* A shell line, split into simple commands. */
#ifndef PALE_SHELLSPLIT_H
#define PALE_SHELLSPLIT_H

#include <stddef.h>

#include "policy/base/op.h"

/* A simple command of a shell line. */
struct shell_part {
	enum op op; /* OP_EXEC, or OP_READ / OP_WRITE for a redirection */
	char **words;
	size_t n;
};
/* Splits a line at quotes, blanks and operators; expands nothing, runs nothing.  0, -EINVAL (unbalanced
 * quote), -ENOMEM; the caller must call shell_parts_done(). */
int shell_split(const char *line, struct shell_part **ret, size_t *ret_n);
void shell_parts_done(struct shell_part *parts, size_t n);

#endif
