/* Where a human can be asked, and notices to them. */
#ifndef PALE_HELPER_REACH_HUMAN_H
#define PALE_HELPER_REACH_HUMAN_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/grant/grant.h"

struct approval;
struct helper;

/* Reads the list of words in the start message; unknown words are ignored. */
unsigned reach_of(const json_t *list);
/* True where a human can be asked; *ret_why is a sentence that says how one could be. */
bool reach_anybody(const struct helper *h, const char **ret_why);
/* Tells the launcher and the listening clients that ap waits, or that it does not wait any more. */
void reach_asked(struct helper *h, const struct approval *ap);
void reach_closed(struct helper *h, const struct approval *ap, const char *by, enum grant_scope scope);

#endif
