/* The policy of a session: gathered from its files, trusted or not, and made into an image. */
#ifndef PALE_GATHER_H
#define PALE_GATHER_H

#include "policy/parse/parse.h"

struct options;

/* Gathers everything a compilation depends on, from the file system and the options.  0, -EBADMSG with
 * findings, -ENOMEM.  The caller must call bundle_done() in each case. */
int bundle_gather(const struct options *o, const char *session, struct bundle *b, struct diags *d);

/*
 * Adds to b the file `path` with that text, after the files that it takes in by `include` and `extends`.
 * What cannot be taken in is a finding, and missing.  0 or -ENOMEM.
 */
int bundle_add_file(struct bundle *b, enum source_layer layer, const char *path, const char *text, size_t len,
		    struct diags *d);

#endif
