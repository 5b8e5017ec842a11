/*
 * Strict lines of a .env file: KEY=VALUE in the form that dotenv readers and shells agree on.
 *
 * Accepts blanks around `=`, `export`, comments, CRLF, 'quotes' (literal) and "quotes" (\n, \", \\, \$).
 * Nothing is expanded.  A form that these readers treat differently is an error, and so is a value of
 * several lines.
 */
#ifndef PALE_ENVFILE_H
#define PALE_ENVFILE_H

#include "parse.h"

struct env_pair {
	const char *key, *value; /* borrowed for the call */
	size_t from, to;	 /* the bytes of the assignment in text */
	unsigned line, key_col, value_col;
};

/*
 * Calls fn for every assignment of text, and adds an error to d for every bad line.  0, -EBADMSG if it
 * added an error, -ENOMEM, or the error of fn, which ends the reading.
 */
int env_read(const char *file, const char *text, size_t len,
	     int (*fn)(void *ctx, const struct env_pair *pair), void *ctx, struct diags *d);

/* The variables of a .env file that set a policy; pale ignores all others. */
#define ENV_NETWORK_MODE "SANDBOX_NETWORK_MODE"
#define ENV_WHITE_LIST	 "WHITE_LIST_DOMAINS"
#define ENV_EXPIRY	 "SESSION_EXPIRY_HOURS"
#define ENV_BRANCHES	 "PRIMARY_BRANCH_PATTERNS"

#endif
