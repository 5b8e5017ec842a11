/*
 * The way of one answer.  It carries the digest of the card as this human saw it; if the helper holds another
 * by now it refuses, and nothing is answered.
 */
#include "tools/watch/watch.h"

#include <errno.h>
#include <string.h>

#include "policy/carddigest.h"

#include "tools/stepup.h"

#define TOUCH_NS (20 * WATCH_S)

void reply_free(struct reply *r)
{
	if (!r)
		return;
	free(r->rule);
	free(r->reason);
	if (r->proof)
		stepup_wipe(r->proof);
	json_decref(r->proof);
	free(r);
}

void item_touch(struct watch *w, struct item *it)
{
	uint64_t now = watch_now();

	if (it->closed_ns || it->reply || (it->touched_ns && now - it->touched_ns < TOUCH_NS))
		return;
	it->touched_ns = now;
	(void)feed_call(w, it->link, CALL_SHOW, it->id, json_pack("{ss}", "id", it->id));
}

static int set_text(json_t *params, const char *key, const char *value)
{
	return value && *value ? json_object_set_new(params, key, json_text(value)) : 0;
}

/* Digests of what is listed beside it: what a group's answer may take along. */
static json_t *others(const struct watch *w, const struct item *it)
{
	json_t *list = json_array();
	char digest[DIGEST_HEX];

	for (size_t i = 0; i < w->n_items; i++) {
		const struct item *other = w->items[i];

		if (other != it && other->link == it->link && !other->closed_ns &&
		    card_digest(other->card, digest) == 0)
			json_array_append_new(list, json_string(digest));
	}
	return list;
}

static void send_reply(struct watch *w, struct item *it)
{
	const struct reply *r = it->reply;
	json_t *params = json_pack("{ss, ss, ss, so, sb}", "id", it->id, "decision", r->decision, "scope",
				   r->scope, "by", json_text(operator_name()), "group", (int)r->group);
	char digest[DIGEST_HEX];
	int bad = params ? card_digest(it->card, digest) : -1;

	bad |= set_text(params, "digest", digest);
	bad |= set_text(params, "reason", r->reason);
	bad |= set_text(params, "rule", r->rule);
	bad |= set_text(params, "until", r->until);
	if (r->group)
		bad |= json_object_set_new(params, "with", others(w, it));
	if (r->proof)
		bad |= json_object_update(params, r->proof);
	if (bad)
		json_decref(params);
	if (!bad && feed_call(w, it->link, CALL_RESPOND, it->id, params) == 0)
		return;
	item_responded(w, it, NULL, "the answer could not be sent");
}

int item_answer(struct watch *w, struct item *it, struct reply *reply)
{
	if (it->reply || it->closed_ns) {
		reply_free(reply);
		return -EBUSY;
	}
	it->reply = reply;
	send_reply(w, it);
	return 0;
}

/* What was looked at is told whole: the clock has moved, or more wait for it. */
void item_shown(struct watch *w, struct item *it, json_t *result)
{
	if (result && it->link)
		model_card(w, it->link, result);
}

/* "approved for: session, grant 7f3a by you, and 2 more" */
static void tell_done(struct watch *w, struct item *it, const json_t *result)
{
	size_t also = json_array_size(json_object_get(result, "also"));
	const char *scope = it->reply->scope, *grant = card_str(result, "grant");
	bool approved = strcmp(it->reply->decision, "approved") == 0;
	char text[160], more[48] = "";

	if (also)
		snprintf(more, sizeof(more), ", and %zu more", also);
	if (!approved)
		snprintf(text, sizeof(text), "denied by you%s", more);
	else if (strcmp(scope, "once") == 0)
		snprintf(text, sizeof(text), "approved once by you%s%s", more,
			 json_is_true(json_object_get(result, "late")) ? ": the next try goes through" : "");
	else
		snprintf(text, sizeof(text), "approved for: %s%s%.40s by you%s", scope,
			 *grant ? ", grant " : "", grant, more);
	model_close(w, it, text);
	feed_list_again(it->link);
}

void item_responded(struct watch *w, struct item *it, const json_t *result, const char *error)
{
	if (!error && it->reply) {
		tell_done(w, it, result);
		return;
	}
	reply_free(TAKE_PTR(it->reply));
	if (error && w->sink->said)
		w->sink->said(w, it, error);
	/* Somebody was first: who is known. */
	if (it->outcome[0])
		model_close(w, it, it->outcome);
	if (it->link)
		feed_list_again(it->link);
}
