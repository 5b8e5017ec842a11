/*
 * What is known of the sessions: their open questions and the latest decisions.
 */
#include "tools/watch/watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "policy/carddigest.h"

uint64_t watch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * WATCH_S + (uint64_t)ts.tv_nsec;
}

/* --- cards --------------------------------------------------------------------------------------------- */

struct item *item_find(const struct watch *w, const char *session, const char *id)
{
	for (size_t i = 0; i < w->n_items; i++)
		if (strcmp(w->items[i]->id, id) == 0 && strcmp(w->items[i]->session, session) == 0)
			return w->items[i];
	return NULL;
}

size_t items_open(const struct watch *w, const struct link *l)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_items; i++)
		n += !w->items[i]->closed_ns && (!l || w->items[i]->link == l);
	return n;
}

static void item_free(struct item *it)
{
	json_decref(it->card);
	reply_free(it->reply);
	free(it);
}

static struct item *item_new(struct watch *w, struct link *l, const char *id)
{
	struct item **grown = realloc(w->items, (w->n_items + 1) * sizeof(struct item *));
	struct item *it = grown ? calloc(1, sizeof(*it)) : NULL;

	if (grown)
		w->items = grown;
	if (!it)
		return NULL;
	it->link = l;
	it->appeared_ns = watch_now();
	snprintf(it->session, sizeof(it->session), "%s", l->ref.id);
	snprintf(it->id, sizeof(it->id), "%s", id);
	grown[w->n_items++] = it;
	return it;
}

/* Only what is not part of the digest (the clock) may change: else it is another question to a human. */
static bool asks_the_same(const json_t *a, const json_t *b)
{
	char x[DIGEST_HEX], y[DIGEST_HEX];

	return card_digest(a, x) == 0 && card_digest(b, y) == 0 && strcmp(x, y) == 0;
}

bool model_wants(const struct watch *w, const json_t *card)
{
	const char *id = card_str(card, "id");

	return !w->only_card || strcmp(id, w->only_card) == 0 ||
	       strncmp(id, w->only_card, strlen(w->only_card)) == 0;
}

static void update(struct watch *w, struct item *it, json_t *card)
{
	bool same = asks_the_same(it->card, card);

	json_decref(it->card);
	it->card = json_incref(card);
	if (same)
		return;
	if (w->sink->changed)
		w->sink->changed(w, it);
}

void model_card(struct watch *w, struct link *l, json_t *card)
{
	const char *id = card_str(card, "id");
	struct item *it = item_find(w, l->ref.id, id);

	if (!*id || strlen(id) >= ITEM_ID || !model_wants(w, card))
		return;
	if (!card_is_open(card)) {
		if (it)
			model_close(w, it, card_str(card, "state"));
		return;
	}
	if (it && it->closed_ns)
		return;
	if (it) {
		it->listed = true;
		update(w, it, card);
		return;
	}
	it = item_new(w, l, id);
	if (!it)
		return;
	it->listed = true;
	it->card = json_incref(card);
	if (w->sink->opened)
		w->sink->opened(w, it);
}

void model_close(struct watch *w, struct item *it, const char *outcome)
{
	_cleanup_free_ char *shown = recorded_visible(outcome);

	if (it->closed_ns)
		return;
	it->closed_ns = watch_now();
	snprintf(it->outcome, sizeof(it->outcome), "%s", shown ? shown : "answered");
	reply_free(TAKE_PTR(it->reply));
	if (w->sink->closed)
		w->sink->closed(w, it);
}

void model_listed(struct watch *w, struct link *l, uint64_t began_ns)
{
	for (size_t i = 0; i < w->n_items; i++) {
		struct item *it = w->items[i];

		if (it->link == l && !it->closed_ns && !it->listed && it->appeared_ns < began_ns)
			model_close(w, it, "answered");
		it->listed = false;
	}
}

/* "approved once by ana": first answer wins, and says whose it was. */
void model_resolved(struct watch *w, struct link *l, const json_t *params)
{
	struct item *it = item_find(w, l->ref.id, card_str(params, "id"));
	const char *state = card_str(params, "state"), *by = card_str(params, "by");
	const char *scope = card_str(params, "scope");
	bool approved = strcmp(state, "approved") == 0;
	char outcome[160];

	if (!it)
		return;
	/* It can be answered late: the list says so. */
	if (strcmp(state, "expired") == 0) {
		feed_list_again(l);
		return;
	}
	/* Ours is on its way: its result says more, or that somebody was first. */
	snprintf(outcome, sizeof(outcome), "%s%s%s%s%s", *state ? state : "answered",
		 approved && *scope ? (strcmp(scope, "once") == 0 ? " " : " for: ") : "",
		 approved ? scope : "", *by ? " by " : "", by);
	if (it->reply)
		snprintf(it->outcome, sizeof(it->outcome), "%s", outcome);
	else
		model_close(w, it, outcome);
}

static void forget(struct watch *w, size_t i)
{
	struct item *it = w->items[i];

	memmove(&w->items[i], &w->items[i + 1], (w->n_items - i - 1) * sizeof(struct item *));
	w->n_items--;
	if (w->sink->forgotten)
		w->sink->forgotten(w, it);
	item_free(it);
}

void model_tick(struct watch *w)
{
	uint64_t now = watch_now();

	for (size_t i = w->n_items; i-- > 0;)
		if (w->items[i]->closed_ns && now - w->items[i]->closed_ns > CLOSED_NS)
			forget(w, i);
}

void model_link_gone(struct watch *w, struct link *l)
{
	for (size_t i = 0; i < w->n_items; i++) {
		if (w->items[i]->link != l)
			continue;
		model_close(w, w->items[i], "the session has ended");
		w->items[i]->link = NULL;
	}
}

void model_done(struct watch *w)
{
	for (size_t i = 0; i < w->n_items; i++)
		item_free(w->items[i]);
	free(w->items);
	for (size_t i = 0; i < RECORDS_KEPT; i++)
		free(w->entries[i].text);
}

/* --- decisions -------------------------------------------------------------------------------------------
 */

/* "15:04:05" of an RFC 3339 time. */
static const char *clock_of(const char *time)
{
	const char *t = strchr(time, 'T');

	return t && strlen(t) > 8 ? t + 1 : time;
}

/* "15:04:05  deny  exec  git push origin main  (policy.ini:9 ...)"; the caller must free it. */
static char *record_line(const json_t *record)
{
	const char *rule = card_str(record, "rule"), *detail = card_str(record, "detail");
	_cleanup_free_ char *text = NULL;
	char *seen;

	if (asprintf(&text, "%.8s  %-5s  %-9s  %s%s%s%s%s", clock_of(card_str(record, "time")),
		     card_str(record, "verdict"), card_str(record, "op"), card_str(record, "target"),
		     *rule ? "  (" : "", rule,
		     *rule     ? ")"
		     : *detail ? "  "
			       : "",
		     *rule ? "" : detail) < 0) {
		text = NULL;
		return NULL;
	}
	seen = recorded_visible(text);
	return seen;
}

/* Allowed by a rule, and nobody was asked. */
static bool record_is_routine(const json_t *record)
{
	return strcmp(card_str(record, "verdict"), "allow") == 0 && !*card_str(record, "approval");
}

void model_record(struct watch *w, const struct link *l, const json_t *record)
{
	struct entry *e = &w->entries[w->n_entries % RECORDS_KEPT];
	char *text = record_line(record);

	if (w->sink->decision)
		w->sink->decision(w, l, record);
	if (!text)
		return;
	free(e->text);
	*e = (struct entry){ .text = text,
			     .paint = paint_of_verdict(card_str(record, "verdict")),
			     .is_routine = record_is_routine(record) };
	w->n_entries++;
}
