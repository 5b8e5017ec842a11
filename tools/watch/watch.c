/*
 * pale watch: questions and decisions as they come, on a full screen.
 *
 * A key answers a card only when its last row was on the screen, and not within half a second after it
 * appeared by itself; keys typed before are discarded.
 */
#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "policy/base/util.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/sessions/sessions.h"

#include "watch.h"

#define STATUS_NS (6 * NS_S)
#define TICK_MS	  200
#define KEYS_MAX  256

static volatile sig_atomic_t told_to_end;

static void on_end(int sig)
{
	told_to_end = sig;
}

/* --- keys --------------------------------------------------------------------------------------------- */

static void key_scroll(struct watch *w, int key)
{
	int page = w->pad.height > 1 ? w->pad.height - 1 : 1;

	switch (key) {
	case ' ':
	case KEY_NPAGE:
		pad_move(&w->pad, page);
		return;
	case 'b':
	case KEY_PPAGE:
		pad_move(&w->pad, -page);
		return;
	case KEY_HOME:
		pad_move(&w->pad, -w->pad.n);
		return;
	default:
		pad_move(&w->pad, w->pad.n);
	}
}

/* Moves to the next or previous question; in a single card or another text, to the next or previous row. */
static void key_move(struct watch *w, int key)
{
	int by = key == 'j' || key == KEY_DOWN ? 1 : -1, at = cards_at(w) + by;

	if (w->only || w->view != VIEW_CARD)
		pad_move(&w->pad, by);
	else if (at >= 0 && (size_t)at < json_array_size(w->cards))
		card_choose(w, json_array_get(w->cards, (size_t)at), CHOSEN_BY_HUMAN);
}

static void key_redraw(struct watch *w, int key)
{
	(void)w;
	(void)key;
	(void)clearok(stdscr, TRUE);
}

static void key_help(struct watch *w, int key);

static void key_leave(struct watch *w, int key)
{
	if (w->view == VIEW_CARD)
		w->quit |= key != 27;
	else
		card_show(w);
}

enum key_kind { KEY_ALWAYS, KEY_CARD, KEY_RULE, KEY_BOTH };

static const struct key {
	int keys[4];
	const char *name, *help;
	void (*run)(struct watch *w, int key);
	enum key_kind
		kind; /* KEY_CARD, KEY_RULE, KEY_BOTH: answers the card, the rule that is shown, either */
} table[] = {
	{ { 'y' }, "y", "allow, this once", answer_once, KEY_CARD },
	{ { 'n' }, "n", "deny", answer_deny, KEY_CARD },
	{ { 'N' }, "N", "deny, and tell the agent why", answer_deny_tell, KEY_CARD },
	{ { '1', '2', '3', '4' },
	  "1 to 4",
	  "show the rule that is offered, to grant it",
	  answer_rule,
	  KEY_BOTH },
	{ { 'e' }, "e", "write a rule in the editor ($VISUAL, $EDITOR)", answer_edit, KEY_BOTH },
	{ { 'm', 'h' }, "m, h", "grant it for 15 minutes, an hour, in the session", answer_grant, KEY_RULE },
	{ { 's', 'p', 'A' },
	  "s, p, A",
	  "grant it for the session, the project, always",
	  answer_grant,
	  KEY_RULE },
	{ { 'g' }, "g", "the next answer is for all that are alike", answer_group, KEY_BOTH },
	{ { ' ', KEY_NPAGE, 'b', KEY_PPAGE },
	  "Space, b",
	  "read on, or back, a page",
	  key_scroll,
	  KEY_ALWAYS },
	{ { KEY_HOME, KEY_END, 'G' }, "Home, End", "to the top, to the end", key_scroll, KEY_ALWAYS },
	{ { 'j', KEY_DOWN, 'k', KEY_UP }, "j, k", "the next question, the one before", key_move, KEY_ALWAYS },
	{ { CTRL('l') }, "Ctrl-L", "draw again", key_redraw, KEY_ALWAYS },
	{ { '?' }, "?", "this help", key_help, KEY_ALWAYS },
	{ { 'q', CTRL('c'), 27 }, "q", "back, or leave: what waits goes on waiting", key_leave, KEY_ALWAYS },
};

static void key_help(struct watch *w, int key)
{
	struct card_text t = { 0 };

	(void)key;
	for (size_t i = 0; i < NELEM(table); i++)
		(void)card_text_add(&t, CARD_WHERE, table[i].name, table[i].help);
	pad_set(&w->pad, &t);
	w->view = VIEW_HELP;
}

/* True if the card, or the rule, may be answered now; else false after a message. */
static bool may_answer(struct watch *w, enum key_kind kind)
{
	if (!w->card || (kind != KEY_BOTH && kind != (w->view == VIEW_RULE ? KEY_RULE : KEY_CARD)))
		return false;
	if (w->closed)
		return false;
	if (!w->pad.seen_end)
		watch_say(w, "read it to its end first: Space");
	else if (clock_awake_ns() < w->dead_ns)
		(void)flushinp();
	else
		return true;
	return false;
}

static void take_key(struct watch *w, int key)
{
	w->dirty = true;
	if (key == KEY_RESIZE)
		return;
	if (w->view == VIEW_HELP) {
		card_show(w);
		return;
	}
	for (size_t i = 0; i < NELEM(table); i++) {
		const struct key *k = &table[i];

		for (size_t j = 0; j < NELEM(k->keys); j++) {
			if (k->keys[j] == 0 || k->keys[j] != key)
				continue;
			if (k->run != key_leave)
				card_touch(w);
			if (k->kind == KEY_ALWAYS || may_answer(w, k->kind))
				k->run(w, key);
			return;
		}
	}
}

/* --- the loop ----------------------------------------------------------------------------------------- */

static void loop(struct watch *w)
{
	uint64_t second = 0;
	int key;

	while (!w->quit && !told_to_end) {
		cards_tick(w);
		if (w->status[0] && clock_awake_ns() - w->status_ns > STATUS_NS)
			watch_say(w, "%s", "");
		/* Times on the screen change each second. */
		w->dirty |= clock_awake_ns() / NS_S != second;
		second = clock_awake_ns() / NS_S;
		if (w->dirty)
			watch_draw(w);
		w->dirty = false;
		/* The terminal is gone. */
		if (follow_step(&w->follow, STDIN_FILENO, TICK_MS) & (POLLHUP | POLLERR | POLLNVAL))
			return;
		/* Many resizes or keys must not delay the cards. */
		for (int i = 0; i < KEYS_MAX && (key = getch()) != ERR; i++)
			take_key(w, key);
	}
}

static int run_screen(struct watch *w)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_end };

	if (screen_start() < 0) {
		talk("this terminal cannot show a full screen; try: pale pending --follow");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < NELEM(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
	cards_begin(w);
	loop(w);
	(void)endwin();
	cards_done(w);
	return w->only && !w->closed ? EXIT_FINDINGS : EXIT_OK;
}

/* --- the command -------------------------------------------------------------------------------------- */

/* Splits SESSION/ID, both of lower-case letters and digits, as the popup passes it. */
static bool split_card(const char *text, char session[SESSION_ID_MAX], const char **ret_id)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;

	if (len == 0 || len >= SESSION_ID_MAX || strlen(slash + 1) < 4)
		return false;
	for (const char *p = text; *p; p++)
		if (p != slash && !islower((unsigned char)*p) && !isdigit((unsigned char)*p))
			return false;
	snprintf(session, SESSION_ID_MAX, "%.*s", (int)len, text);
	*ret_id = slash + 1;
	return true;
}

static int watch_run(const struct options *o, int argc, char **argv)
{
	static struct watch w;
	char session[SESSION_ID_MAX];

	(void)argc;
	(void)argv;
	if (o->card && !split_card(o->card, session, &w.only)) {
		talk("--card takes SESSION/ID");
		return EXIT_USAGE;
	}
	if (session_around()) {
		talk("a session does not answer its own questions; use another terminal");
		return EXIT_FINDINGS;
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		talk("watch needs a terminal; elsewhere: pale pending --follow, pale log --follow");
		return EXIT_USAGE;
	}
	w.follow.only = o->card ? session : NULL;
	return run_screen(&w);
}

static const struct opt opts[] = {
	OPT_VALUE("card", 0, "SESSION/ID", card, "one question alone, to its answer"),
	{ 0 },
};

const struct subcommand subcommand_watch = {
	.name = "watch",
	.args = "[--card SESSION/ID]",
	.summary = "questions and decisions as they come, on one screen",
	.opts = opts,
	.operands = OPERANDS_NONE,
	.usage_status = EXIT_USAGE,
	.run = watch_run,
};
