/*
 * A card as JSON, as the operator's protocol has it, and the digest of what a client was shown.
 *
 * A card has one form and always fits into one packet: a question whose card does not fit is never asked.
 */
#include "card_json.h"

#include <stdio.h>
#include <string.h>

#include "policy/question/carddigest.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/call.h"

#include "approval.h"
#include "queue.h"
#include "shown.h"
#include "stepup_check.h"

#define CARD_BYTES (60 * 1024)

static json_t *argv_json(const struct approval *ap)
{
	json_t *list = ap->req.op == OP_EXEC ? json_array() : NULL;

	for (size_t i = 0; list && i < ap->req.argc; i++)
		json_array_append_new(list, text_json(ap->req.argv[i]));
	return list ? list : json_null();
}

static json_t *env_json(const struct helper *h, const struct approval *ap)
{
	json_t *list = json_array();

	for (size_t i = 0; ap->req.env && ap->req.env[i]; i++) {
		_cleanup_free_ char *text = shown_variable(h, ap->req.env[i]);

		json_array_append_new(list, text ? text_json(text) : json_null());
	}
	return list;
}

static json_t *aim_json(const struct helper *h, const struct approval *ap)
{
	_cleanup_free_ char *text = shown_aim(h, &ap->req);

	return text ? text_json(text) : json_null();
}

static json_t *processes_json(const struct card_process *p, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:I, s:o, s:b}", "pid", (json_int_t)p[i].pid, "exe",
						      text_json(p[i].exe), "claimed", p[i].claimed));
	return list;
}

static json_t *risk_json(const struct risk *risk)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < risk->n; i++)
		json_array_append_new(reasons, json_string(risk->reason[i]));
	return json_pack("{s:s, s:o}", "level", risk_name(risk->level), "reasons", reasons);
}

static json_t *offers_json(const struct grant_offers *offers)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < offers->n; i++)
		json_array_append_new(lines, text_json(offers->line[i]));
	return json_pack("{s:s?, s:o, s:s?}", "section", offers->section, "lines", lines, "why_none",
			 offers->why_none);
}

/* What a command runs, and on which branch it acts; otherwise "". */
static json_t *exec_json(const struct approval *ap, const char *s)
{
	return text_json(ap->req.op == OP_EXEC ? s : NULL);
}

json_t *card_json(const struct helper *h, const struct approval *ap, uint64_t now_ns)
{
	json_int_t left = now_ns < ap->until_ns ? (json_int_t)((ap->until_ns - now_ns) / NS_S) : 0;
	char asked[32], id[APPROVAL_ID_HEX];
	enum stepup_by by = stepup_by(h, ap->image, ap->risk.level);
	_cleanup_free_ char *needs = shown_needs(h, ap);
	json_t *card, *more;
	size_t urls;

	time_format(ap->asked_real_ns, asked);
	snprintf(id, sizeof(id), "%.*s", queue_short(h->queue, ap), ap->id);
	card = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:o}", "id", ap->id,
			 "short", id, "state", approval_state_name(ap->state), "agent", h->agent, "session",
			 h->session, "turn", (json_int_t)ap->turn, "op", op_name(ap->req.op), "access",
			 access_name(ap->req.access), "target", text_json(ap->target), "argv", argv_json(ap),
			 "file", exec_json(ap, ap->req.loads ? ap->req.loads : ap->req.path), "branch",
			 exec_json(ap, ap->req.git_branch));
	more = json_pack(
		"{s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:b, s:s, s:b, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o*}",
		"to", aim_json(h, ap), "cwd", text_json(ap->req.cwd), "exe", text_json(ap->exe), "pid",
		(json_int_t)ap->pid, "tree", processes_json(ap->tree, ap->n_tree), "rule",
		text_json(ap->rule), "risk", risk_json(&ap->risk), "stepup", by != STEPUP_BY_NOTHING,
		"stepup_by", stepup_by_name(by), "flood", ap->is_flood, "offers", offers_json(&ap->offers),
		"asked", asked, "deadline_ns", (json_int_t)ap->until_ns, "left_s", left, "askers",
		processes_json(ap->asker, ap->n_askers), "env", env_json(h, ap), "sends",
		text_json(shown_sends(&ap->req, &urls)), "needs", needs ? text_json(needs) : NULL);
	if (!card || !more || json_object_update(card, more) < 0) {
		json_decref(card);
		card = NULL;
	}
	json_decref(more);
	return card;
}

size_t card_bytes(const json_t *card)
{
	return card ? json_dumpb(card, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) : SIZE_MAX;
}

bool card_fits(const struct helper *h, const struct approval *ap)
{
	_cleanup_json_ json_t *card = card_json(h, ap, 0);

	return card_bytes(card) <= CARD_BYTES;
}

static bool has_digest(const json_t *digests, const char *digest)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)digests, i,
			   one) if (json_is_string(one) &&
				    strcmp(json_string_value(one), digest) == 0) return true;
	return json_is_string(digests) && strcmp(json_string_value(digests), digest) == 0;
}

size_t card_seen(const struct helper *h, const struct approval *ap, const json_t *digests)
{
	_cleanup_json_ json_t *card = card_json(h, ap, 0);
	json_t *askers = json_object_get(card, "askers");
	size_t n = digests ? json_array_size(askers) : 0;
	char digest[DIGEST_HEX];

	/* Processes that asked later stand last: an older card is this one without them. */
	for (; n > 0; json_array_remove(askers, --n))
		if (card_digest(card, digest) == 0 && has_digest(digests, digest))
			return n;
	return 0;
}
