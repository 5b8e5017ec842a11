/* The operator's calls about grants: what holds beyond one question. */
#include <errno.h>
#include <string.h>

#include "helper/approvals/grants_held.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"

#include "methods.h"

/* {}: all known grants, each with the reason if it does not hold here. */
static json_t *grants_list(struct call *call)
{
	return grants_json(call->h);
}

/* {"id", "by"?}: revokes one. */
static json_t *grants_take_back(struct call *call)
{
	const char *id = call_param(call, "id", NULL), *by = call_param(call, "by", "operator");
	char why[256];
	int r;

	if (!id || strlen(by) > 128)
		return call_fail(call, RPC_PARAMS, "id is missing, or by has more than 128 bytes");
	r = grants_revoke(call->h, id, by, call->c->pid, why, sizeof(why));
	if (r < 0)
		return call_fail(call, r == -ENOENT ? RPC_NO_CARD : RPC_FAILED, "%s", why);
	return json_pack("{s:s}", "id", id);
}

const struct method control_grants[] = {
	{ "grants/list", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, grants_list },
	{ "grants/revoke", SESSION_LIVE, CONTROL_ANSWER, grants_take_back },
	{ 0 },
};
