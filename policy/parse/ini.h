/*
 * Strict INI lines.  inih does the tokenising; this reader stands in front of it, because inih
 * splits long lines, files keys under the wrong section after a bad header, joins indented lines
 * to the key above and cuts values at ` ;`, all without a word.
 */
#ifndef PALE_INI_H
#define PALE_INI_H

#include "parse.h"

/* Bytes of one line; inih (Debian 12) cuts at 199 in silence. */
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
 * Calls the handler for every good line of text, and adds an error to d for every bad one; what
 * stands below a bad header is skipped.  0, -EBADMSG where it added an error (the caller then
 * throws away what the handler built), -ENOMEM, or what the handler returned.
 */
int ini_read(const char *file, const char *text, size_t len, const struct ini_handler *h, struct diags *d);

#endif
