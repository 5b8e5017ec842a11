/*
 * The sessions of this user and the lines to their helpers.
 *
 * Nothing waits for a helper: a call is sent and its answer comes when it comes.  Cards arrive by
 * notification; a list now and then puts right what was missed, and says how the clocks stand.
 */
#include "tools/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/wire.h"

#define SCAN_NS	   WATCH_S
#define LIST_NS	   (2 * WATCH_S)
#define REFRESH_NS (5 * WATCH_S)
#define RETRY_NS   (3 * WATCH_S)
#define DRAIN_NS   WATCH_S
#define BATCH	   200 /* packets of one session before the others have their turn */

static const char *const methods[CALL_KINDS] = {
	[CALL_INFO] = "session/info",  [CALL_SUBSCRIBE] = "log/subscribe",  [CALL_LIST] = "approval/list",
	[CALL_SHOW] = "approval/show", [CALL_RESPOND] = "approval/respond",
};

/* --- links ------------------------------------------------------------------------------------------------
 */

static void link_close(struct watch *w, struct link *l)
{
	if (l->fd < 0)
		return;
	(void)close(l->fd);
	l->fd = -1;
	l->n_calls = 0;
	l->subscribed = l->listing = false;
	l->retry_ns = watch_now() + RETRY_NS;
	model_link_gone(w, l);
	if (w->sink->session)
		w->sink->session(w, l, false);
}

int feed_call(struct watch *w, struct link *l, enum call_kind kind, const char *card, json_t *params)
{
	_cleanup_json_ json_t *call = NULL;
	_cleanup_free_ char *text = NULL;
	struct call *slot;
	ssize_t n;

	if (!l || l->fd < 0 || l->n_calls == CALLS_MAX) {
		json_decref(params);
		return l && l->fd >= 0 ? -EBUSY : -ENOTCONN;
	}
	call = json_pack("{ss, si, si, ss, so}", "jsonrpc", "2.0", "version", CONTROL_VERSION, "id",
			 l->last_id + 1, "method", methods[kind], "params", params ? params : json_object());
	text = call ? json_dumps(call, JSON_COMPACT) : NULL;
	if (!text)
		return -ENOMEM;
	n = send(l->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN)
		link_close(w, l);
	if (n < 0)
		return -ENOTCONN;
	slot = &l->calls[l->n_calls++];
	*slot = (struct call){ .id = ++l->last_id, .kind = kind };
	snprintf(slot->card, sizeof(slot->card), "%s", card ? card : "");
	return 0;
}

void feed_list_again(struct link *l)
{
	l->list_ns = 0;
}

static void list_from(struct watch *w, struct link *l, json_int_t from)
{
	if (feed_call(w, l, CALL_LIST, NULL, json_pack("{sI}", "from", from)) < 0)
		return;
	l->listing = true;
	if (from > 0)
		return;
	l->began_ns = watch_now();
	l->counted = 0;
}

static void link_open(struct watch *w, struct link *l)
{
	l->fd = control_open(l->ref.dir);
	if (l->fd < 0) {
		l->retry_ns = watch_now() + RETRY_NS;
		return;
	}
	(void)fcntl(l->fd, F_SETFL, O_NONBLOCK);
	(void)feed_call(w, l, CALL_INFO, NULL, NULL);
	(void)feed_call(w, l, CALL_SUBSCRIBE, NULL,
			json_pack("{sb, sb}", "approvals", 1, "records", (int)w->records));
	list_from(w, l, 0);
	l->list_ns = l->refresh_ns = watch_now();
}

static struct link *link_find(struct watch *w, const struct session_ref *ref)
{
	for (struct link *l = w->links; l; l = l->next)
		if (strcmp(l->ref.dir, ref->dir) == 0)
			return l;
	return NULL;
}

static void link_add(struct watch *w, const struct session_ref *ref)
{
	struct link *l = link_find(w, ref), **at = &w->links;

	if (w->only_session && strcmp(w->only_session, ref->id) != 0)
		return;
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return;
		l->ref = *ref;
		l->fd = -1;
		/* By name, as `pale session list` has them. */
		while (*at && strcmp((*at)->ref.id, ref->id) < 0)
			at = &(*at)->next;
		l->next = *at;
		*at = l;
	}
	l->scanned = true;
}

static void links_sweep(struct watch *w)
{
	for (struct link **at = &w->links; *at;) {
		struct link *l = *at;

		if (l->scanned || l->fd >= 0) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		json_decref(l->info);
		free(l);
	}
}

static void scan(struct watch *w)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_list(&refs, &n) < 0)
		return;
	for (struct link *l = w->links; l; l = l->next)
		l->scanned = false;
	for (size_t i = 0; i < n; i++)
		link_add(w, &refs[i]);
	links_sweep(w);
}

/* --- what comes -------------------------------------------------------------------------------------------
 */

static void on_list(struct watch *w, struct link *l, const json_t *result)
{
	json_int_t next = json_integer_value(json_object_get(result, "next"));
	json_t *card;
	size_t i;

	json_array_foreach(json_object_get(result, "approvals"), i, card)
	{
		model_card(w, l, card);
		l->counted += strcmp(card_str(card, "state"), "pending") == 0 && !model_wants(w, card);
	}
	l->listing = false;
	if (next > 0) {
		list_from(w, l, next);
		return;
	}
	l->others = l->counted;
	if (result)
		model_listed(w, l, l->began_ns);
}

static void on_info(struct watch *w, struct link *l, json_t *result)
{
	bool first = !l->info;

	json_decref(l->info);
	l->info = json_incref(result);
	if (first && w->sink->session)
		w->sink->session(w, l, true);
}

static void on_answer(struct watch *w, struct link *l, const struct call *c, const json_t *answer)
{
	json_t *result = json_object_get(answer, "result");
	const char *error = card_str(json_object_get(answer, "error"), "message");
	struct item *it = *c->card ? item_find(w, l->ref.id, c->card) : NULL;

	error = result ? NULL : *error ? error : "refused without a reason";
	if (c->kind == CALL_LIST)
		on_list(w, l, result);
	if (c->kind == CALL_SUBSCRIBE)
		l->subscribed = result != NULL;
	if (c->kind == CALL_SUBSCRIBE && error && w->sink->said)
		w->sink->said(w, NULL, error);
	if (c->kind == CALL_INFO && result)
		on_info(w, l, result);
	if (!it)
		return;
	if (c->kind == CALL_SHOW)
		item_shown(w, it, result);
	if (c->kind == CALL_RESPOND)
		item_responded(w, it, result, error);
}

static void on_notice(struct watch *w, struct link *l, const char *method, json_t *params)
{
	json_t *record;

	if (strcmp(method, "approval/request") == 0)
		model_card(w, l, params);
	if (strcmp(method, "approval/resolved") == 0)
		model_resolved(w, l, params);
	if (strcmp(method, "approval/refused") == 0 && w->sink->refused)
		w->sink->refused(w, l, params);
	if (strcmp(method, "log/record") != 0)
		return;
	record = json_object_get(params, "record");
	if (json_is_object(record))
		model_record(w, l, record);
}

static void take(struct watch *w, struct link *l, json_t *j)
{
	const char *method = json_string_value(json_object_get(j, "method"));
	json_int_t id = json_integer_value(json_object_get(j, "id"));

	if (method) {
		on_notice(w, l, method, json_object_get(j, "params"));
		return;
	}
	/* An error without an id is of the connection: it was refused. */
	if (id == 0 && w->sink->said)
		w->sink->said(w, NULL, card_str(json_object_get(j, "error"), "message"));
	for (size_t i = 0; i < l->n_calls; i++) {
		struct call c = l->calls[i];

		if (c.id != id)
			continue;
		memmove(&l->calls[i], &l->calls[i + 1], (l->n_calls - i - 1) * sizeof(c));
		l->n_calls--;
		on_answer(w, l, &c, j);
		return;
	}
}

static void link_read(struct watch *w, struct link *l)
{
	static char buf[LIMIT_FRAME];

	for (int i = 0; i < BATCH && l->fd >= 0; i++) {
		_cleanup_json_ json_t *j = NULL;
		ssize_t n = recv(l->fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		j = n > 0 && (size_t)n <= sizeof(buf)
			    ? json_loadb(buf, (size_t)n, JSON_REJECT_DUPLICATES, NULL)
			    : NULL;
		/* A helper that does not speak the protocol is as good as gone. */
		if (!j)
			link_close(w, l);
		else
			take(w, l, j);
	}
}

static void link_tick(struct watch *w, struct link *l, uint64_t now)
{
	if (l->fd < 0 && l->scanned && now >= l->retry_ns)
		link_open(w, l);
	if (l->fd < 0)
		return;
	link_read(w, l);
	if (l->fd >= 0 && !l->listing && now - l->list_ns > LIST_NS) {
		l->list_ns = now;
		list_from(w, l, 0);
	}
	if (l->fd >= 0 && now - l->refresh_ns > REFRESH_NS) {
		l->refresh_ns = now;
		(void)feed_call(w, l, CALL_INFO, NULL, NULL);
	}
}

size_t feed_fds(const struct watch *w, struct pollfd *p, size_t max)
{
	size_t n = 0;

	for (const struct link *l = w->links; l && n < max; l = l->next)
		if (l->fd >= 0)
			p[n++] = (struct pollfd){ .fd = l->fd, .events = POLLIN };
	return n;
}

void feed_tick(struct watch *w)
{
	uint64_t now = watch_now();

	if (!w->scanned_ns || now - w->scanned_ns > SCAN_NS) {
		w->scanned_ns = now;
		scan(w);
	}
	for (struct link *l = w->links; l; l = l->next)
		link_tick(w, l, now);
	model_tick(w);
}

/*
 * Calls that are on their way get their answers first: a helper does nothing of what it reads from a process
 * that is gone, and an answer that was given shall count.
 */
static void drain(struct watch *w)
{
	static const struct sink nobody;
	uint64_t until = watch_now() + DRAIN_NS;
	size_t left = 1;

	w->sink = &nobody;
	while (left > 0 && watch_now() < until) {
		left = 0;
		for (struct link *l = w->links; l; l = l->next) {
			if (l->fd >= 0)
				link_read(w, l);
			left += l->fd >= 0 ? l->n_calls : 0;
		}
		if (left > 0)
			(void)poll(NULL, 0, 5);
	}
}

void feed_done(struct watch *w)
{
	struct link *next;

	drain(w);
	for (struct link *l = w->links; l; l = next) {
		next = l->next;
		if (l->fd >= 0)
			(void)close(l->fd);
		json_decref(l->info);
		free(l);
	}
	w->links = NULL;
}
