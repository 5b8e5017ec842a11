/*
 * A session under --observe uses an image that allows what the policy would deny (policy_parse()); the policy
 * as it is, is compiled and judged by as well.
 */
#ifndef PALE_HELPER_OBSERVED_H
#define PALE_HELPER_OBSERVED_H

#include <stdbool.h>

#include "policy/judge/eval.h"
#include "policy/wire/ring.h"

struct bundle;
struct diags;
struct helper;

/* At the start and after a reload, where b->observe is set.  0, -EBADMSG, -ENOMEM. */
int observed_init(struct helper *h, struct bundle *b, struct diags *d);
/* Judges r by the policy as it is: true with *ret and its image where the policy does not allow it. */
bool observed_judge(const struct helper *h, const struct ring_record *r, const char *target, const char *addr,
		    struct decision *ret, const struct image **ret_img);
void observed_done(struct helper *h);

#endif
