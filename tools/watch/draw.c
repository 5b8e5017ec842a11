/*
 * From top to bottom: questions, the text of the chosen one, decisions.  A low screen has no decisions, and
 * few questions.
 */
#include <string.h>

#include "tools/base/output.h"

#include "watch.h"

#define LOW_ROWS 20

struct area {
	int y, rows;
};

static struct area take_rows(struct area *from, int rows)
{
	struct area a = { from->y, rows < from->rows ? rows : from->rows };

	from->y += a.rows;
	from->rows -= a.rows;
	return a;
}

static void draw_item(const struct watch *w, const json_t *card, int y, bool is_shown)
{
	const char *level = json_str(json_object_get(card, "risk"), "level");
	const char *agent = json_str(card, "agent");
	char left[24] = "late", text[512];

	if (strcmp(json_str(card, "state"), "expired") != 0)
		snprintf(left, sizeof(left), "%lds", card_left(card));
	if (is_shown && w->closed)
		snprintf(left, sizeof(left), "-");
	snprintf(text, sizeof(text), " %-6.6s %-8.8s %6.6s  %-10.10s %.16s %.300s", json_str(card, "short"),
		 level, left, *agent ? agent : json_str(card, "session"), json_str(card, "op"),
		 json_str(card, "target"));
	screen_put(y, 0, COLS, is_shown ? A_REVERSE : A_NORMAL, text);
	if (!is_shown)
		screen_put(y, 8, 8, screen_risk(level), level);
}

static void draw_list(struct watch *w, struct area a)
{
	size_t n = json_array_size(w->cards), rows = a.rows > 1 ? (size_t)a.rows - 1 : 0;
	int at = cards_at(w);
	char title[64];

	snprintf(title, sizeof(title), "Questions (%zu)", n);
	screen_rule(a.y, COLS, title);
	if (at >= 0 && (size_t)at < w->first)
		w->first = (size_t)at;
	if (at >= 0 && rows && (size_t)at >= w->first + rows)
		w->first = (size_t)at - rows + 1;
	if (w->first + rows > n)
		w->first = n > rows ? n - rows : 0;
	for (size_t i = 0; i < rows && w->first + i < n; i++)
		draw_item(w, json_array_get(w->cards, w->first + i), a.y + 1 + (int)i,
			  (int)(w->first + i) == at);
	if (n == 0)
		screen_put(a.y + 1, 1, COLS - 1, A_DIM, "nothing waits");
}

static void draw_decisions(const struct watch *w, struct area a)
{
	uint64_t kept = w->n_decisions < DECISIONS_KEPT ? w->n_decisions : DECISIONS_KEPT;
	uint64_t shown = a.rows < 2 ? 0 : kept < (uint64_t)a.rows - 1 ? kept : (uint64_t)a.rows - 1;

	if (a.rows < 2)
		return;
	screen_rule(a.y, COLS, "Decisions: denied, asked");
	for (uint64_t i = 0; i < shown; i++) {
		const struct decision_line *d = &w->decisions[(w->n_decisions - shown + i) % DECISIONS_KEPT];

		screen_put(a.y + 1 + (int)i, 1, COLS - 1, screen_paint(d->paint), d->text ? d->text : "?");
	}
}

static void draw_top(const struct watch *w)
{
	size_t n = json_array_size(w->cards), up = sessions_up(w);
	char text[160];

	if (!w->only)
		snprintf(text, sizeof(text), " pale watch   %zu wait%s   %zu session%s", n, n == 1 ? "s" : "",
			 up, up == 1 ? "" : "s");
	else if (n > 1)
		snprintf(text, sizeof(text), " pale asks: may the agent do this?   (%zu more wait)", n - 1);
	else
		snprintf(text, sizeof(text), " pale asks: may the agent do this?");
	screen_put(0, 0, COLS, A_REVERSE, text);
}

/* The keys that are available now. */
static const char *keys_line(const struct watch *w, char *buf, size_t size)
{
	size_t rules;

	if (w->view == VIEW_HELP)
		return "any key goes back";
	if (!w->card)
		return "? help  q quit";
	if (!w->pad.seen_end)
		return "Space read to the end, then answer  ? help  q quit";
	if (w->view == VIEW_RULE)
		return "grant for: m 15 min  h hour  s session  p project  A always  e edit  Esc back";
	rules = json_array_size(json_object_get(json_object_get(w->card, "offers"), "lines"));
	snprintf(buf, size, "%s  n deny  N deny and tell  %s%se write one  %s",
		 w->group ? "for all alike:  y allow" : "y allow once",
		 rules > 1 ? "1 2"
		 : rules   ? "1"
			   : "",
		 rules ? " a rule  " : "", w->group ? "g one" : "g all  ? q");
	return buf;
}

static void draw_pad(struct watch *w, struct area a)
{
	struct area rule = take_rows(&a, 1);
	char title[512] = "", whole[600];

	if (w->card && w->view == VIEW_CARD) {
		card_title(w->card, json_str(w->card, "session"), title, sizeof(title));
		snprintf(whole, sizeof(whole), "%.64s  %s", json_str(w->card, "short"), title);
	} else {
		snprintf(whole, sizeof(whole), "%s",
			 w->view == VIEW_RULE	? "A rule, which allows this from now on"
			 : w->view == VIEW_HELP ? "Keys"
						: "");
	}
	screen_rule(rule.y, COLS, whole);
	pad_draw(&w->pad, a.y, a.rows, COLS);
}

static void draw_bottom(const struct watch *w)
{
	char keys[128];

	screen_put(LINES - 1, 0, COLS, w->status[0] ? A_BOLD : A_NORMAL,
		   w->status[0] ? w->status : keys_line(w, keys, sizeof(keys)));
}

void watch_draw(struct watch *w)
{
	struct area rest = { 1, LINES - 2 }, list, pad;
	int items = (int)json_array_size(w->cards), most = rest.rows / 4;

	(void)erase();
	if (LINES < SCREEN_MIN_ROWS || COLS < SCREEN_MIN_COLS) {
		screen_put(0, 0, COLS, A_NORMAL, "too small: 40x10 at least");
		(void)refresh();
		return;
	}
	draw_top(w);
	if (LINES < LOW_ROWS)
		most = items == 1 ? -1 : 2;
	if (!w->only && w->view != VIEW_HELP) {
		list = take_rows(&rest, 1 + (items > most ? most : items ? items : 1));
		draw_list(w, list);
	}
	pad = rest;
	if (!w->only && LINES >= LOW_ROWS)
		pad = take_rows(&rest, w->card || w->view == VIEW_HELP ? rest.rows - rest.rows / 4 : 1);
	if (pad.y != rest.y)
		draw_decisions(w, rest);
	/* The keys depend on how much of the text was seen. */
	draw_pad(w, pad);
	draw_bottom(w);
	(void)wnoutrefresh(stdscr);
	(void)doupdate();
}
