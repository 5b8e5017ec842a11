/*
 * The operator's calls about step-up, and what an approval needs before it is one.
 *
 * A passphrase confirms one answer to one card as it was shown.  While it is being checked
 * the card may be answered by others, expire or be judged anew; then what was confirmed is gone.
 */
#include "control.h"
#include "stepup.h"

#include <errno.h>
#include <string.h>

#include "policy/passphrase.h"

/* An answer that waits for its passphrase. */
struct confirming {
	struct later later;
	json_t *params; /* what reply's texts stand in; the secret is wiped */
	struct broker_reply reply;
	char id[APPROVAL_ID_HEX];
};

static void confirming_free(struct confirming *w)
{
	json_decref(w->params);
	free(w);
}

static enum rpc_code code_of(int result)
{
	return result == -EACCES || result == -ENOKEY || result == -EBADMSG ? RPC_STEPUP : RPC_FAILED;
}

/* --- answers --- */

static void confirmed(struct helper *h, void *arg, int result)
{
	struct confirming *w = arg;
	struct approval *ap = NULL;
	enum rpc_code code = RPC_FAILED;
	char err[512];
	json_t *out;

	if (result < 0) {
		later_fail(h, &w->later, code_of(result), stepup_sentence(result));
	} else if (!later_is_there(h, &w->later)) {
		/* Who typed it is gone, and with him whoever he was. */
		later_fail(h, &w->later, RPC_FAILED, "");
	} else if (queue_find(&h->queue, w->id, &ap) < 0) {
		later_fail(h, &w->later, RPC_CLOSED, "this question was closed meanwhile");
	} else {
		out = control_answer(h, ap, &w->reply, &code, err, sizeof(err));
		if (out)
			later_answer(h, &w->later, out);
		else
			later_fail(h, &w->later, code, err);
	}
	confirming_free(w);
}

static struct confirming *confirming_new(struct call *call, const struct approval *ap,
					 const struct broker_reply *reply)
{
	struct confirming *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->params = json_incref(call->params);
	w->reply = *reply;
	w->reply.confirmed = stepup_by_name(STEPUP_BY_PASSPHRASE);
	memcpy(w->id, ap->id, sizeof(w->id));
	return w;
}

/* Overwrites the copy that the parameters hold; they may live on. */
static void wipe_param(struct call *call, const char *name)
{
	const char *s = call_param(call, name, "");

	explicit_bzero((char *)s, strlen(s));
}

static json_t *confirm_by_passphrase(struct call *call, const struct approval *ap,
				     const struct broker_reply *reply)
{
	struct confirming *w = confirming_new(call, ap, reply);
	const struct stepup_task task = { .what = STEPUP_CHECK,
					  .secret = call_param(call, "secret", ""),
					  .approval = ap->id,
					  .pid = call->c->pid,
					  .done = confirmed,
					  .arg = w };
	const char *err;
	int r;

	if (!w)
		return call_fail(call, RPC_FAILED, "the helper is out of memory");
	r = stepup_begin(call->h, &task, &err);
	wipe_param(call, "secret");
	if (r < 0) {
		confirming_free(w);
		return call_fail(call, r == -EAGAIN || r == -EBUSY ? RPC_LIMIT : code_of(r), "%s", err);
	}
	return call_later(call, &w->later);
}

json_t *control_confirm(struct call *call, const struct approval *ap, struct broker_reply *reply)
{
	enum stepup_by by = stepup_by(call->h, ap->image, ap->risk.level);

	reply->confirmed = "";
	if (by == STEPUP_BY_NOTHING || reply->said != APPROVAL_APPROVED)
		return NULL;
	/* One passphrase, one act. */
	if (reply->scope != GRANT_ONCE)
		return call_fail(call, RPC_STEPUP,
				 "what has to be confirmed is approved once, each time anew");
	if (by == STEPUP_BY_PASSPHRASE && call_param(call, "secret", NULL))
		return confirm_by_passphrase(call, ap, reply);
	if (by == STEPUP_BY_PASSPHRASE)
		return call_fail(call, RPC_STEPUP, "this cannot be taken back: it needs the passphrase%s",
				 stepup_is_set(call->h) ? "" : ", and none is set: pale passphrase set");
	if (strcmp(call_param(call, "confirmed", ""), stepup_by_name(by)) != 0)
		return call_fail(call, RPC_STEPUP, "this cannot be taken back: PAM has to confirm it");
	reply->confirmed = stepup_by_name(by);
	return NULL;
}

/* --- the passphrase itself --- */

static json_t *status(struct call *call)
{
	return stepup_status(call->h);
}

static void kept(struct helper *h, void *arg, int result)
{
	struct later *l = arg;

	if (result < 0)
		later_fail(h, l, code_of(result), stepup_sentence(result));
	else
		later_answer(h, l, json_object());
	free(l);
}

static json_t *begin(struct call *call, enum stepup_what what)
{
	struct later *l = calloc(1, sizeof(*l));
	const struct stepup_task task = { .what = what,
					  .secret = call_param(call, "secret", ""),
					  .fresh = call_param(call, "new", ""),
					  .phrase = call_param(call, "phrase", ""),
					  .pid = call->c->pid,
					  .done = kept,
					  .arg = l };
	const char *err;
	int r;

	if (!l)
		return call_fail(call, RPC_FAILED, "the helper is out of memory");
	r = stepup_begin(call->h, &task, &err);
	wipe_param(call, "secret");
	wipe_param(call, "new");
	if (r < 0) {
		free(l);
		return call_fail(call,
				 r == -EINVAL		       ? RPC_PARAMS
				 : r == -EAGAIN || r == -EBUSY ? RPC_LIMIT
							       : code_of(r),
				 "%s", err);
	}
	return call_later(call, l);
}

static json_t *set(struct call *call)
{
	return begin(call, STEPUP_SET);
}

static json_t *take_away(struct call *call)
{
	return begin(call, STEPUP_REMOVE);
}

static json_t *check(struct call *call)
{
	return begin(call, STEPUP_CHECK);
}

const struct method control_stepup[] = {
	{ "stepup/status", SESSION_LIVE, CONTROL_READ, status },
	{ "stepup/check", SESSION_LIVE, CONTROL_ANSWER, check },
	{ "stepup/set", SESSION_LIVE, CONTROL_MANAGE, set },
	{ "stepup/remove", SESSION_LIVE, CONTROL_MANAGE, take_away },
	{ 0 },
};
