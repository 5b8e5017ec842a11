/*
 * The operator's calls about questions: the list of those that wait, one card as a whole, and the answer.
 *
 * An answer carries the digest of the card (policy/question/carddigest.h), which the helper never sends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "helper/approvals/approval.h"
#include "helper/approvals/broker.h"
#include "helper/approvals/card_json.h"
#include "helper/approvals/queue.h"
#include "helper/approvals/respond.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"

#include "methods.h"

#define LIST_BYTES (48 * 1024)

/* --- list and show --- */

/* {"from": n}: as many cards as fit; "next" is the `from` of the next call. */
static json_t *approval_list(struct call *call)
{
	const struct queue *q = call->h->queue;
	json_int_t from = call_number(call, "from", 0);
	json_t *cards = json_array(), *out;
	uint64_t now = clock_boot_ns();
	size_t i = from > 0 ? (size_t)from : 0, bytes = 0;

	for (; i < q->n; i++) {
		json_t *card;

		if (!approval_is_listed(q->list[i]))
			continue;
		card = card_json(call->h, q->list[i], now);
		if (card)
			bytes += card_bytes(card);
		if (!card || (bytes > LIST_BYTES && json_array_size(cards) > 0)) {
			json_decref(card);
			break;
		}
		json_array_append_new(cards, card);
	}
	out = json_pack("{s:o}", "approvals", cards);
	if (out && i < q->n)
		json_object_set_new(out, "next", json_integer((json_int_t)i));
	return out;
}

static struct approval *card_param(struct call *call)
{
	struct approval *ap = NULL;
	const char *id = call_param(call, "id", NULL);
	const struct closed *closed;
	int r;

	if (!id) {
		call_fail(call, RPC_PARAMS, "id is missing");
		return NULL;
	}
	r = queue_find(call->h->queue, id, &ap);
	if (r == 0)
		return ap;
	closed = r == -ENOENT ? queue_closed(call->h->queue, id) : NULL;
	if (r == -EEXIST)
		call_fail(call, RPC_NO_CARD, "more than one question begins with this id: give more digits");
	else if (closed)
		call_fail(call, RPC_CLOSED, "this question is %s already%s%s",
			  approval_state_name(closed->state), *closed->by ? " by " : "", closed->by);
	else
		call_fail(call, RPC_NO_CARD, "no question waits with this id (four digits at least)");
	return NULL;
}

/* The whole card; this call postpones its expiry. */
static json_t *approval_show(struct call *call)
{
	struct approval *ap = card_param(call);

	if (!ap)
		return NULL;
	broker_touch(ap);
	return card_json(call->h, ap, clock_boot_ns());
}

/* --- answering --- */

/* Reads the parameters of an answer: 0, or -EINVAL after call_fail(). */
static int reply_params(struct call *call, struct broker_reply *ret)
{
	const char *decision = call_param(call, "decision", ""), *scope = call_param(call, "scope", "once");
	uint64_t end;

	*ret = (struct broker_reply){ .said = strcmp(decision, "approved") == 0 ? APPROVAL_APPROVED
										: APPROVAL_DENIED,
				      .scope = grant_scope_by_name(scope),
				      .rule = call_param(call, "rule", NULL),
				      .until = call_param(call, "until", NULL),
				      .reason = call_param(call, "reason", ""),
				      .by = call_param(call, "by", "operator"),
				      .group = call_flag(call, "group"),
				      .with = json_object_get(call->params, "with"),
				      .pid = call->c->pid };
	if (ret->said == APPROVAL_DENIED && strcmp(decision, "denied") != 0)
		call_fail(call, RPC_PARAMS, "decision is approved or denied");
	else if (ret->scope == GRANT_SCOPES || (ret->said == APPROVAL_DENIED && ret->scope != GRANT_ONCE))
		call_fail(call, RPC_PARAMS, "scope is once, session, project or always; a denial's is once");
	else if (ret->until && (ret->scope == GRANT_ONCE || until_end(ret->until, &end) < 0))
		call_fail(call, RPC_PARAMS,
			  "until is a date, 2026-12-01, or a time, 2026-12-01T14:00:00Z, of a scope beyond "
			  "once");
	else if (ret->rule && ((ret->scope == GRANT_ONCE && !ret->group) || strlen(ret->rule) >= LIMIT_LINE))
		call_fail(call, RPC_PARAMS, "rule is a policy line of a scope beyond once, or of a group");
	else if (strlen(ret->reason) > 1024 || strlen(ret->by) > 128)
		call_fail(call, RPC_PARAMS, "reason has at most 1024 bytes, by 128");
	return call->code ? -EINVAL : 0;
}

static json_t *reply_json(const char *id, const struct broker_reply *reply, const struct broker_result *res)
{
	json_t *also = json_array();

	for (size_t i = 0; i < res->n_also; i++)
		json_array_append_new(also, json_string(res->also[i]));
	return json_pack("{s:s, s:s, s:s, s:b, s:i, s:s*, s:o}", "id", id, "decision",
			 reply->said == APPROVAL_APPROVED ? "approved" : "denied", "scope",
			 grant_scope_name(reply->scope), "late", res->late, "waiters", (int)res->waiters,
			 "grant", res->grant[0] ? res->grant : NULL, "also", also);
}

/* Answers ap: the call's result, after which ap is gone, or NULL with code and sentence. */
static json_t *answer_approval(struct helper *h, struct approval *ap, const struct broker_reply *reply,
			       enum rpc_code *ret_code, char *err, size_t size)
{
	struct broker_result result;
	char id[APPROVAL_ID_HEX];
	int r;

	memcpy(id, ap->id, sizeof(id));
	r = broker_respond(h, ap, reply, &result);
	if (r == 0)
		return reply_json(id, reply, &result);
	*ret_code = r == -EINVAL ? RPC_RULE : RPC_FAILED;
	snprintf(err, size, "%s", result.err);
	return NULL;
}

static json_t *approval_respond(struct call *call)
{
	struct approval *ap = card_param(call);
	struct broker_reply reply;
	enum rpc_code code = RPC_FAILED;
	char err[512];
	json_t *out;

	if (!ap || reply_params(call, &reply) < 0)
		return NULL;
	reply.seen = card_seen(call->h, ap, json_object_get(call->params, "digest"));
	if (reply.seen == 0)
		return call_fail(call, RPC_DIGEST,
				 "the question is not (or no longer) the one that was shown: look again");
	if (control_confirm(call, ap, &reply) < 0)
		return NULL;
	out = answer_approval(call->h, ap, &reply, &code, err, sizeof(err));
	return out ? out : call_fail(call, code, "%s", err);
}

const struct method control_approvals[] = {
	{ "approval/list", SESSION_LIVE, CONTROL_READ, approval_list },
	{ "approval/show", SESSION_LIVE, CONTROL_READ, approval_show },
	{ "approval/respond", SESSION_LIVE, CONTROL_ANSWER, approval_respond },
	{ 0 },
};
