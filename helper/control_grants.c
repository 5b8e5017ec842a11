/* The operator's calls about grants: what holds beyond one question. */
#include "control.h"

#include <errno.h>
#include <string.h>

/* {}: all that are known, with why one does not hold here. */
static json_t *grants_list(struct call *call)
{
	return grants_json(call->h);
}

/* {"id", "by"?}: takes one back. */
static json_t *grants_take_back(struct call *call)
{
	const char *id = call_param(call, "id", NULL), *by = call_param(call, "by", "operator");
	char whole[GRANT_ID_HEX], why[256];
	int r;

	if (!id || strlen(by) > 128)
		return call_fail(call, RPC_PARAMS, "id is missing, or by has more than 128 bytes");
	r = grants_revoke(call->h, id, by, call->c->pid, whole, why, sizeof(why));
	if (r == -ENOENT || r == -EEXIST)
		return call_fail(call, RPC_NO_CARD, "%s", why);
	return r < 0 ? call_fail(call, RPC_FAILED, "%s", why) : json_pack("{s:s}", "id", whole);
}

/* {"id", "rule"}: might this line be granted, and what of this session would it have answered? */
static json_t *approval_test(struct call *call)
{
	const char *id = call_param(call, "id", ""), *rule = call_param(call, "rule", NULL);
	struct approval *ap = NULL;
	json_t *examples, *out;
	char why[256] = "";
	int r;

	if (!rule || strlen(rule) >= LIMIT_LINE)
		return call_fail(call, RPC_PARAMS, "rule is missing, or no line of a policy");
	r = queue_find(&call->h->queue, id, &ap);
	if (r < 0)
		return call_fail(call, RPC_NO_CARD,
				 r == -EEXIST ? "more than one question begins with this id"
					      : "no question waits with this id");
	r = grants_check(call->h, ap, rule, why, sizeof(why));
	examples = grants_examples(call->h, ap, rule);
	out = json_pack("{s:b}", "ok", r == 0);
	if (out && r < 0)
		(void)json_object_set_new(out, "why", text_json(why));
	if (out && examples)
		(void)json_object_update(out, examples);
	json_decref(examples);
	return out;
}

const struct method control_grants[] = {
	{ "grants/list", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, grants_list },
	{ "grants/revoke", SESSION_LIVE, CONTROL_ANSWER, grants_take_back },
	{ "approval/test", SESSION_LIVE, CONTROL_READ, approval_test },
	{ 0 },
};
