/*
 * Keys by table: what they do, whether they answer, and the help that is made from it.
 */
#include <ncurses.h>
#include <string.h>

#include "tools/watch/ui.h"

#define CTRL(c) ((c)&0x1f)

/* --- moving ----------------------------------------------------------------------------------------------
 */

static void move_card(struct ui *ui, long by)
{
	const struct watch *w = ui->w;

	for (size_t i = 0; i < w->n_items; i++) {
		if (w->items[i] != ui->item)
			continue;
		if ((by < 0 && i > 0) || (by > 0 && i + 1 < w->n_items))
			ui_choose(ui, w->items[by < 0 ? i - 1 : i + 1], CHOSEN_BY_HUMAN);
		return;
	}
}

static void move_by(struct ui *ui, long rows)
{
	if (ui->focus == FOCUS_DECISIONS) {
		/* Up is back in time. */
		if (rows < 0)
			ui->back += (size_t)-rows;
		else
			ui->back -= (size_t)rows < ui->back ? (size_t)rows : ui->back;
		return;
	}
	if (ui->focus == FOCUS_CARDS && !ui->w->only_card && (rows == 1 || rows == -1)) {
		move_card(ui, rows);
		return;
	}
	pager_move(&ui->pager, rows);
}

static void key_up(struct ui *ui)
{
	move_by(ui, -1);
}

static void key_down(struct ui *ui)
{
	move_by(ui, 1);
}

static void key_page_up(struct ui *ui)
{
	move_by(ui, -pager_page(&ui->pager));
}

static void key_page_down(struct ui *ui)
{
	move_by(ui, pager_page(&ui->pager));
}

static void key_home(struct ui *ui)
{
	move_by(ui, -(1L << 30));
}

static void key_end(struct ui *ui)
{
	move_by(ui, 1L << 30);
}

static void key_tab(struct ui *ui)
{
	ui->focus = (ui->focus + 1) % FOCUSES;
	ui->back = 0;
}

static void key_enter(struct ui *ui)
{
	if (!ui->w->only_card)
		ui->focus = ui->focus == FOCUS_CARDS ? FOCUS_CARD : FOCUS_CARDS;
}

static void key_next(struct ui *ui)
{
	move_card(ui, 1);
}

static void key_previous(struct ui *ui)
{
	move_card(ui, -1);
}

static void key_help(struct ui *ui)
{
	ui->mode = UI_HELP;
}

static void key_filter(struct ui *ui)
{
	edit_open(ui, EDIT_FILTER, ui->filter);
}

static void key_routine(struct ui *ui)
{
	ui->routine = !ui->routine;
	ui->back = 0;
}

static void key_quit(struct ui *ui)
{
	ui->quit = true;
}

static void key_redraw(struct ui *ui)
{
	(void)ui;
	(void)clearok(stdscr, TRUE);
}

/* --- answering --------------------------------------------------------------------------------------------
 */

static void key_once(struct ui *ui)
{
	ui_answer(ui, "approved", "once", NULL, NULL);
}

static void key_session(struct ui *ui)
{
	grant_open(ui, "session");
}

static void key_project(struct ui *ui)
{
	grant_open(ui, "project");
}

static void key_always(struct ui *ui)
{
	grant_open(ui, "always");
}

static void key_deny(struct ui *ui)
{
	ui_answer(ui, "denied", "once", NULL, NULL);
}

static void key_deny_tell(struct ui *ui)
{
	edit_open(ui, EDIT_REASON, "");
}

static void key_group(struct ui *ui)
{
	ui->group = !ui->group;
	ui_say(ui, "%s", ui->group ? "the next answer is for all that wait and are alike" : "one at a time");
}

enum key_kind { KEY_ANSWERS = 1, KEY_LISTS = 2 /* not where one card is alone */ };

static const struct key {
	int keys[3];
	const char *name, *help;
	void (*run)(struct ui *ui);
	unsigned kind;
} table[] = {
	{ { 'a' }, "a", "allow, this once", key_once, KEY_ANSWERS },
	{ { 's' }, "s", "allow a rule until the session ends", key_session, KEY_ANSWERS },
	{ { 'p' }, "p", "allow a rule for this project until a date", key_project, KEY_ANSWERS },
	{ { 'A' }, "A", "allow a rule always", key_always, KEY_ANSWERS },
	{ { 'd' }, "d", "deny", key_deny, KEY_ANSWERS },
	{ { 'D' }, "D", "deny, and tell the agent why", key_deny_tell, KEY_ANSWERS },
	{ { 'g' }, "g", "the next answer is for all that are alike", key_group, KEY_ANSWERS },
	{ { ' ', KEY_NPAGE, CTRL('d') }, "Space", "read on, a page", key_page_down, 0 },
	{ { 'b', KEY_PPAGE, CTRL('u') }, "b", "a page back", key_page_up, 0 },
	{ { 'j', KEY_DOWN }, "j, down", "down: the next question, or a line", key_down, 0 },
	{ { 'k', KEY_UP }, "k, up", "up", key_up, 0 },
	{ { KEY_HOME, '<' }, "Home", "to the top", key_home, 0 },
	{ { KEY_END, 'G', '>' }, "End, G", "to the end", key_end, 0 },
	{ { 'n' }, "n", "the next question", key_next, KEY_LISTS },
	{ { 'N' }, "N", "the question before", key_previous, KEY_LISTS },
	{ { '\t' }, "Tab", "the next pane", key_tab, KEY_LISTS },
	{ { '\r', '\n', KEY_ENTER }, "Enter", "between the list and the text", key_enter, KEY_LISTS },
	{ { '/' }, "/", "show decisions with this text only", key_filter, KEY_LISTS },
	{ { 'v' }, "v", "show all decisions, or those denied and asked", key_routine, KEY_LISTS },
	{ { CTRL('l') }, "Ctrl-L", "draw anew", key_redraw, 0 },
	{ { '?', KEY_F(1) }, "?", "this help", key_help, 0 },
	{ { 'q', CTRL('c'), KEY_F(10) }, "q", "leave; what waits goes on waiting", key_quit, 0 },
};

static bool key_is(const struct key *k, int key)
{
	for (size_t i = 0; i < NELEM(k->keys); i++)
		if (k->keys[i] && k->keys[i] == key)
			return true;
	return false;
}

static void normal_key(struct ui *ui, int key)
{
	for (size_t i = 0; i < NELEM(table); i++) {
		const struct key *k = &table[i];

		if (!key_is(k, key))
			continue;
		if ((k->kind & KEY_LISTS) && ui->w->only_card)
			return;
		/* Somebody is here and reads: the question waits longer. */
		if (ui->item && k->run != key_quit)
			item_touch(ui->w, ui->item);
		if (!(k->kind & KEY_ANSWERS) || ui_may_answer(ui))
			k->run(ui);
		return;
	}
}

void ui_key(struct ui *ui, int key)
{
	switch (ui->mode) {
	case UI_HELP:
		ui->mode = UI_NORMAL;
		return;
	case UI_EDIT:
		edit_take(ui, key);
		return;
	case UI_GRANT:
		grant_key(ui, key);
		return;
	case UI_NORMAL:
		normal_key(ui, key);
		return;
	}
}

const char *ui_keys_line(const struct ui *ui)
{
	if (ui->mode == UI_HELP)
		return "any key goes back";
	if (ui->mode != UI_NORMAL)
		return "Enter grant  up/down choose  e edit  Esc back";
	if (!ui->item)
		return "Tab panes  / filter  ? help  q quit";
	if (ui->item->closed_ns)
		return "";
	if (!ui->pager.seen_end)
		return "Space read on: it is answered at its end  ? help  q quit";
	return ui->group ? "for all alike:  a allow  s session  p project  A always  d deny  D tell  g one"
			 : "a allow once  s session  p project  A always  d deny  D tell  g all  ? q";
}

void ui_help_draw(const struct box *b)
{
	int half = b->cols >= 100 && b->rows < (int)NELEM(table) ? b->cols / 2 : b->cols;

	for (size_t i = 0; i < NELEM(table); i++) {
		int y = (int)i % b->rows, x = half < b->cols ? (int)i / b->rows * half : 0;
		char text[128];

		if (half == b->cols && (int)i >= b->rows)
			break;
		snprintf(text, sizeof(text), " %-8s %s", table[i].name, table[i].help);
		screen_put(b->y + y, x, half, 0, text);
	}
}
