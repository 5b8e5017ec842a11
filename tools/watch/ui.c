/*
 * The full screen as a whole: which card is under the cursor, when an answer counts, the loop.
 *
 * A card is answered by a key only when its last row was on the screen, and not within half a second after it
 * came there by itself; what was typed before is discarded.
 */
#include "tools/watch/ui.h"

#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "tools/stepup.h"

#define STATUS_NS (6 * WATCH_S)
#define ABSENT_NS (3 * WATCH_S)
/* A popup whose question's time is over covers the agent no longer than so; shorter where others wait. */
#define EXPIRED_NS	 (10 * WATCH_S)
#define EXPIRED_CROWD_NS (3 * WATCH_S)
#define FDS_MAX		 256
#define KEYS_MAX	 256

static volatile sig_atomic_t told_to_end;

static void on_end(int sig)
{
	told_to_end = sig;
}

void ui_say(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->status, sizeof(ui->status), fmt, ap);
	va_end(ap);
	ui->status_ns = watch_now();
	ui->dirty = true;
}

/* --- the card under the cursor -----------------------------------------------------------------------------
 */

static void load(struct ui *ui)
{
	pager_set(&ui->pager, ui->item ? ui->item->card : NULL);
	ui->dirty = true;
}

void ui_choose(struct ui *ui, struct item *it, enum chosen_by by)
{
	ui->item = it;
	ui->group = false;
	if (ui->mode == UI_GRANT || (ui->mode == UI_EDIT && ui->editing != EDIT_FILTER))
		grant_close(ui);
	load(ui);
	if (by == CHOSEN_BY_HUMAN)
		return;
	ui->dead_ns = watch_now() + DEAD_NS;
	screen_flush_keys();
}

static void on_opened(struct watch *w, struct item *it)
{
	struct ui *ui = w->ctx;

	ui->dirty = true;
	(void)beep();
	if (!ui->item)
		ui_choose(ui, it, CHOSEN_BY_ITSELF);
}

static void on_changed(struct watch *w, struct item *it)
{
	struct ui *ui = w->ctx;

	if (ui->item == it)
		ui_choose(ui, it, CHOSEN_BY_ITSELF);
}

static void on_closed(struct watch *w, struct item *it)
{
	struct ui *ui = w->ctx;

	ui->dirty = true;
	if (ui->item != it)
		return;
	if (ui->mode == UI_GRANT || (ui->mode == UI_EDIT && ui->editing != EDIT_FILTER))
		grant_close(ui);
	if (w->only_card && !ui->ends_ns) {
		ui->ends_ns = watch_now() + CLOSED_NS;
		ui->answered = true;
	}
}

static void on_forgotten(struct watch *w, struct item *it)
{
	struct ui *ui = w->ctx;
	struct item *next = NULL;

	ui->dirty = true;
	if (ui->item != it)
		return;
	for (size_t i = 0; !next && i < w->n_items; i++)
		next = w->items[i]->closed_ns ? NULL : w->items[i];
	ui_choose(ui, next, CHOSEN_BY_ITSELF);
}

static void on_said(struct watch *w, struct item *it, const char *text)
{
	struct ui *ui = w->ctx;
	_cleanup_free_ char *shown = recorded_visible(text);

	(void)it;
	ui_say(ui, "%s", shown ? shown : "?");
}

static void on_refused(struct watch *w, const struct link *l, const json_t *what)
{
	struct ui *ui = w->ctx;
	_cleanup_free_ char *exe = recorded_visible(card_str(what, "exe"));
	_cleanup_free_ char *why = recorded_visible(card_str(what, "why"));

	(void)beep();
	ui_say(ui, "session %s: process %lld tried to act as you and was refused: %.80s (%.80s)", l->ref.id,
	       (long long)json_integer_value(json_object_get(what, "pid")), why ? why : "?",
	       exe && *exe ? exe : "?");
}

static void on_decision(struct watch *w, const struct link *l, const json_t *record)
{
	struct ui *ui = w->ctx;

	(void)l;
	(void)record;
	/* What is being read stays where it is. */
	if (ui->back)
		ui->back++;
	ui->dirty = true;
}

static void on_session(struct watch *w, const struct link *l, bool is_up)
{
	struct ui *ui = w->ctx;

	if (!is_up && l->info)
		ui_say(ui, "session %s has ended", l->ref.id);
	ui->dirty = true;
}

static const struct sink sink = {
	.opened = on_opened,
	.changed = on_changed,
	.closed = on_closed,
	.forgotten = on_forgotten,
	.decision = on_decision,
	.session = on_session,
	.refused = on_refused,
	.said = on_said,
};

/* --- answers
 * ---------------------------------------------------------------------------------------------------- */

bool ui_may_answer(struct ui *ui)
{
	const struct item *it = ui->item;

	if (!it)
		return false;
	if (it->closed_ns)
		ui_say(ui, "%s: %s", card_str(it->card, "short"), it->outcome);
	else if (it->reply)
		ui_say(ui, "an answer is on its way");
	else if (!ui->pager.seen_end)
		ui_say(ui, "read it to its end first: Space");
	else if (watch_now() < ui->dead_ns)
		screen_flush_keys();
	else
		return true;
	return false;
}

static char *copy_of(const char *s)
{
	return s && *s ? strdup(s) : NULL;
}

/* What cannot be taken back is confirmed on the terminal, by the same prompt as everywhere.  0 or -errno. */
static int confirm(struct ui *ui, struct reply *r)
{
	int fd, e = -ENOMEM;

	if (strcmp(r->decision, "approved") != 0 || !json_is_true(json_object_get(ui->item->card, "stepup")))
		return 0;
	fd = control_open(ui->item->link->ref.dir);
	if (fd < 0)
		return fd;
	r->proof = json_object();
	screen_leave();
	if (r->proof)
		e = stepup_confirm(fd, ui->item->card, r->proof);
	screen_back();
	(void)close(fd);
	return e;
}

void ui_answer(struct ui *ui, const char *decision, const char *scope, const char *rule, const char *reason)
{
	struct reply *r = calloc(1, sizeof(*r));
	int e = -ENOMEM;

	if (r) {
		*r = (struct reply){ .decision = decision,
				     .scope = scope,
				     .rule = copy_of(rule),
				     .reason = copy_of(reason),
				     .group = ui->group };
		if (strcmp(scope, "project") == 0)
			snprintf(r->until, sizeof(r->until), "%s", ui->grant.until);
		e = confirm(ui, r);
		if (e == 0)
			e = item_answer(ui->w, ui->item, r);
		else
			reply_free(r);
	}
	if (e < 0)
		ui_say(ui, "not answered: %s", strerror(-e));
	ui->group = false;
}

/* --- the loop
 * ---------------------------------------------------------------------------------------------------- */

static void wait_event(const struct watch *w)
{
	struct pollfd p[FDS_MAX] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	size_t n = 1 + feed_fds(w, p + 1, FDS_MAX - 1);

	(void)poll(p, n, WATCH_TICK_MS);
	/* The terminal is gone. */
	if (p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		told_to_end = SIGHUP;
}

static void take_keys(struct ui *ui)
{
	int key;

	/* A storm of resizes or of keys must not keep the cards away. */
	for (int i = 0; i < KEYS_MAX && (key = getch()) != ERR; i++) {
		ui->dirty = true;
		if (key != KEY_RESIZE)
			ui_key(ui, key);
	}
}

/* --card: it was answered before it could be shown, or never was. */
static void check_absent(struct ui *ui)
{
	const struct link *l = ui->w->links;
	bool listed = l && l->fd >= 0 && l->began_ns && !l->listing;

	if (!ui->w->only_card || ui->item || ui->ends_ns)
		return;
	if (!listed && watch_now() - ui->started_ns < ABSENT_NS)
		return;
	ui_say(ui, "this question does not wait any more");
	ui->ends_ns = watch_now() + CLOSED_NS;
}

/* --card: nobody answered in time.  It can be answered late in another terminal; the screen is the agent's.
 */
static void check_expired(struct ui *ui)
{
	const struct item *it = ui->item;
	uint64_t now = watch_now(), most;

	if (!ui->w->only_card || !it || it->closed_ns || it->reply ||
	    strcmp(card_str(it->card, "state"), "expired") != 0)
		return;
	if (!ui->expired_ns) {
		ui->expired_ns = now;
		ui_say(ui, "nobody answered in time: it closes, and stays in pale pending and pale watch");
	}
	most = it->link && it->link->others ? EXPIRED_CROWD_NS : EXPIRED_NS;
	ui->quit |= now - ui->expired_ns >= most;
}

static void loop(struct ui *ui)
{
	uint64_t second = 0;

	while (!ui->quit && !told_to_end) {
		uint64_t now;

		feed_tick(ui->w);
		check_absent(ui);
		check_expired(ui);
		/* After what was said just now, or that would count as long ago. */
		now = watch_now();
		if (ui->ends_ns && now >= ui->ends_ns)
			break;
		if (ui->status[0] && now - ui->status_ns > STATUS_NS)
			ui_say(ui, "%s", "");
		/* The clocks run. */
		if (now / WATCH_S != second)
			ui->dirty = true;
		second = now / WATCH_S;
		if (ui->dirty)
			ui_draw(ui);
		ui->dirty = false;
		wait_event(ui->w);
		take_keys(ui);
	}
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_end };

	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
}

int ui_run(struct watch *w)
{
	static struct ui ui; /* w knows it as long as it lives */

	ui = (struct ui){ .w = w, .dirty = true, .started_ns = watch_now() };
	w->sink = &sink;
	w->ctx = &ui;
	if (screen_start() < 0) {
		talk("this terminal cannot show a full screen; try: pale pending --follow");
		return EXIT_USAGE;
	}
	catch_signals();
	loop(&ui);
	screen_end();
	pager_done(&ui.pager);
	return w->only_card && !ui.answered ? EXIT_FINDINGS : EXIT_OK;
}
