/* The results of what a human approved. */
#ifndef PALE_HELPER_OUTCOME_H
#define PALE_HELPER_OUTCOME_H

#include <stdint.h>
#include <sys/types.h>

#include "helper/ledger/programs.h"

struct approval;
struct helper;

/* Before process pid gets a yes: an act of it may follow. */
void outcome_expect(struct approval *ap, pid_t pid);
/* The last process of outcome_expect() did not get its answer. */
void outcome_forgo(struct approval *ap);
/* A ring has the record of an act that approval `id` allowed.  feed says whether it is a claim. */
void outcome_begun(struct helper *h, const char *id, enum feed_id feed);
/* The supervisor's record of its result: 0, RING_HANDED_ON, or an errno. */
void outcome_done(struct helper *h, const char *id, uint32_t result);
/* Records the outcome of approvals whose processes are all gone. */
void outcome_tick(struct helper *h, uint64_t now_ns);
/* Records the outcome of ap, with the reason why no act is expected any more, and frees ap. */
void outcome_end(struct helper *h, struct approval *ap, const char *why);
/* The same for all that are left, after the last record of the rings. */
void outcome_end_all(struct helper *h);

#endif
