/*
 * A reload, from the operator's request to its answer.  The images and files are handled in
 * reload_images.c; what the change means to recorded calls, in reload_record.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/approvals/broker.h"
#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"
#include "helper/control/control.h"
#include "helper/policy/incoming.h"
#include "helper/policy/machine_policy.h"
#include "helper/rings/drain_rings.h"
#include "helper/rings/observed.h"

#include "reload.h"
#include "reload_impl.h"

/*
 * For the launcher to read all policies; for the supervisor to read the new images.  Together less than an
 * operator's client waits for an answer.
 */
#define NS_GATHER (10 * NS_S)
#define NS_TAKE	  (10 * NS_S)
/* Most turns of the drain, so that writers that never pause do not hold up the loop. */
#define DRAIN_TURNS 64

static struct reload *state_of(struct helper *h)
{
	if (!h->past)
		h->past = calloc(1, sizeof(*h->past));
	if (!h->reload && h->past)
		h->reload = calloc(1, sizeof(*h->reload));
	return h->reload;
}

/* --- the answer --- */

static void reply(struct helper *h, json_t *result)
{
	struct reload *r = h->reload;

	r->stage = RELOAD_NONE;
	r->is_late = false;
	plan_done(h);
	later_answer(h, &r->asker, result ? result : json_object());
}

/* The old policy stays; diags, where there are any, say why. */
static void fail_reload(struct helper *h, const char *err, json_t *diags)
{
	record_refused(h, err);
	reply(h, json_pack("{s:s, s:b, s:s, s:o}", "session", h->session, "loaded", 0, "error", err, "diags",
			   diags ? diags : json_array()));
}

/* --- the steps --- */

static json_t *policy_reload(struct call *call)
{
	struct helper *h = call->h;
	struct reload *r = state_of(h);

	if (!r)
		return NULL;
	if (r->is_late)
		return call_fail(call, RPC_STATE, "pale run has not answered the last time yet");
	if (r->stage != RELOAD_NONE)
		return call_fail(call, RPC_STATE, "the policy is being loaded again already");
	if (h->past->generation >= RELOADS_MAX)
		return call_fail(
			call, RPC_LIMIT,
			"the policy of this session was loaded again %d times: start another session",
			RELOADS_MAX);
	if (h->root_pid == 0)
		return call_fail(call, RPC_STATE, "the command of this session does not run yet");
	if (packet_send_json(h->session_fd, json_pack("{s:s}", "type", "gather")) < 0)
		return call_fail(call, RPC_FAILED, "pale run does not answer");
	r->stage = RELOAD_GATHERING;
	r->deadline_ns = clock_boot_ns() + NS_GATHER;
	r->by = call->c->pid;
	return call_later(call, &r->asker);
}

const struct method control_reload[] = {
	{ "policy/reload", SESSION_LIVE, CONTROL_MANAGE, policy_reload },
	{ 0 },
};

/*
 * The last step: only a rename or a write can still fail, and that is reported (plan->misplaced,
 * plan->unmarked).
 */
static void take_over(struct helper *h)
{
	struct changes changes;
	json_t *result;

	/* The records in the rings were judged by the old images: changes_read() must see them, too. */
	for (int i = 0; i < DRAIN_TURNS && drain_turn(h) > 0; i++)
		;
	changes_read(h, &changes);
	plan_adopt(h);
	result = record_reload(h, &changes);
	changes_done(&changes);
	broker_rejudge(h);
	control_notify(h, "policy/changed",
		       json_pack("{s:s, s:I}", "session", h->session, "generation",
				 (json_int_t)h->past->generation));
	reply(h, result);
}

static bool same_place(const struct helper *h, const struct policy *p)
{
	return strcmp(p->workspace ? p->workspace : "", h->workspace) == 0;
}

/* Compiles what was gathered: NULL or a sentence.  d gets the helper's own findings. */
static const char *compile_passed(struct helper *h, const struct passed *passed, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	const char *err = "the bundle cannot be read";
	size_t len = 0;
	struct bundle b;
	struct policy p;

	if (passed->n != 1 || bundle_read(passed->fd[0], RELOAD_BUNDLE_MAX, &text, &len) < 0)
		return err;
	bundle_init(&b);
	policy_init(&p);
	if (bundle_decode(text, len, &b) == 0) {
		err = "the policy has errors";
		/* A launch flag: it stays as it was at the start. */
		b.observe = h->observed != NULL;
		/* The floor that the launcher sends is ignored, as at the start. */
		if (floor_replace(h, &b, d) == 0 && policy_parse(&b, &p, d) == 0)
			err = same_place(h, &p) ? plan_make(h, &b, &p, d)
						: "the session's workspace cannot change";
		if (!err && b.observe && observed_init(h, &b, d) < 0)
			err = "the policy cannot be compiled";
	}
	policy_done(&p);
	bundle_done(&b);
	return err;
}

int reload_gathered(struct helper *h, json_t *msg, const struct passed *passed)
{
	struct reload *r = h->reload;
	const char *err = json_string_value(json_object_get(msg, "error"));
	_cleanup_json_ json_t *told = json_incref(json_object_get(msg, "diags"));
	_cleanup_free_ char *own = NULL;
	struct diags d;

	if (!r || r->stage != RELOAD_GATHERING)
		return r ? 0 : -EPROTO; /* a late answer is no error of the launcher */
	diags_init(&d);
	if (!err)
		err = compile_passed(h, passed, &d);
	if (!json_is_array(told)) {
		json_decref(told);
		told = json_array();
	}
	/* The launcher has reported the warnings of a good policy itself. */
	if (err && d.n) {
		json_t *more = diags_json(&d);

		json_array_extend(told, more);
		json_decref(more);
	}
	diags_done(&d);
	if (err) {
		fail_reload(h, err, json_incref(told));
		return 0;
	}
	json_decref(r->diags);
	r->diags = json_incref(told);
	r->stage = RELOAD_HELD;
	r->deadline_ns = clock_boot_ns() + NS_TAKE;
	if (h->level == LEVEL_HOOKS)
		take_over(h);
	else if (packet_send_json(h->session_fd, json_pack("{s:s}", "type", "reload")) < 0)
		fail_reload(h, "pale run does not answer", NULL);
	return 0;
}

int reload_taken(struct helper *h, json_t *msg)
{
	struct reload *r = h->reload;

	if (!r || r->stage != RELOAD_HELD)
		return -EPROTO;
	r->still_bounded = json_is_true(json_object_get(msg, "performed"));
	if (json_is_true(json_object_get(msg, "ok")))
		take_over(h);
	else
		fail_reload(h, "the supervisor cannot judge by the new policy", NULL);
	return 0;
}

/*
 * The supervisor may judge by the new images already, or will do so.  So they are kept until it replies,
 * and no other reload begins; the helper tells the operator that the reply is late.
 */
static void say_late(struct helper *h)
{
	struct reload *r = h->reload;
	const char *err = "pale run does not answer";

	r->is_late = true;
	record_refused(h, "pale run does not answer: the new policy applies when it answers");
	later_answer(h, &r->asker,
		     json_pack("{s:s, s:b, s:b, s:s, s:o}", "session", h->session, "loaded", 0, "late", 1,
			       "error", err, "diags", r->diags ? json_incref(r->diags) : json_array()));
}

void reload_tick(struct helper *h, uint64_t now_ns)
{
	if (!h->reload || h->reload->stage == RELOAD_NONE || now_ns < h->reload->deadline_ns)
		return;
	if (h->reload->stage == RELOAD_GATHERING)
		fail_reload(h, "pale run does not answer", NULL);
	else if (!h->reload->is_late)
		say_late(h);
}

bool reload_is_under_way(const struct helper *h)
{
	return h->reload && h->reload->stage != RELOAD_NONE;
}

void reload_free(struct helper *h)
{
	past_images_free(h->past);
	if (!h->reload)
		return;
	plan_done(h);
	json_decref(h->reload->asker.id);
	json_decref(h->reload->diags);
	free(h->reload);
}
