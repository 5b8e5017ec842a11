/*
 * The methods of the operator's protocol, a file for each subject.
 *
 * The operator's calls about the session itself: its description, its turns and its end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "helper/approvals/approval.h"
#include "helper/approvals/queue.h"
#include "helper/approvals/stepup_check.h"
#include "helper/base/packet.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"
#include "helper/control/control.h"
#include "helper/control/control_peer.h"
#include "helper/ledger/event.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/tally.h"
#include "helper/rings/rings.h"

#include "methods.h"

/* {"version", "client", "scopes": [..]}: the protocol version, and the scopes that are kept. */
static int scopes_of(const json_t *list, unsigned *ret)
{
	static const struct {
		const char *name;
		enum control_scope scope;
	} names[] = { { "read", CONTROL_READ }, { "answer", CONTROL_ANSWER }, { "manage", CONTROL_MANAGE } };
	unsigned scopes = 0;
	json_t *j;
	size_t i;

	json_array_foreach((json_t *)list, i, j)
	{
		const char *s = json_string_value(j);
		size_t n = 0;

		while (n < NELEM(names) && (!s || strcmp(s, names[n].name) != 0))
			n++;
		if (n == NELEM(names))
			return -EINVAL;
		scopes |= names[n].scope;
	}
	*ret = scopes | CONTROL_READ;
	return 0;
}

static json_t *hello(struct call *call)
{
	const json_t *scopes = json_object_get(call->params, "scopes");
	struct helper *h = call->h;
	struct peer *p = call->c->peer;
	unsigned kept = p->scopes;

	if (call_number(call, "version", CONTROL_VERSION) != CONTROL_VERSION)
		return call_fail(call, RPC_VERSION, "pale " PALE_VERSION " speaks version %d",
				 CONTROL_VERSION);
	if (strlen(call_param(call, "client", "")) > 64)
		return call_fail(call, RPC_PARAMS, "client has at most 64 bytes");
	if (scopes && (!json_is_array(scopes) || scopes_of(scopes, &kept) < 0))
		return call_fail(call, RPC_PARAMS, "scopes are read, answer and manage");
	/* A renounced scope cannot be taken back. */
	p->scopes &= kept;
	return json_pack("{s:i, s:s, s:i, s:i, s:s, s:b, s:o}", "version", CONTROL_VERSION, "session",
			 h->session, "helper", (int)getpid(), "uid", (int)geteuid(), "level",
			 level_name(h->level), "sealed", h->ledger->sealed, "stepup", stepup_ways(h));
}

static json_t *session_info(struct call *call)
{
	struct helper *h = call->h;

	return json_pack("{s:s, s:s, s:O, s:i, s:i, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, "
			 "s:I, s:I, s:b, s:o, s:o, s:s}",
			 "session", h->session, "agent", h->agent, "argv", h->argv, "pid", (int)h->root_pid,
			 "helper_pid", (int)getpid(), "started", h->started, "workspace",
			 text_json(h->workspace), "runtime_dir", text_json(h->runtime_dir), "state_dir",
			 text_json(h->state_dir), "level", level_name(h->level), "preset",
			 text_json(h->preset), "not_enforced", text_json(h->not_enforced), "facts",
			 text_json(h->facts), "turn", (json_int_t)h->queue->turn, "pending",
			 (json_int_t)queue_count(h->queue, APPROVAL_PENDING), "records",
			 (json_int_t)h->ledger->seq, "denied", (json_int_t)tally_denied(h->tally), "lost",
			 (json_int_t)h->ledger->lost_total, "ledger_ok", h->ledger->error == 0, "counts",
			 tally_json(h->tally), "limits", text_json(h->limits), "tampered",
			 h->rings->tampered ? RING_TAMPERED : "");
}

static json_t *session_list(struct call *call)
{
	json_t *info = session_info(call);

	return info ? json_pack("{s:[o]}", "sessions", info) : NULL;
}

/* {"now"}: `pale run` ends all processes of the session, as if its time were over. */
static json_t *session_stop(struct call *call)
{
	struct helper *h = call->h;
	bool now = call_flag(call, "now");
	char detail[64];
	const struct event e = {
		.pid = call->c->pid, .op = "session/stop", .via = "helper", .detail = detail
	};

	snprintf(detail, sizeof(detail), now ? "the operator ends it at once" : "the operator ends it");
	if (ledger_append(h->ledger, &e) < 0)
		return call_fail(call, RPC_FAILED, "the ledger cannot be written");
	if (packet_send_json(h->session_fd, json_pack("{s:s, s:b}", "type", "stop", "now", now)) < 0)
		return call_fail(call, RPC_FAILED, "pale run does not answer");
	return json_pack("{s:s, s:b, s:i}", "session", h->session, "now", now, "launcher_pid",
			 (int)h->launcher_pid);
}

static json_t *turn_begin(struct call *call)
{
	struct helper *h = call->h;
	char detail[96];
	const struct event e = { .pid = call->c->pid, .op = "turn/begin", .via = "helper", .detail = detail };
	json_int_t turn;

	queue_turn(h->queue);
	h->ledger->turn = h->queue->turn;
	turn = (json_int_t)h->queue->turn;
	snprintf(detail, sizeof(detail), "turn %lld: what was denied before may be asked again",
		 (long long)turn);
	(void)ledger_append(h->ledger, &e);
	control_notify(h, "turn/began", json_pack("{s:I}", "turn", turn));
	return json_pack("{s:I}", "turn", turn);
}

const struct method control_session[] = {
	{ "hello", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, hello },
	{ "session/info", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, session_info },
	{ "session/list", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, session_list },
	{ "session/stop", SESSION_LIVE, CONTROL_MANAGE, session_stop },
	{ "turn/begin", SESSION_LIVE, CONTROL_MANAGE, turn_begin },
	{ 0 },
};
