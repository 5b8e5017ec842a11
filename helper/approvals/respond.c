/*
 * A human's answer.  One answer may settle several cards, and each gets a decision record of its own; all
 * records are on the disk, by one sync, before any process gets the answer (the order: broker.c).
 *
 * A yes is for the processes that asked when the card was shown; a process that came later asks again.  A
 * group is never larger than the operator can mean: an approval includes, of the cards that were shown,
 * those that its rule covers and that need no second proof; a denial includes the cards that the same rule
 * of the policy asks.
 */
#include "respond.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/tally.h"

#include "approval.h"
#include "broker.h"
#include "card_json.h"
#include "grants_held.h"
#include "new_card.h"
#include "queue.h"
#include "reach_human.h"
#include "stepup_check.h"

#define TEXT_MAX 2048

static int fail_reply(struct broker_result *ret, int err, const char *text)
{
	snprintf(ret->err, sizeof(ret->err), "%s", text);
	return err;
}

/* --- the cards of a group --- */

struct group {
	struct approval *list[LIMIT_PENDING + 1]; /* the card itself first */
	size_t seen[LIMIT_PENDING + 1];		  /* how many processes of each card were shown */
	size_t n;
};

/* The policy line that an approval means: the granted one, otherwise the narrowest one that is offered. */
static const char *rule_of(const struct approval *ap, const struct broker_reply *reply)
{
	if (reply->rule)
		return reply->rule;
	return ap->offers.n > 0 ? ap->offers.line[0] : NULL;
}

static bool is_covered(struct helper *h, const struct approval *ap, const struct approval *other,
		       const struct broker_reply *reply)
{
	const char *line = rule_of(ap, reply);
	char why[256];

	/* The same line means something else in another section. */
	if (!ap->offers.section || !other->offers.section ||
	    strcmp(ap->offers.section, other->offers.section) != 0)
		return false;
	/* What needs a proof or cannot be taken back is answered card by card. */
	if (!line || other->risk.level == RISK_CRITICAL ||
	    stepup_by(h, other->image, other->risk.level) != STEPUP_BY_NOTHING)
		return false;
	return grants_check(h, other, line, why, sizeof(why)) == 0;
}

static bool is_alike(struct helper *h, const struct approval *ap, const struct approval *other,
		     const struct broker_reply *reply)
{
	if (other == ap || other->state != APPROVAL_PENDING || other->image != ap->image)
		return false;
	if (reply->said == APPROVAL_DENIED)
		return strcmp(other->rule, ap->rule) == 0;
	return is_covered(h, ap, other, reply);
}

/* A group's own rule must be no wider than a grant may be, although no grant is made. */
static int check_group(struct helper *h, const struct approval *ap, const struct broker_reply *reply,
		       struct broker_result *ret)
{
	if (!reply->group || !reply->rule || reply->said != APPROVAL_APPROVED || reply->scope != GRANT_ONCE)
		return 0;
	return grants_check(h, ap, reply->rule, ret->err, sizeof(ret->err));
}

static void gather_group(struct helper *h, struct approval *ap, const struct broker_reply *reply,
			 struct group *g)
{
	g->list[0] = ap;
	g->seen[0] = reply->seen;
	g->n = 1;
	for (size_t i = 0; reply->group && i < h->queue->n && g->n < NELEM(g->list); i++) {
		struct approval *other = h->queue->list[i];
		size_t seen = reply->said == APPROVAL_DENIED ? BROKER_ALL : card_seen(h, other, reply->with);

		if (seen == 0 || !is_alike(h, ap, other, reply))
			continue;
		g->list[g->n] = other;
		g->seen[g->n++] = seen;
	}
}

/* --- the record --- */

static int decision_record(struct helper *h, const struct approval *ap, const struct approval *first,
			   size_t seen, const struct broker_reply *reply)
{
	_cleanup_free_ char *more = NULL;
	char acts[32] = "";
	bool grouped = ap != first, confirmed = reply->confirmed && *reply->confirmed && !grouped;

	if (reply->said == APPROVAL_APPROVED && seen > 1 && ap->state == APPROVAL_PENDING)
		snprintf(acts, sizeof(acts), " acts=%zu", seen);
	if (asprintf(&more, " scope=%s%s%s%s%s by=%s pid=%d%s%s%s%s", grant_scope_name(reply->scope),
		     ap->state == APPROVAL_EXPIRED ? " late" : "", grouped ? " with=" : "",
		     grouped ? first->id : "", acts, reply->by, reply->pid, confirmed ? " confirmed=" : "",
		     confirmed ? reply->confirmed : "", reply->reason[0] ? " reason=" : "",
		     reply->reason) < 0)
		return -ENOMEM;
	return card_record(h, ap, "approval/decision", reply->said == APPROVAL_APPROVED ? "allow" : "deny",
			   more, CARD_BUFFERED);
}

/* All of them, by one sync. */
static int record_all(struct helper *h, const struct group *g, const struct broker_reply *reply)
{
	int r = 0;

	for (size_t i = 0; i < g->n && r == 0; i++)
		r = decision_record(h, g->list[i], g->list[0], g->seen[i], reply);
	return r < 0 ? r : ledger_sync_kept(h->ledger);
}

/* --- the effect --- */

static void approve(struct helper *h, struct approval *ap, size_t seen, const struct broker_reply *reply,
		    const struct wire_answer *a, struct broker_result *ret)
{
	h->tally->approved++;
	if (ap->state == APPROVAL_EXPIRED) {
		(void)approval_move(ap, APPROVAL_LATE);
		ap->until_ns = clock_boot_ns() + NS_LISTED;
		reach_closed(h, ap, reply->by, reply->scope);
		return;
	}
	(void)approval_move(ap, APPROVAL_APPROVED);
	/* The waiting processes get the answer first. */
	ret->waiters += broker_tell(h, ap, seen, a);
	reach_closed(h, ap, reply->by, reply->scope);
	broker_ask_rest(h, ap);
}

static void deny_approval(struct helper *h, struct approval *ap, const struct broker_reply *reply,
			  const struct wire_answer *a, struct broker_result *ret)
{
	h->tally->refused++;
	queue_deny(h->queue, ap);
	(void)approval_move(ap, APPROVAL_DENIED);
	ret->waiters += broker_tell(h, ap, BROKER_ALL, a);
	reach_closed(h, ap, reply->by, reply->scope);
	queue_forget(h->queue, ap);
}

static void settle_approval(struct helper *h, struct approval *ap, size_t seen,
			    const struct broker_reply *reply, struct broker_result *ret)
{
	bool approved = reply->said == APPROVAL_APPROVED;
	struct wire_answer a = { .verdict = approved ? VERDICT_ALLOW : VERDICT_DENY,
				 .reason = approved && reply->scope != GRANT_ONCE ? REASON_GRANT
										  : REASON_HUMAN };
	char said[TEXT_MAX], id[APPROVAL_ID_HEX];
	struct out o = out_of(said, sizeof(said) - 1);

	/* Escaped, because it is shown on the terminal of the process that was refused. */
	text_escaped(&o, reply->reason, strlen(reply->reason));
	said[o.len] = '\0';
	memcpy(id, ap->id, sizeof(id));
	a.text = said;
	a.approval = id;
	if (approved)
		approve(h, ap, seen, reply, &a, ret);
	else
		deny_approval(h, ap, reply, &a, ret);
}

/* Makes the grant that the answer orders.  0, or -errno with a sentence; nothing is granted then. */
static int make_grant(struct helper *h, const struct approval *ap, const struct broker_reply *reply,
		      struct broker_result *ret)
{
	const struct grant_order order = { .scope = reply->scope,
					   .line = reply->rule,
					   .until = reply->until,
					   .by = reply->by,
					   .pid = reply->pid };

	if (reply->said != APPROVAL_APPROVED || reply->scope == GRANT_ONCE)
		return 0;
	return grants_add(h, ap, &order, ret->grant, ret->err, sizeof(ret->err));
}

/* The decision could not be recorded: revokes the grant that was made with it. */
static void ungrant(struct helper *h, const struct broker_reply *reply, struct broker_result *ret)
{
	char why[256];

	if (ret->grant[0])
		(void)grants_revoke(h, ret->grant, reply->by, reply->pid, why, sizeof(why));
	ret->grant[0] = '\0';
}

int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret)
{
	struct group g;
	int r;

	*ret = (struct broker_result){ .late = ap->state == APPROVAL_EXPIRED };
	if (!approval_may_answer(ap))
		return fail_reply(ret, -ESTALE, "it is answered already");
	r = check_group(h, ap, reply, ret);
	if (r < 0)
		return r;
	gather_group(h, ap, reply, &g);
	r = make_grant(h, ap, reply, ret);
	if (r < 0)
		return r;
	if (record_all(h, &g, reply) < 0 && reply->said == APPROVAL_APPROVED) {
		ungrant(h, reply, ret);
		return fail_reply(ret, -EIO,
				  "the decision could not be written to the ledger, so nothing was approved");
	}
	for (size_t i = 1; i < g.n; i++)
		memcpy(ret->also[ret->n_also++], g.list[i]->id, APPROVAL_ID_HEX);
	for (size_t i = 0; i < g.n; i++)
		settle_approval(h, g.list[i], g.seen[i], reply, ret);
	return 0;
}
