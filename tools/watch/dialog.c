/*
 * What asks back: a wider answer shows the rule that it would write and whom it holds for, and can be edited;
 * a denial may say why.
 */
#include <ncurses.h>
#include <string.h>
#include <time.h>

#include "tools/watch/ui.h"

#define DIALOG_ROWS  5
#define HEAD_ROWS    2 /* whom it is for, and the section */
#define LONG_RULE    3
#define TEXT_COLS    500
#define PROJECT_DAYS 30

/* --- one line of input ------------------------------------------------------------------------------------
 */

void edit_open(struct ui *ui, enum edit_of what, const char *text)
{
	ui->mode = UI_EDIT;
	ui->editing = what;
	edit_set(&ui->edit, text);
}

static void edit_done(struct ui *ui)
{
	struct grant_dialog *g = &ui->grant;

	switch (ui->editing) {
	case EDIT_RULE:
		ui->mode = UI_GRANT;
		return;
	case EDIT_UNTIL:
		ui->mode = UI_GRANT;
		snprintf(g->until, sizeof(g->until), "%.10s", ui->edit.buf);
		return;
	case EDIT_FILTER:
		ui->mode = UI_NORMAL;
		snprintf(ui->filter, sizeof(ui->filter), "%.60s", ui->edit.buf);
		return;
	case EDIT_REASON:
		ui->mode = UI_NORMAL;
		if (ui_may_answer(ui))
			ui_answer(ui, "denied", "once", NULL, ui->edit.buf);
		return;
	}
}

void edit_take(struct ui *ui, int key)
{
	bool dialog = ui->editing == EDIT_RULE || ui->editing == EDIT_UNTIL;

	switch (edit_key(&ui->edit, key)) {
	case EDIT_DONE:
		edit_done(ui);
		return;
	case EDIT_CANCEL:
		ui->mode = dialog ? UI_GRANT : UI_NORMAL;
		if (ui->editing == EDIT_FILTER)
			ui->filter[0] = '\0';
		return;
	case EDIT_CHANGED:
		if (ui->editing == EDIT_RULE) {
			ui->grant.seen = false;
			snprintf(ui->grant.rule, sizeof(ui->grant.rule), "%s", ui->edit.buf);
		}
		if (ui->editing == EDIT_FILTER)
			snprintf(ui->filter, sizeof(ui->filter), "%.60s", ui->edit.buf);
		return;
	case EDIT_MORE:
		return;
	}
}

/* --- a wider answer
 * ------------------------------------------------------------------------------------------- */

static const json_t *offers_of(const struct ui *ui)
{
	return json_object_get(ui->item->card, "offers");
}

static size_t offers_n(const struct ui *ui)
{
	return json_array_size(json_object_get(offers_of(ui), "lines"));
}

static void take_offer(struct ui *ui, size_t i)
{
	const char *line = json_string_value(json_array_get(json_object_get(offers_of(ui), "lines"), i));

	ui->grant.offer = i;
	ui->grant.seen = false;
	/* What is longer than a policy line is no offer: no part of it is granted for the whole. */
	snprintf(ui->grant.rule, sizeof(ui->grant.rule), "%s",
		 line && strlen(line) < sizeof(ui->grant.rule) ? line : "");
}

void grant_open(struct ui *ui, const char *scope)
{
	struct grant_dialog *g = &ui->grant;
	time_t then = time(NULL) + PROJECT_DAYS * 24 * 3600;
	struct tm tm;

	*g = (struct grant_dialog){ .scope = scope };
	if (strcmp(scope, "project") == 0 && localtime_r(&then, &tm))
		(void)strftime(g->until, sizeof(g->until), "%Y-%m-%d", &tm);
	ui->mode = UI_GRANT;
	take_offer(ui, 0);
}

void grant_close(struct ui *ui)
{
	ui->mode = UI_NORMAL;
}

static void grant_give(struct ui *ui)
{
	struct grant_dialog *g = &ui->grant;

	if (!g->rule[0]) {
		ui_say(ui, "no rule may stand for this question: allow it once, or write one with e");
		return;
	}
	if (!g->seen) {
		ui_say(ui, "not all of the rule fits on this screen: make it larger, or write a shorter one");
		return;
	}
	grant_close(ui);
	if (ui_may_answer(ui))
		ui_answer(ui, "approved", g->scope, g->rule, NULL);
}

void grant_key(struct ui *ui, int key)
{
	struct grant_dialog *g = &ui->grant;
	size_t n = offers_n(ui);

	if (key == '\r' || key == '\n' || key == KEY_ENTER)
		grant_give(ui);
	else if (key == 27 || key == 'q')
		grant_close(ui);
	else if (key == 'e')
		edit_open(ui, EDIT_RULE, g->rule[0] ? g->rule : "allow = ");
	else if (key == 't' && strcmp(g->scope, "project") == 0)
		edit_open(ui, EDIT_UNTIL, g->until);
	else if ((key == KEY_DOWN || key == 'j' || key == '\t') && g->offer + 1 < n)
		take_offer(ui, g->offer + 1);
	else if ((key == KEY_UP || key == 'k') && g->offer > 0 && g->offer <= n)
		take_offer(ui, g->offer - 1);
}

/* --- drawn
 * ---------------------------------------------------------------------------------------------------- */

/* How much of a text stands on one row; what goes on stands behind a bar. */
static size_t row_cols(int cols)
{
	return cols - 4 > TEXT_COLS ? TEXT_COLS : cols > 12 ? (size_t)cols - 4 : 8;
}

/* Rows of the rule as it is shown. */
static size_t rule_rows(const struct ui *ui, int cols)
{
	_cleanup_free_ char *rule = text_visible(ui->grant.rule);
	size_t width = row_cols(cols), len = rule ? strlen(rule) : 0;

	return len ? (len + width - 1) / width : 1;
}

static bool is_open(const struct ui *ui)
{
	bool edits = ui->mode == UI_EDIT && (ui->editing == EDIT_RULE || ui->editing == EDIT_UNTIL);

	return ui->item && (ui->mode == UI_GRANT || edits);
}

int grant_rows(const struct ui *ui, int cols)
{
	int rows = HEAD_ROWS + (int)rule_rows(ui, cols);

	if (!is_open(ui))
		return 0;
	return rows > DIALOG_ROWS ? rows : DIALOG_ROWS;
}

bool grant_is_long(const struct ui *ui, int cols)
{
	return is_open(ui) && rule_rows(ui, cols) > LONG_RULE;
}

/* Draws text over as many rows as it takes; false where some of it is missing. */
static bool put_wrapped(const struct box *b, int y, unsigned attr, const char *text)
{
	size_t len = strlen(text), width = row_cols(b->cols), from = 0;

	for (; from < len && y < b->y + b->rows; from += width) {
		char part[TEXT_COLS + 1];

		snprintf(part, sizeof(part), "%.*s", (int)width, text + from);
		if (from > 0)
			(void)mvaddch(y, 1, ACS_VLINE | A_DIM);
		screen_put(y++, 2, (int)width, attr, part);
	}
	return from >= len;
}

static void draw_rule(struct ui *ui, const struct box *b, int y)
{
	struct grant_dialog *g = &ui->grant;
	_cleanup_free_ char *rule = text_visible(g->rule);
	_cleanup_free_ char *none = recorded_visible(card_str(offers_of(ui), "why_none"));

	if (ui->mode == UI_EDIT && ui->editing == EDIT_RULE)
		return;
	if (g->rule[0] && rule)
		g->seen = put_wrapped(b, y, screen_bold(), rule);
	else
		(void)put_wrapped(b, y, 0, rule && none ? none : "out of memory");
}

static void draw_title(const struct ui *ui, const struct box *b)
{
	const struct grant_dialog *g = &ui->grant;
	char title[160];

	if (strcmp(g->scope, "session") == 0)
		snprintf(title, sizeof(title), "Allow until this session ends");
	else if (strcmp(g->scope, "project") == 0)
		snprintf(title, sizeof(title), "Allow until %s for this agent in this project (t: the date)",
			 g->until);
	else
		snprintf(title, sizeof(title), "Allow for this agent always, until it is revoked");
	screen_rule(b->y, b->cols, screen_paint(PAINT_YELLOW), title);
}

void grant_draw(struct ui *ui, const struct box *b)
{
	_cleanup_free_ char *section = recorded_visible(card_str(offers_of(ui), "section"));
	int y = b->y + 1, rule;
	size_t n = offers_n(ui);
	char text[128];

	draw_title(ui, b);
	snprintf(text, sizeof(text), "[%.32s]%s", section ? section : "",
		 n > 1 ? "   up, down: narrower and wider rules; e: write your own" : "   e: write your own");
	screen_put(y++, 2, b->cols - 4, screen_dim(), text);
	rule = y;
	draw_rule(ui, b, y);
	if (ui->mode != UI_EDIT)
		return;
	if (ui->editing == EDIT_RULE)
		edit_draw(&ui->edit, rule, 2, b->cols - 4);
	else
		edit_draw(&ui->edit, b->y + b->rows - 1, 2, 12);
}
