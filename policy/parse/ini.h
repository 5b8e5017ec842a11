/*
 * Strict INI lines.  inih splits the lines into tokens, and this reader checks them first, because inih
 * does some things without an error: it splits long lines, files keys under the wrong section after a bad
 * header, joins indented lines to the key above and cuts values at ` ;`.
 */
#ifndef PALE_INI_H
#define PALE_INI_H

#include "parse.h"

/* Bytes of one line; inih (Debian 12) cuts at 199 without an error. */
#define INI_LINE_MAX 190
/* Bytes between the brackets of a header, and of a key; inih cuts at 50. */
#define INI_NAME_MAX 49

struct ini_pair {
	const char *key, *value; /* borrowed for the call */
	unsigned line, key_col, value_col;
};

/* Both return 0 or -errno, which ends the reading. */
struct ini_handler {
	int (*section)(void *ctx, const char *header, unsigned line);
	int (*pair)(void *ctx, const struct ini_pair *pair);
	void *ctx;
};

/*
 * Calls the handler for every good line of text, and adds an error to d for every bad one; the lines
 * below a bad header are skipped.  0, -EBADMSG if it added an error (the caller must then discard
 * what the handler built), -ENOMEM, or the error of the handler.
 */
int ini_read(const char *file, const char *text, size_t len, const struct ini_handler *h, struct diags *d);

#endif
