/*
 * The state of the sessions.  When a helper's notice says that its list of cards changed, the whole list is
 * read again, so no card is kept that the helper does not have.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "policy/base/util.h"
#include "policy/question/carddigest.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/commands/operator/pending.h"
#include "tools/sessions/control_client.h"

#include "watch.h"

#define LIST_NS	   (2 * NS_S) /* the times of waiting cards may have changed */
#define TOUCH_NS   (20 * NS_S)
#define ABSENT_NS  (3 * NS_S)
#define DEAD_NS	   (NS_S / 2)
#define EXPIRED_NS (10 * NS_S) /* how long a single expired card covers the agent's screen */
#define CROWD_NS   (3 * NS_S)  /* the same while other questions wait */

void watch_say(struct watch *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->status, sizeof(w->status), fmt, ap);
	va_end(ap);
	w->status_ns = clock_awake_ns();
	w->dirty = true;
}

/* --- which card is shown ------------------------------------------------------------------------------ */

static bool is_same_card(const json_t *a, const json_t *b)
{
	return a && b && strcmp(json_str(a, "id"), json_str(b, "id")) == 0 &&
	       strcmp(json_str(a, "session"), json_str(b, "session")) == 0;
}

/* Only what is not part of the digest (the clock) may change: else it is another question. */
static bool asks_the_same(const json_t *a, const json_t *b)
{
	char x[DIGEST_HEX], y[DIGEST_HEX];

	return card_digest(a, x) == 0 && card_digest(b, y) == 0 && strcmp(x, y) == 0;
}

int cards_at(const struct watch *w)
{
	json_t *j;
	size_t i;

	json_array_foreach(w->cards, i, j)
	{
		if (is_same_card(j, w->card))
			return (int)i;
	}
	return -1;
}

void card_show(struct watch *w)
{
	struct card_text text = { 0 };

	/* Out of memory: the card is not shown, so it cannot be answered. */
	if (w->card && card_text_init(&text, w->card) < 0)
		card_text_done(&text);
	pad_set(&w->pad, &text);
	w->view = VIEW_CARD;
	w->dirty = true;
}

void card_choose(struct watch *w, json_t *card, enum chosen_by by)
{
	json_decref(w->card);
	w->card = json_incref(card);
	w->group = w->closed = false;
	w->touched_ns = 0;
	card_show(w);
	if (by == CHOSEN_BY_HUMAN)
		return;
	w->dead_ns = clock_awake_ns() + DEAD_NS;
	(void)flushinp();
}

static void close_soon(struct watch *w)
{
	if (w->only && !w->ends_ns)
		w->ends_ns = clock_awake_ns() + CLOSED_NS;
}

/* A single card that no longer waits stays on the screen, with a line that says how it ended. */
static void card_gone(struct watch *w, int at)
{
	size_t n = json_array_size(w->cards), last = n > 0 ? n - 1 : 0;

	if (!w->only) {
		card_choose(w, json_array_get(w->cards, (size_t)at < last ? (size_t)at : last),
			    CHOSEN_BY_ITSELF);
		return;
	}
	if (!w->closed)
		watch_say(w, "answered");
	w->closed = true;
	close_soon(w);
}

static json_t *find_only(const struct watch *w)
{
	json_t *j;
	size_t i;

	json_array_foreach(w->cards, i, j)
	{
		if (strncmp(json_str(j, "id"), w->only, strlen(w->only)) == 0)
			return j;
	}
	return NULL;
}

static void see_to_card(struct watch *w, int was_at)
{
	int at = cards_at(w);
	json_t *fresh = at < 0 ? NULL : json_array_get(w->cards, (size_t)at);

	if (fresh && !asks_the_same(w->card, fresh)) {
		card_choose(w, fresh, CHOSEN_BY_ITSELF);
	} else if (fresh) {
		json_decref(w->card);
		w->card = json_incref(fresh);
	} else if (w->card || (!w->only && json_array_size(w->cards) > 0)) {
		card_gone(w, was_at < 0 ? 0 : was_at);
	} else if (w->only && find_only(w)) {
		card_choose(w, find_only(w), CHOSEN_BY_ITSELF);
	}
}

/* --- reading ------------------------------------------------------------------------------------------ */

/* Reads a session's cards; false if the helper does not answer within a second.  The screen is not updated
 * meanwhile. */
static bool session_list(struct followed *s)
{
	const struct timeval patience = { .tv_sec = 1 };
	_cleanup_close_ int fd = control_open(s->ref.dir);
	_cleanup_json_ json_t *all = NULL, *open = json_array();
	char why[512];
	json_t *j;
	size_t i;

	if (fd < 0)
		return false;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (cards_fetch(fd, &all, why, sizeof(why)) < 0)
		return false;
	json_array_foreach(all, i, j)
	{
		if (!card_is_open(j))
			continue;
		json_object_set_new(j, "session", json_string(s->ref.id));
		json_array_append(open, j);
	}
	json_decref(s->cards);
	s->cards = TAKE_PTR(open);
	return true;
}

static void cards_list(struct watch *w)
{
	size_t before = json_array_size(w->cards);
	int at = cards_at(w);

	json_decref(w->cards);
	w->cards = json_array();
	w->failed = false;
	for (size_t i = 0; i < FOLLOWED_MAX; i++) {
		struct followed *s = &w->follow.list[i];

		if (s->fd >= 0)
			w->failed |= !session_list(s);
		json_array_extend(w->cards, s->cards);
	}
	w->listed_ns = clock_awake_ns();
	w->stale = false;
	w->dirty = true;
	if (json_array_size(w->cards) > before)
		(void)beep();
	see_to_card(w, at);
}

/* --- notices of the sessions -------------------------------------------------------------------------- */

static void on_begun(void *ctx, struct followed *s)
{
	struct watch *w = ctx;

	(void)s;
	w->stale = true;
}

static void on_ended(void *ctx, struct followed *s)
{
	struct watch *w = ctx;

	/* Not reported right after an answer, whose message must stay. */
	if (!w->status[0])
		watch_say(w, "session %s has ended", s->ref.id);
	w->stale = true;
	w->closed |= strcmp(s->ref.id, json_str(w->card, "session")) == 0;
}

static void on_failed(void *ctx, const struct session_ref *ref, const char *why)
{
	_cleanup_free_ char *shown = recorded_visible(why);

	watch_say(ctx, "session %s: %s", ref->id, shown ? shown : "?");
}

/* "7f3a: approved for: session by ana": the first answer counts, and this line says who gave it. */
static void on_resolved(struct watch *w, const json_t *params)
{
	_cleanup_free_ char *by = recorded_visible(json_str(params, "by"));
	_cleanup_free_ char *state = recorded_visible(json_str(params, "state"));
	_cleanup_free_ char *scope = recorded_visible(json_str(params, "scope"));
	bool wider = scope && *scope && strcmp(json_str(params, "state"), "approved") == 0 &&
		     strcmp(scope, "once") != 0;

	/* An expired question can still be answered: the list says so. */
	if (w->closed || strcmp(json_str(params, "id"), json_str(w->card, "id")) != 0 ||
	    strcmp(json_str(params, "state"), "expired") == 0)
		return;
	watch_say(w, "%.8s: %s%s%s%s%s", json_str(w->card, "short"), state ? state : "?",
		  wider ? " for: " : "", wider ? scope : "", by && *by ? " by " : "", by ? by : "");
	w->closed = true;
}

static void on_refused(struct watch *w, const struct followed *s, const json_t *params)
{
	_cleanup_free_ char *exe = recorded_visible(json_str(params, "exe"));
	_cleanup_free_ char *why = recorded_visible(json_str(params, "why"));

	(void)beep();
	watch_say(w, "session %s: process %lld tried to act as you and was refused: %.80s (%.80s)", s->ref.id,
		  (long long)json_integer_value(json_object_get(params, "pid")), why ? why : "?",
		  exe && *exe ? exe : "?");
}

/* "15:04:05  deny  exec  git push origin main  (policy.ini:9 ...)"; acts that a rule allowed, and records
 * that are no decision about a call, are not shown. */
static void show_record(struct watch *w, const json_t *record)
{
	const char *rule = json_str(record, "rule"), *time = strchr(json_str(record, "time"), 'T');
	const char *verdict = json_str(record, "verdict"), *detail = json_str(record, "detail");
	struct decision_line *d = &w->decisions[w->n_decisions % DECISIONS_KEPT];
	_cleanup_free_ char *text = NULL;

	if (!*verdict || strchr(json_str(record, "op"), '/') ||
	    (strcmp(verdict, "allow") == 0 && !*json_str(record, "approval")))
		return;
	if (asprintf(&text, "%.8s  %-5s  %-9s  %s  %s%s%s", time ? time + 1 : "", verdict,
		     json_str(record, "op"), json_str(record, "target"), *rule ? "(" : "",
		     *rule ? rule : detail, *rule ? ")" : "") < 0) {
		text = NULL;
		return;
	}
	free(d->text);
	*d = (struct decision_line){ recorded_visible(text), paint_of_verdict(verdict) };
	w->n_decisions++;
	w->dirty = true;
}

static void on_told(void *ctx, struct followed *s, json_t *note)
{
	const char *method = json_str(note, "method");
	const json_t *params = json_object_get(note, "params");
	struct watch *w = ctx;

	w->stale |= strncmp(method, "approval/", 9) == 0;
	if (strcmp(method, "approval/resolved") == 0)
		on_resolved(w, params);
	else if (strcmp(method, "approval/refused") == 0)
		on_refused(w, s, params);
	else if (strcmp(method, "log/record") == 0)
		show_record(w, json_object_get(params, "record"));
}

/* --- a single card ------------------------------------------------------------------------------------ */

/* The card was answered before it could be shown, or never existed. */
static void check_absent(struct watch *w)
{
	if (w->card || w->ends_ns || (!sessions_up(w) && clock_awake_ns() - w->started_ns < ABSENT_NS))
		return;
	watch_say(w, "this question does not wait any more");
	close_soon(w);
}

/* The question expired.  It can still be answered in another terminal; this screen is needed for the
 * agent. */
static void check_expired(struct watch *w)
{
	uint64_t now = clock_awake_ns(), most = EXPIRED_NS;
	json_t *j;
	size_t i;

	if (!w->card || w->closed || strcmp(json_str(w->card, "state"), "expired") != 0)
		return;
	if (!w->expired_ns) {
		w->expired_ns = now;
		watch_say(w, "no answer came in time: this card closes; pale pending and pale watch still "
			     "show the question");
	}
	json_array_foreach(w->cards, i, j)
	{
		if (strcmp(json_str(j, "state"), "pending") == 0)
			most = CROWD_NS;
	}
	w->quit |= now - w->expired_ns >= most;
}

/* --- for the other files ------------------------------------------------------------------------------ */

void cards_begin(struct watch *w)
{
	follow_init(&w->follow);
	w->follow.records = !w->only;
	w->follow.begun = on_begun;
	w->follow.told = on_told;
	w->follow.ended = on_ended;
	w->follow.failed = on_failed;
	w->follow.ctx = w;
	w->cards = json_array();
	w->started_ns = clock_awake_ns();
	w->dirty = true;
}

void cards_tick(struct watch *w)
{
	if (w->stale ||
	    ((w->failed || json_array_size(w->cards) > 0) && clock_awake_ns() - w->listed_ns > LIST_NS))
		cards_list(w);
	if (!w->only)
		return;
	check_absent(w);
	check_expired(w);
	w->quit |= w->ends_ns && clock_awake_ns() >= w->ends_ns;
}

void cards_done(struct watch *w)
{
	struct card_text none = { 0 };

	follow_done(&w->follow);
	pad_set(&w->pad, &none);
	json_decref(w->cards);
	json_decref(w->card);
	for (size_t i = 0; i < DECISIONS_KEPT; i++)
		free(w->decisions[i].text);
}

size_t sessions_up(const struct watch *w)
{
	size_t n = 0;

	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		n += w->follow.list[i].fd >= 0;
	return n;
}

int card_open(const struct watch *w)
{
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		if (w->follow.list[i].fd >= 0 &&
		    strcmp(w->follow.list[i].ref.id, json_str(w->card, "session")) == 0)
			return control_open(w->follow.list[i].ref.dir);
	return -ENOTCONN;
}

void card_touch(struct watch *w)
{
	_cleanup_close_ int fd = -1;
	_cleanup_json_ json_t *shown = NULL;
	uint64_t now = clock_awake_ns();
	char why[512];

	if (!w->card || w->closed || (w->touched_ns && now - w->touched_ns < TOUCH_NS))
		return;
	w->touched_ns = now;
	fd = card_open(w);
	if (fd >= 0)
		(void)control_call(fd, "approval/show", json_pack("{ss}", "id", json_str(w->card, "id")),
				   &shown, why, sizeof(why));
}
