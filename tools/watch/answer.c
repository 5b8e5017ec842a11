/*
 * The way of one answer.  The card is fetched whole on the connection that will carry the answer; the last
 * piece brings the nonce; the answer repeats the nonce and the digest of what this human saw.  If the helper
 * holds another digest by now it refuses, and nothing is answered.
 */
#include "tools/watch/watch.h"

#include <errno.h>
#include <string.h>

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

const char *item_target(const struct item *it)
{
	if (it->whole.target)
		return it->whole.target;
	return card_is_whole(it->card) ? card_str(it->card, "target") : NULL;
}

static int fetch_from(struct watch *w, struct item *it, json_int_t offset)
{
	int r = feed_call(w, it->link, CALL_SHOW, it->id,
			  json_pack("{ss, sI}", "id", it->id, "offset", offset));

	it->fetching = r == 0;
	return r;
}

static int fetch(struct watch *w, struct item *it)
{
	free(TAKE_PTR(it->pieces));
	it->pieces_len = 0;
	return it->fetching ? 0 : fetch_from(w, it, 0);
}

void item_touch(struct watch *w, struct item *it)
{
	uint64_t now = watch_now();

	if (it->closed_ns || it->reply || it->fetching || (it->touched_ns && now - it->touched_ns < TOUCH_NS))
		return;
	it->touched_ns = now;
	(void)fetch(w, it);
}

static int set_text(json_t *params, const char *key, const char *value)
{
	return value && *value ? json_object_set_new(params, key, json_text(value)) : 0;
}

static void send_reply(struct watch *w, struct item *it, const char *nonce)
{
	const struct reply *r = it->reply;
	json_t *params = json_pack("{ss, ss, ss, so, sb}", "id", it->id, "decision", r->decision, "scope",
				   r->scope, "by", json_text(operator_name()), "group", (int)r->group);
	int bad = params ? 0 : -1;

	bad |= set_text(params, "nonce", nonce);
	bad |= set_text(params, "digest", card_str(it->card, "digest"));
	bad |= set_text(params, "reason", r->reason);
	bad |= set_text(params, "rule", r->rule);
	bad |= set_text(params, "until", r->until);
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
	int r;

	if (it->reply || it->closed_ns) {
		reply_free(reply);
		return -EBUSY;
	}
	it->reply = reply;
	/* Pieces that are on their way bring a nonce as well. */
	r = it->fetching ? 0 : fetch(w, it);
	if (r < 0)
		reply_free(TAKE_PTR(it->reply));
	return r;
}

static int keep_piece(struct item *it, const char *text)
{
	size_t n = strlen(text);
	char *grown = realloc(it->pieces, it->pieces_len + n + 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + it->pieces_len, text, n + 1);
	it->pieces = grown;
	it->pieces_len += n;
	return 0;
}

/* The whole of it is here: whoever reads it reads it anew where it is not what was shown. */
static void take_whole(struct watch *w, struct item *it, const char *nonce)
{
	const char *shown = item_target(it);
	bool same = shown && strcmp(shown, it->pieces) == 0;

	free(it->whole.target);
	it->whole.target = TAKE_PTR(it->pieces);
	it->pieces_len = 0;
	if (!same) {
		/* What was not on the screen cannot have been meant. */
		if (it->reply)
			item_responded(w, it, NULL, "this is not what was shown: read it again");
		if (w->sink->changed)
			w->sink->changed(w, it);
	}
	if (it->reply)
		send_reply(w, it, nonce);
}

void item_shown(struct watch *w, struct item *it, const json_t *result, const char *error)
{
	json_int_t next = json_integer_value(json_object_get(result, "next"));
	json_int_t size = json_integer_value(json_object_get(result, "size"));

	it->fetching = false;
	if (it->closed_ns)
		return;
	if (!error && keep_piece(it, card_str(result, "text")) < 0)
		error = "out of memory";
	if (error) {
		item_responded(w, it, NULL, error);
		return;
	}
	if (next >= size)
		take_whole(w, it, card_str(result, "nonce"));
	else if (fetch_from(w, it, next) < 0)
		item_responded(w, it, NULL, "the whole of it cannot be had");
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
