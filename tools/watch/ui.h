/*
 * The full screen of pale watch: state, panes, dialogs.  Included by tools/watch/ alone.
 */
#ifndef PALE_WATCH_UI_H
#define PALE_WATCH_UI_H

#include "tools/watch/watch.h"

#define SCREEN_MIN_ROWS 10
#define SCREEN_MIN_COLS 40
/* After a card came under the cursor by itself no key answers it for so long: what was typed was not for it.
 */
#define DEAD_NS (WATCH_S / 2)

/* --- screen.c: what of ncurses everybody uses ------------------------------------------------------------
 */

struct box {
	int y, x, rows, cols;
};

/* 0, or -ENOTTY where this terminal cannot do it. */
int screen_start(void);
void screen_end(void);
/* The terminal is another program's, or another prompt's, between these two. */
void screen_leave(void);
void screen_back(void);
/* Printable ASCII, clipped at cols with a mark; blanks fill the rest where attr is reverse. */
void screen_put(int y, int x, int cols, unsigned attr, const char *text);
/* A line across with a title in it. */
void screen_rule(int y, int cols, unsigned attr, const char *title);
unsigned screen_paint(enum paint p);
unsigned screen_bold(void);
unsigned screen_dim(void);
unsigned screen_reverse(void);
/* Discards what was typed and not read. */
void screen_flush_keys(void);

/* --- pager.c: one card's text in rows
 * ----------------------------------------------------------------------- */

#define PAGER_INDENT 13

struct pager {
	struct card_text text;
	struct pager_row {
		size_t line, from, len;
	} * row;
	size_t n, top;
	int cols;      /* that rows were made for */
	size_t height; /* rows shown last */
	bool seen_end; /* its last row was on the screen */
};

void pager_set(struct pager *p, const json_t *card);
void pager_done(struct pager *p);
/* Draws into the box, the last line of which says where one is; notes what was seen. */
void pager_draw(struct pager *p, const struct box *b);
/* By rows; pages overlap by one row. */
void pager_move(struct pager *p, long rows);
long pager_page(const struct pager *p);

/* --- edit.c: one line of input
 * --------------------------------------------------------------------------------- */

#define EDIT_MAX 1024

struct edit {
	char buf[EDIT_MAX];
	size_t len, pos;
};

enum edit_said { EDIT_MORE, EDIT_CHANGED, EDIT_DONE, EDIT_CANCEL };

void edit_set(struct edit *e, const char *text);
enum edit_said edit_key(struct edit *e, int key);
/* Draws the text, escaped, and places the cursor. */
void edit_draw(const struct edit *e, int y, int x, int cols);

/* --- ui.c
 * ------------------------------------------------------------------------------------------------------- */

enum focus { FOCUS_CARDS, FOCUS_CARD, FOCUS_DECISIONS, FOCUS_SESSIONS, FOCUSES };
enum ui_mode { UI_NORMAL, UI_HELP, UI_GRANT, UI_EDIT };
/* What the line being edited is for. */
enum edit_of { EDIT_RULE, EDIT_UNTIL, EDIT_REASON, EDIT_FILTER };

/* A wider answer, before it is given. */
struct grant_dialog {
	const char *scope;
	char rule[EDIT_MAX], until[11];
	bool seen; /* all of this rule was on the screen: only then it may be granted */
	size_t offer;
};

struct ui {
	struct watch *w;
	enum focus focus;
	enum ui_mode mode;
	struct item *item; /* under the cursor, or NULL */
	struct pager pager;
	struct grant_dialog grant;
	struct edit edit;
	enum edit_of editing;
	uint64_t dead_ns; /* no key answers before */
	bool group;	  /* the next answer is for all that are alike */
	char filter[64];
	bool routine; /* what rules allowed is shown too */
	size_t back;  /* decisions scrolled back */
	size_t first; /* topmost card of the list */
	char status[256];
	uint64_t status_ns;
	bool quit, dirty;
	/* --card: when it began, closes by itself, was seen to be over its time. */
	uint64_t started_ns, ends_ns, expired_ns;
	bool answered;
};

void ui_say(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum chosen_by { CHOSEN_BY_HUMAN, CHOSEN_BY_ITSELF };
void ui_choose(struct ui *ui, struct item *it, enum chosen_by by);
/* The card may be answered now; else false after saying why not. */
bool ui_may_answer(struct ui *ui);
/* Answers the chosen card.  rule and reason may be NULL. */
void ui_answer(struct ui *ui, const char *decision, const char *scope, const char *rule, const char *reason);

/* draw.c */
void ui_draw(struct ui *ui);
/* "a once", ... for the line at the bottom. */
const char *ui_keys_line(const struct ui *ui);

/* keys.c */
void ui_key(struct ui *ui, int key);
void ui_help_draw(const struct box *b);

/* dialog.c */
void grant_open(struct ui *ui, const char *scope);
void grant_close(struct ui *ui);
void grant_key(struct ui *ui, int key);
void grant_draw(struct ui *ui, const struct box *b);
/* How many rows it wants at this width, 0 where there is none; and where all of the screen may be too few. */
int grant_rows(const struct ui *ui, int cols);
bool grant_is_long(const struct ui *ui, int cols);
/* One line of input about something. */
void edit_open(struct ui *ui, enum edit_of what, const char *text);
void edit_take(struct ui *ui, int key);

#endif
