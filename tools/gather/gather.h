/* The policy of a session: gathered from its files, trusted or not, and made into an image. */
#ifndef PALE_GATHER_H
#define PALE_GATHER_H

struct bundle;
struct diags;
struct options;

/* Gathers everything a compilation depends on, from the file system and the options.  0, -EBADMSG with
 * findings, -ENOMEM.  The caller must call bundle_done() in each case. */
int bundle_gather(const struct options *o, const char *session, struct bundle *b, struct diags *d);

#endif
