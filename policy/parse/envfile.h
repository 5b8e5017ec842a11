/*
 * Strict lines of a .env file: KEY=VALUE as the dotenv family and shells agree on it.
 *
 * Blanks around `=`, `export`, comments, CRLF, 'quotes' (to the letter) and "quotes" (\n, \", \\, \$).
 * Nothing is expanded.  What these readers do not agree about, and a value over several lines, is an error.
 */
#ifndef PALE_ENVFILE_H
#define PALE_ENVFILE_H

#include "parse.h"

struct env_pair {
	const char *key, *value; /* borrowed for the call */
	size_t from, to;	 /* the bytes of text that say so */
	unsigned line, key_col, value_col;
};

/*
 * Calls fn for every assignment of text, and adds an error to d for every other line.  0, -EBADMSG where it
 * added one, -ENOMEM, or what fn returned, which ends the reading.
 */
int env_read(const char *file, const char *text, size_t len,
	     int (*fn)(void *ctx, const struct env_pair *pair), void *ctx, struct diags *d);

/* The variables of a .env that are a policy's; anything else in such a file is not ours. */
#define ENV_NETWORK_MODE "SANDBOX_NETWORK_MODE"
#define ENV_WHITE_LIST	 "WHITE_LIST_DOMAINS"
#define ENV_EXPIRY	 "SESSION_EXPIRY_HOURS"
#define ENV_BRANCHES	 "PRIMARY_BRANCH_PATTERNS"

#endif
