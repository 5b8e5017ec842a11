/*
 * The operator's calls about questions: what waits, the whole of it, and the answer.
 *
 * Who answers must have fetched all of the target on this connection, from its first byte on: the nonce that
 * an answer needs comes with the last piece, is good once, on this connection and for this digest.
 */
#include "control.h"
#include "stepup.h"

#include <errno.h>
#include <string.h>

#define TARGET_SHOWN 4096
#define FIELD_SHOWN  512
#define PIECE	     8192
#define CARD_BYTES   (56 * 1024)
#define FIELDS_BYTES (40 * 1024) /* of a card without its target */
#define LIST_BYTES   (48 * 1024)

/* --- a card as JSON --- */

/* At most max bytes of s; what is missing is said. */
static json_t *field_json(const char *s, size_t max)
{
	size_t len = s ? strlen(s) : 0;
	_cleanup_free_ char *shown = NULL, *text = NULL;

	if (len <= max)
		return text_json(s);
	shown = record_escape(s, max);
	if (!shown || asprintf(&text, "%s (and %zu more bytes)", shown, len - max) < 0) {
		text = NULL;
		return NULL;
	}
	return json_string(text);
}

static json_t *argv_json(const struct approval *ap)
{
	json_t *list = ap->req.op == OP_EXEC && strlen(ap->target) <= TARGET_SHOWN ? json_array() : NULL;

	for (size_t i = 0; list && i < ap->req.argc; i++)
		json_array_append_new(list, text_json(ap->req.argv[i]));
	return list ? list : json_null();
}

static json_t *tree_json(const struct approval *ap, size_t max)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ap->n_tree; i++)
		json_array_append_new(list, json_pack("{s:I, s:o, s:b}", "pid", (json_int_t)ap->tree[i].pid,
						      "exe", field_json(ap->tree[i].exe, max), "claimed",
						      ap->tree[i].claimed));
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

/* Whole; its target alone in pieces; cut, and good for a denial alone. */
enum card_shape { CARD_WHOLE, CARD_PIECES, CARD_CUT };

#define CUT_WHY "this question is too long to be shown whole: it can be denied only"

static json_t *no_offers_json(void)
{
	return json_pack("{s:s, s:[], s:s}", "section", "", "lines", "why_none", CUT_WHY);
}

/* What a command runs, and on which branch it acts. */
static const char *file_of(const struct approval *ap)
{
	return ap->req.op == OP_EXEC ? ap->req.path : NULL;
}

static const char *branch_of(const struct approval *ap)
{
	return ap->req.op == OP_EXEC ? ap->req.git_branch : NULL;
}

static json_t *shape_card(const struct helper *h, const struct approval *ap, uint64_t now_ns,
			  enum card_shape shape)
{
	size_t len = strlen(ap->target), target = shape == CARD_WHOLE ? TARGET_SHOWN : FIELD_SHOWN;
	size_t max = shape != CARD_CUT ? SIZE_MAX : FIELD_SHOWN, shown = len < target ? len : target;
	size_t parents = shape == CARD_WHOLE ? SIZE_MAX : FIELD_SHOWN;
	json_int_t left = now_ns < ap->until_ns ? (json_int_t)((ap->until_ns - now_ns) / NS_S) : 0;
	char asked[32], id[APPROVAL_ID_HEX];
	enum stepup_by by = stepup_by(h, ap->image, ap->risk.level);
	json_t *card, *more;

	time_format(ap->asked_real_ns, asked);
	snprintf(id, sizeof(id), "%.*s", queue_short(&h->queue, ap), ap->id);
	card = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:I, s:o}", "id", ap->id,
			 "short", id, "digest", ap->digest, "state", approval_state_name(ap->state), "agent",
			 h->agent, "session", h->session, "turn", (json_int_t)ap->turn, "op",
			 op_name(ap->req.op), "access", access_name(ap->req.access), "target",
			 json_escaped(ap->target, shown), "target_cut", (json_int_t)(len - shown), "argv",
			 shape == CARD_WHOLE ? argv_json(ap) : json_null());
	more = json_pack(
		"{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:b, s:s, s:b, s:b, s:o, s:s, s:I, s:I, s:I}",
		"file", field_json(file_of(ap), max), "branch", field_json(branch_of(ap), max), "cwd",
		field_json(ap->req.cwd, max), "exe", field_json(ap->exe, max), "pid", (json_int_t)ap->pid,
		"tree", tree_json(ap, parents), "rule", field_json(ap->rule, max), "risk",
		risk_json(&ap->risk), "stepup", by != STEPUP_BY_NOTHING, "stepup_by", stepup_by_name(by),
		"flood", ap->is_flood, "cut", shape == CARD_CUT, "offers",
		shape == CARD_CUT ? no_offers_json() : offers_json(&ap->offers), "asked", asked,
		"deadline_ns", (json_int_t)ap->until_ns, "left_s", left, "count", (json_int_t)ap->count);
	if (!card || !more || json_object_update(card, more) < 0) {
		json_decref(card);
		card = NULL;
	}
	json_decref(more);
	return card;
}

static size_t json_bytes(const json_t *j)
{
	return j ? json_dumpb(j, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) : 0;
}

/*
 * All but the target, escaped, is more than a packet surely has room for.  Of what does not change while the
 * card waits, so that it is told the same each time.
 */
bool card_is_cut(const struct approval *ap)
{
	_cleanup_json_ json_t *fields =
		json_pack("[o, o, o, o, o, o, o]", field_json(file_of(ap), SIZE_MAX),
			  field_json(branch_of(ap), SIZE_MAX), field_json(ap->req.cwd, SIZE_MAX),
			  field_json(ap->exe, SIZE_MAX), field_json(ap->rule, SIZE_MAX),
			  tree_json(ap, FIELD_SHOWN), offers_json(&ap->offers));

	return !fields || json_bytes(fields) > FIELDS_BYTES;
}

json_t *card_json(const struct helper *h, const struct approval *ap, uint64_t now_ns)
{
	json_t *card;

	if (card_is_cut(ap))
		return shape_card(h, ap, now_ns, CARD_CUT);
	card = shape_card(h, ap, now_ns, CARD_WHOLE);
	/* Escaped, a path may be five times as long: none may be too long to be listed at all. */
	if (json_bytes(card) <= CARD_BYTES)
		return card;
	json_decref(card);
	return shape_card(h, ap, now_ns, CARD_PIECES);
}

/* --- looking --- */

/* {"from": n}: as many cards as fit; "next" says where to go on. */
static json_t *approval_list(struct call *call)
{
	const struct queue *q = &call->h->queue;
	json_int_t from = call_number(call, "from", 0);
	json_t *cards = json_array(), *out;
	uint64_t now = clock_boot_ns();
	size_t i = from > 0 ? (size_t)from : 0, bytes = 0;

	for (; i < q->n; i++) {
		json_t *card;

		if (!approval_is_listed(q->list[i]))
			continue;
		card = card_json(call->h, q->list[i], now);
		bytes += json_bytes(card);
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
	const char *id = call_param(call, "id", NULL), *by = "", *state;
	int r;

	if (!id) {
		call_fail(call, RPC_PARAMS, "id is missing");
		return NULL;
	}
	r = queue_find(&call->h->queue, id, &ap);
	if (r == 0)
		return ap;
	state = r == -ENOENT ? control_closed(call->h, id, &by) : NULL;
	if (r == -EEXIST)
		call_fail(call, RPC_NO_CARD, "more than one question begins with this id: give more digits");
	else if (state)
		call_fail(call, RPC_CLOSED, "this question is %s already%s%s", state, *by ? " by " : "", by);
	else
		call_fail(call, RPC_NO_CARD, "no question waits with this id (four digits at least)");
	return NULL;
}

/* Where to cut a piece: not inside of a character, which would look like something else. */
static size_t piece_end(const char *s, size_t len, size_t at)
{
	size_t end = at + PIECE;

	if (end >= len)
		return len;
	for (int back = 0; back < 3 && ((unsigned char)s[end] & 0xc0) == 0x80; back++)
		end--;
	return end;
}

/* The nonce, where this was the last of all pieces in order; NULL where it was not, or none can be had. */
static const char *nonce_for(struct peer *p, const struct approval *ap, size_t at, size_t end, size_t len)
{
	struct shown *s = peer_shown(p, ap->id);

	if (at == 0 || strcmp(s->digest, ap->digest) != 0) {
		s->next = 0;
		memcpy(s->digest, ap->digest, sizeof(s->digest));
		s->nonce[0] = '\0';
	}
	if (s->next != at && !(at == len && s->next == len))
		return NULL;
	s->next = end;
	if (end < len)
		return NULL;
	if (!s->nonce[0] && random_hex(s->nonce, (NONCE_HEX - 1) / 2) < 0)
		s->nonce[0] = '\0';
	return s->nonce[0] ? s->nonce : NULL;
}

/* {"id", "offset"}: a piece of the whole target. */
static json_t *approval_show(struct call *call)
{
	struct approval *ap = card_param(call);
	json_int_t offset = call_number(call, "offset", 0);
	const char *nonce;
	size_t len, at, end;

	if (!ap)
		return NULL;
	broker_touch(ap);
	len = strlen(ap->target);
	at = offset > 0 && (size_t)offset < len ? (size_t)offset : (offset > 0 ? len : 0);
	end = piece_end(ap->target, len, at);
	nonce = nonce_for(call->c->peer, ap, at, end, len);
	return json_pack("{s:s, s:I, s:I, s:o, s:s, s:s*}", "id", ap->id, "size", (json_int_t)len, "next",
			 (json_int_t)end, "text", json_escaped(ap->target + at, end - at), "digest",
			 ap->digest, "nonce", nonce);
}

/* --- answering --- */

/* "YYYY-MM-DD" by its form; whether there is such a day, and when, is for who keeps the grant. */
static bool is_date(const char *s)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	return true;
}

/* 0 with what the parameters say, or -EINVAL after saying why. */
static int reply_params(struct call *call, struct broker_reply *ret)
{
	const char *decision = call_param(call, "decision", ""), *scope = call_param(call, "scope", "once");

	*ret = (struct broker_reply){ .said = strcmp(decision, "approved") == 0 ? APPROVAL_APPROVED
										: APPROVAL_DENIED,
				      .scope = grant_scope_by_name(scope),
				      .rule = call_param(call, "rule", NULL),
				      .until = call_param(call, "until", NULL),
				      .reason = call_param(call, "reason", ""),
				      .by = call_param(call, "by", "operator"),
				      .group = call_flag(call, "group"),
				      .pid = call->c->pid };
	if (ret->said == APPROVAL_DENIED && strcmp(decision, "denied") != 0)
		call_fail(call, RPC_PARAMS, "decision is approved or denied");
	else if (ret->scope == GRANT_SCOPES || (ret->said == APPROVAL_DENIED && ret->scope != GRANT_ONCE))
		call_fail(call, RPC_PARAMS, "scope is once, session, project or always; a denial's is once");
	else if (ret->until && (ret->scope != GRANT_PROJECT || !is_date(ret->until)))
		call_fail(call, RPC_PARAMS, "until is a date, YYYY-MM-DD, of scope project");
	else if (ret->rule && ((ret->scope == GRANT_ONCE && !ret->group) || strlen(ret->rule) >= LIMIT_LINE))
		call_fail(call, RPC_PARAMS, "rule is a policy line of a scope beyond once, or of a group");
	else if (strlen(ret->reason) > 1024 || strlen(ret->by) > 128)
		call_fail(call, RPC_PARAMS, "reason has at most 1024 bytes, by 128");
	return call->code ? -EINVAL : 0;
}

/* 0, once, where this answer is to what this connection was shown; or -EPERM after saying why. */
static int use_nonce(struct call *call, const struct approval *ap)
{
	struct shown *s = peer_nonce(call->c->peer, call_param(call, "nonce", ""));
	const char *digest = call_param(call, "digest", "");
	bool same;

	if (!s || strcmp(s->id, ap->id) != 0) {
		call_fail(
			call, RPC_NONCE,
			"fetch the whole question by approval/show on this connection first: no such nonce");
		return -EPERM;
	}
	same = strcmp(digest, ap->digest) == 0 && strcmp(s->digest, ap->digest) == 0;
	memset(s->nonce, 0, sizeof(s->nonce));
	s->next = 0;
	if (!same) {
		call_fail(call, RPC_DIGEST, "the question is not (or no longer) the one that was shown");
		return -EPERM;
	}
	return 0;
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

json_t *control_answer(struct helper *h, struct approval *ap, const struct broker_reply *reply,
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
	if (use_nonce(call, ap) < 0)
		return NULL;
	if (reply.said == APPROVAL_APPROVED && card_is_cut(ap))
		return call_fail(call, RPC_FAILED, CUT_WHY);
	out = control_confirm(call, ap, &reply);
	if (out || call->code)
		return out;
	out = control_answer(call->h, ap, &reply, &code, err, sizeof(err));
	return out ? out : call_fail(call, code, "%s", err);
}

const struct method control_approvals[] = {
	{ "approval/list", SESSION_LIVE, CONTROL_READ, approval_list },
	{ "approval/show", SESSION_LIVE, CONTROL_READ, approval_show },
	{ "approval/respond", SESSION_LIVE, CONTROL_ANSWER, approval_respond },
	{ 0 },
};
