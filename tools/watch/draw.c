/*
 * Panes, from top to bottom: questions, the chosen one's text, decisions, sessions.  A screen too low for all
 * of them shows the questions, or what Tab chose.
 */
#include <ncurses.h>
#include <string.h>

#include "tools/watch/ui.h"

#define LOW_ROWS 20

static struct box take_rows(struct box *from, int rows)
{
	struct box b = *from;

	b.rows = rows < from->rows ? rows : from->rows;
	from->y += b.rows;
	from->rows -= b.rows;
	return b;
}

static unsigned rule_attr(const struct ui *ui, enum focus f)
{
	return ui->focus == f && !ui->w->only_card ? screen_bold() : screen_dim();
}

/* --- questions -------------------------------------------------------------------------------------------
 */

static unsigned risk_attr(const char *level)
{
	if (strcmp(level, "critical") == 0 || strcmp(level, "high") == 0)
		return screen_paint(PAINT_RED);
	return strcmp(level, "medium") == 0 ? screen_paint(PAINT_YELLOW) : 0;
}

static void clock_text(const struct item *it, char *buf, size_t size)
{
	if (it->closed_ns)
		snprintf(buf, size, "-");
	else if (strcmp(card_str(it->card, "state"), "expired") == 0)
		snprintf(buf, size, "late");
	else
		snprintf(buf, size, "%lds", card_left(it->card));
}

static void draw_item(const struct ui *ui, const struct item *it, int y, int cols)
{
	const char *level = card_str(json_object_get(it->card, "risk"), "level");
	_cleanup_free_ char *target = recorded_visible(card_str(it->card, "target"));
	_cleanup_free_ char *agent = recorded_visible(card_str(it->card, "agent"));
	_cleanup_free_ char *op = recorded_visible(card_str(it->card, "op"));
	unsigned attr = it == ui->item ? screen_reverse() : it->closed_ns ? screen_dim() : 0;
	char head[64], text[512];

	clock_text(it, head, sizeof(head));
	snprintf(text, sizeof(text), " %-6.6s %-8.8s %6.6s  %-10.10s %s %.300s", card_str(it->card, "short"),
		 level, head, agent && *agent ? agent : it->session,
		 it->closed_ns ? it->outcome
		 : op	       ? op
			       : "?",
		 it->closed_ns || !target ? "" : target);
	screen_put(y, 0, cols, attr, text);
	if (!attr && risk_attr(level)) {
		snprintf(head, sizeof(head), "%-8.8s", level);
		screen_put(y, 8, 8, risk_attr(level), head);
	}
}

static void draw_items(struct ui *ui, const struct box *b)
{
	const struct watch *w = ui->w;
	size_t rows = b->rows > 1 ? (size_t)b->rows - 1 : 0, chosen = 0;
	char title[64];

	snprintf(title, sizeof(title), "Questions (%zu)", items_open(w, NULL));
	screen_rule(b->y, b->cols, rule_attr(ui, FOCUS_CARDS), title);
	for (size_t i = 0; i < w->n_items; i++)
		if (w->items[i] == ui->item)
			chosen = i;
	if (chosen < ui->first)
		ui->first = chosen;
	if (rows && chosen >= ui->first + rows)
		ui->first = chosen - rows + 1;
	if (ui->first + rows > w->n_items)
		ui->first = w->n_items > rows ? w->n_items - rows : 0;
	for (size_t i = 0; i < rows && ui->first + i < w->n_items; i++)
		draw_item(ui, w->items[ui->first + i], b->y + 1 + (int)i, b->cols);
	if (w->n_items == 0)
		screen_put(b->y + 1, 1, b->cols - 1, screen_dim(), "nothing waits");
}

/* --- the chosen card -------------------------------------------------------------------------------------
 */

static void draw_outcome(const struct ui *ui, const struct box *b)
{
	char text[256];

	snprintf(text, sizeof(text), " %s ", ui->item->outcome);
	screen_put(b->y + b->rows - 1, PAGER_INDENT - 1, b->cols - PAGER_INDENT, screen_reverse(), text);
}

static void draw_card(struct ui *ui, struct box b)
{
	struct box rule = take_rows(&b, 1), dialog;
	char title[512], whole[600];
	int rows = grant_rows(ui, b.cols);

	if (!ui->item) {
		screen_rule(rule.y, rule.cols, rule_attr(ui, FOCUS_CARD), "");
		return;
	}
	card_title(ui->item->card, ui->item->session, title, sizeof(title));
	snprintf(whole, sizeof(whole), "%s  %s", card_str(ui->item->card, "short"),
		 ui->item->closed_ns ? ui->item->outcome : title);
	screen_rule(rule.y, rule.cols, rule_attr(ui, FOCUS_CARD), whole);
	if (rows) {
		/* The dialog comes from below and leaves the card what it can. */
		int left = b.rows - rows, least = grant_is_long(ui, b.cols) ? 0 : 2;
		struct box top = take_rows(&b, left > least ? left : least);

		dialog = b;
		pager_draw(&ui->pager, &top);
		grant_draw(ui, &dialog);
		return;
	}
	pager_draw(&ui->pager, &b);
	if (ui->item->closed_ns && b.rows > 1)
		draw_outcome(ui, &b);
}

/* --- decisions, sessions ----------------------------------------------------------------------------------
 */

static bool is_filtered(const struct ui *ui, const struct entry *e)
{
	if (e->is_routine && !ui->routine)
		return true;
	return ui->filter[0] && !strcasestr(e->text, ui->filter);
}

static void draw_decisions(struct ui *ui, const struct box *b)
{
	const struct watch *w = ui->w;
	uint64_t kept = w->n_entries < RECORDS_KEPT ? w->n_entries : RECORDS_KEPT;
	size_t skip = ui->back;
	int y = b->y + b->rows - 1;
	_cleanup_free_ char *filter = text_visible(ui->filter);
	char title[128];

	snprintf(title, sizeof(title), "Decisions: %s%s%s", ui->routine ? "all" : "denied, asked (v: all)",
		 ui->filter[0] ? ", with " : "", filter ? filter : "");
	screen_rule(b->y, b->cols, rule_attr(ui, FOCUS_DECISIONS), title);
	for (uint64_t i = 0; i < kept && y > b->y; i++) {
		const struct entry *e = &w->entries[(w->n_entries - 1 - i) % RECORDS_KEPT];

		if (is_filtered(ui, e))
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		screen_put(y--, 1, b->cols - 1, screen_paint(e->paint), e->text);
	}
	/* Behind the oldest there is nothing. */
	ui->back -= skip;
}

static void draw_session(const struct watch *w, const struct link *l, int y, int cols)
{
	_cleanup_free_ char *agent = recorded_visible(card_str(l->info, "agent"));
	_cleanup_free_ char *where = recorded_visible(card_str(l->info, "workspace"));
	char text[512];

	snprintf(text, sizeof(text), "%-8s %-6s %-10.10s %3zu wait  %5lld denied  %8lld records  %.200s",
		 l->ref.id, card_str(l->info, "level"), agent ? agent : "", items_open(w, l),
		 (long long)json_integer_value(json_object_get(l->info, "denied")),
		 (long long)json_integer_value(json_object_get(l->info, "records")), where ? where : "");
	screen_put(y, 1, cols - 1, 0, text);
}

static void draw_sessions(const struct ui *ui, const struct box *b)
{
	int y = b->y + 1;

	screen_rule(b->y, b->cols, rule_attr(ui, FOCUS_SESSIONS), "Sessions");
	for (const struct link *l = ui->w->links; l && y < b->y + b->rows; l = l->next)
		if (l->fd >= 0 && l->info)
			draw_session(ui->w, l, y++, b->cols);
	if (y == b->y + 1)
		screen_put(y, 1, b->cols - 1, screen_dim(), "no session runs");
}

/* --- the whole
 * ------------------------------------------------------------------------------------------------ */

static size_t sessions_up(const struct watch *w)
{
	size_t n = 0;

	for (const struct link *l = w->links; l; l = l->next)
		n += l->fd >= 0 && l->info != NULL;
	return n;
}

static void draw_top(const struct ui *ui, int cols)
{
	const struct link *l = ui->w->links;
	char text[160];

	if (ui->w->only_card) {
		snprintf(text, sizeof(text), " pale asks: may the agent do this?");
		if (l && l->others > 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "   (%zu more wait)",
				 l->others);
	} else {
		snprintf(text, sizeof(text), " pale watch   %zu wait%s   %zu session%s",
			 items_open(ui->w, NULL), items_open(ui->w, NULL) == 1 ? "s" : "", sessions_up(ui->w),
			 sessions_up(ui->w) == 1 ? "" : "s");
	}
	screen_put(0, 0, cols, screen_reverse(), text);
}

/* A line is edited at the bottom, not in the dialog. */
static bool is_bottom_line(const struct ui *ui)
{
	return ui->mode == UI_EDIT && (ui->editing == EDIT_REASON || ui->editing == EDIT_FILTER);
}

static void draw_bottom(struct ui *ui, int y, int cols)
{
	if (is_bottom_line(ui)) {
		const char *label = ui->editing == EDIT_REASON ? "tell the agent: " : "/";

		screen_put(y, 0, cols, screen_bold(), label);
		edit_draw(&ui->edit, y, (int)strlen(label), cols - (int)strlen(label));
		return;
	}
	if (ui->status[0])
		screen_put(y, 0, cols, screen_bold(), ui->status);
	else
		screen_put(y, 0, cols, 0, ui_keys_line(ui));
}

static void draw_low(struct ui *ui, struct box b)
{
	struct box list;

	if (ui->focus == FOCUS_DECISIONS) {
		draw_decisions(ui, &b);
		return;
	}
	if (ui->focus == FOCUS_SESSIONS) {
		draw_sessions(ui, &b);
		return;
	}
	if (ui->w->n_items != 1) {
		list = take_rows(&b,
				 ui->w->n_items < 3 ? (int)ui->w->n_items + (ui->w->n_items == 0) + 1 : 3);
		draw_items(ui, &list);
	}
	draw_card(ui, b);
}

static void draw_panes(struct ui *ui, struct box b)
{
	int items = ui->w->n_items > 0 ? (int)ui->w->n_items : 1, most = b.rows / 4;
	size_t up = sessions_up(ui->w);
	int sessions = up > 4 ? 4 : up ? (int)up : 1, decisions = b.rows / 5 > 4 ? b.rows / 5 : 4;
	struct box part;

	if (b.rows < LOW_ROWS - 2) {
		draw_low(ui, b);
		return;
	}
	if (ui->focus == FOCUS_DECISIONS || !ui->item)
		decisions = b.rows / 2;
	part = take_rows(&b, 1 + (items < most ? items : most));
	draw_items(ui, &part);
	part = take_rows(&b, b.rows - decisions - sessions - 1);
	draw_card(ui, part);
	part = take_rows(&b, decisions);
	draw_decisions(ui, &part);
	draw_sessions(ui, &b);
}

void ui_draw(struct ui *ui)
{
	struct box b = { 1, 0, LINES - 2, COLS };

	(void)erase();
	(void)curs_set(ui->mode == UI_EDIT);
	if (LINES < SCREEN_MIN_ROWS || COLS < SCREEN_MIN_COLS) {
		screen_put(0, 0, COLS, 0, "too small: 40x10 at least");
		(void)refresh();
		return;
	}
	draw_top(ui, COLS);
	/* What is drawn last has the cursor. */
	if (!is_bottom_line(ui))
		draw_bottom(ui, LINES - 1, COLS);
	if (ui->mode == UI_HELP)
		ui_help_draw(&b);
	else if (ui->w->only_card || grant_is_long(ui, b.cols))
		draw_card(ui, b);
	else
		draw_panes(ui, b);
	if (is_bottom_line(ui))
		draw_bottom(ui, LINES - 1, COLS);
	(void)refresh();
}
