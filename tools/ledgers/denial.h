/* Denials and questions in the ledgers, by the id that people were shown. */
#ifndef PALE_DENIAL_H
#define PALE_DENIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/record/record.h"

/* A denial or a question in the ledgers; folded and repeated ones are counted. */
struct past_denial {
	struct record_owned rec; /* the first one */
	char *dir;		 /* the session's state directory */
	uint64_t times;
};
struct past_denials {
	struct past_denial *list; /* newest first */
	size_t n;
	size_t more; /* how many older ones are not in the list */
};
/* The id that people were shown of the denial or question in r; 0 where r is neither or has no id. */
uint32_t denial_id(const struct record *r);
/* Finds those with this id, in all sessions or in those whose id begins with session.  0, -ENOENT (no such
 * session), or -errno. */
int denials_find(uint32_t id, const char *session, struct past_denials *ret);
/* True for a denial that was not printed, because the policy is not what stood in the way. */
bool denial_is_quiet(const struct record *r);
void denials_done(struct past_denials *d);

#endif
