/*
 * The results of what a human approved: the third record, `approval/outcome`.
 *
 * An act counts when the supervisor's ring reports it under the approval's id.  What a process claims
 * counts only at level hooks, where nothing else sees the act, and is recorded as a claim.  There is one
 * record for each approval, once all processes that got a yes have acted or are gone: no record says of a
 * living process that it did not act.
 */
#include "outcome.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "helper/base/state.h"
#include "helper/ledger/programs.h"

#include "approval.h"
#include "new_card.h"
#include "queue.h"

#define NS_LOOK NS_S

void outcome_expect(struct approval *ap, pid_t pid)
{
	struct outcome *o = &ap->outcome;
	pid_t *asker = LIST_NEW(o->asker, o->n_askers);

	/* Without memory for one more, the record comes too early and may miss an act. */
	if (!asker)
		return;
	*asker = pid;
	o->n_askers++;
}

void outcome_forgo(struct approval *ap)
{
	ap->outcome.n_askers -= ap->outcome.n_askers > 0;
}

/* --- the record --- */

static const char *result_text(const struct outcome *o)
{
	if (o->failed > 0)
		return "failed";
	if (o->is_claim)
		return "begun, as the process says";
	return o->is_kernel ? "handed to the kernel" : "performed";
}

/* What is known, in words; `why` is the text where no result was reported. */
static void outcome_text(const struct outcome *o, const char *why, char *buf, size_t size)
{
	const char *symbol = o->failed > 0 ? strerrorname_np(o->error) : NULL;
	int n;

	if (o->begun == 0 && o->done == 0) {
		snprintf(buf, size, " outcome: %s", why);
		return;
	}
	if (o->done == 0) {
		snprintf(buf, size, " outcome: begun, and what came of it was not told: %s", why);
		return;
	}
	n = snprintf(buf, size, " outcome: %s%s%s", result_text(o), symbol ? ": " : "", symbol ? symbol : "");
	if (o->n_askers > 1 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, " (acts: %zu, failed: %zu, askers: %zu)", o->done,
			 o->failed, o->n_askers);
}

void outcome_end(struct helper *h, struct approval *ap, const char *why)
{
	char text[256];

	outcome_text(&ap->outcome, why, text, sizeof(text));
	(void)card_record(h, ap, "approval/outcome", "", text, CARD_BUFFERED);
	(void)approval_move(ap, APPROVAL_DONE);
	queue_forget(h->queue, ap);
}

void outcome_end_all(struct helper *h)
{
	for (size_t i = h->queue->n; i > 0; i--) {
		struct approval *ap = h->queue->list[i - 1];

		if (ap->state == APPROVAL_APPROVED || ap->state == APPROVAL_LATE)
			outcome_end(h, ap, "never used: the session is over");
	}
}

/* --- reports from the rings --- */

static struct approval *approved(struct helper *h, const char *id)
{
	struct approval *ap = queue_by_id(h->queue, id);

	return ap && ap->state == APPROVAL_APPROVED ? ap : NULL;
}

static void look_whether_done(struct helper *h, struct approval *ap)
{
	if (ap->outcome.done >= ap->outcome.n_askers)
		outcome_end(h, ap, "");
}

void outcome_begun(struct helper *h, const char *id, enum feed_id feed)
{
	struct approval *ap = approved(h, id);

	if (!ap || (feed == FEED_HOOK && h->level != LEVEL_HOOKS))
		return;
	ap->outcome.begun++;
	if (feed == FEED_KERNEL)
		return;
	ap->outcome.is_claim = true;
	ap->outcome.done++;
	look_whether_done(h, ap);
}

void outcome_done(struct helper *h, const char *id, uint32_t result)
{
	struct approval *ap = approved(h, id);

	if (!ap)
		return;
	ap->outcome.done++;
	ap->outcome.is_kernel |= result == RING_HANDED_ON;
	if (result != 0 && result != RING_HANDED_ON) {
		ap->outcome.error = ap->outcome.failed == 0 ? (int)result : ap->outcome.error;
		ap->outcome.failed++;
	}
	look_whether_done(h, ap);
}

static bool all_gone(const struct outcome *o)
{
	for (size_t i = 0; i < o->n_askers; i++)
		if (kill(o->asker[i], 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

void outcome_tick(struct helper *h, uint64_t now_ns)
{
	if (now_ns < h->outcome_ns + NS_LOOK)
		return;
	h->outcome_ns = now_ns;
	for (size_t i = h->queue->n; i > 0; i--) {
		struct approval *ap = h->queue->list[i - 1];

		if (ap->state == APPROVAL_APPROVED && all_gone(&ap->outcome))
			outcome_end(h, ap, "never used: the process that asked is gone");
	}
}
