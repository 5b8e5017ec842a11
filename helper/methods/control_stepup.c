/* The operator's calls about step-up, and the confirmation that an approval needs. */
#include <errno.h>
#include <string.h>

#include "helper/approvals/approval.h"
#include "helper/approvals/respond.h"
#include "helper/approvals/stepup_check.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"

#include "methods.h"

/* Overwrites the secret in the parameters, which may stay in memory. */
static void wipe_param(struct call *call, const char *name)
{
	const char *s = call_param(call, name, "");

	explicit_bzero((char *)s, strlen(s));
}

static enum rpc_code code_of(int result)
{
	switch (result) {
	case -EACCES:
	case -ENOKEY:
	case -EBADMSG:
		return RPC_STEPUP;
	case -EAGAIN:
		return RPC_LIMIT;
	case -EINVAL:
		return RPC_PARAMS;
	default:
		return RPC_FAILED;
	}
}

/* 0, or -errno after call_fail(). */
static int look_at_proof(struct call *call, enum stepup_what what, const char *approval)
{
	const struct stepup_task task = { .what = what,
					  .secret = call_param(call, "secret", ""),
					  .fresh = call_param(call, "new", ""),
					  .phrase = call_param(call, "phrase", ""),
					  .approval = approval,
					  .pid = call->c->pid };
	const char *err;
	int r = stepup_run(call->h, &task, &err);

	wipe_param(call, "secret");
	wipe_param(call, "new");
	if (r < 0)
		call_fail(call, code_of(r), "%s", err);
	return r;
}

int control_confirm(struct call *call, const struct approval *ap, struct broker_reply *reply)
{
	enum stepup_by by = stepup_by(call->h, ap->image, ap->risk.level);

	reply->confirmed = "";
	if (by == STEPUP_BY_NOTHING || reply->said != APPROVAL_APPROVED)
		return 0;
	/* One passphrase confirms one call. */
	if (reply->scope != GRANT_ONCE)
		call_fail(call, RPC_STEPUP, "what has to be confirmed is approved once, each time anew");
	else if (by == STEPUP_BY_PASSPHRASE && call_param(call, "secret", NULL))
		(void)look_at_proof(call, STEPUP_CHECK, ap->id);
	else if (by == STEPUP_BY_PASSPHRASE)
		call_fail(call, RPC_STEPUP, "this cannot be taken back: it needs the passphrase%s",
			  stepup_is_set(call->h) ? "" : ", and none is set: pale passphrase set");
	else if (strcmp(call_param(call, "confirmed", ""), stepup_by_name(by)) != 0)
		call_fail(call, RPC_STEPUP, "this cannot be taken back: PAM has to confirm it");
	if (call->code)
		return -EACCES;
	reply->confirmed = stepup_by_name(by);
	return 0;
}

/* --- the passphrase itself --- */

static json_t *status(struct call *call)
{
	return stepup_status(call->h);
}

static json_t *set_passphrase(struct call *call)
{
	return look_at_proof(call, STEPUP_SET, NULL) < 0 ? NULL : json_object();
}

static json_t *take_away(struct call *call)
{
	return look_at_proof(call, STEPUP_REMOVE, NULL) < 0 ? NULL : json_object();
}

static json_t *check_passphrase(struct call *call)
{
	return look_at_proof(call, STEPUP_CHECK, NULL) < 0 ? NULL : json_object();
}

const struct method control_stepup[] = {
	{ "stepup/status", SESSION_LIVE, CONTROL_READ, status },
	{ "stepup/check", SESSION_LIVE, CONTROL_ANSWER, check_passphrase },
	{ "stepup/set", SESSION_LIVE, CONTROL_MANAGE, set_passphrase },
	{ "stepup/remove", SESSION_LIVE, CONTROL_MANAGE, take_away },
	{ 0 },
};
