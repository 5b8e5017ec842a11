/*
 * pale watch: the operator's screen.
 *
 *   cards.c   what waits in all sessions, which of it is shown, and the decisions
 *   answer.c  keys that answer: what they ask first, and what became of it
 *   draw.c    the screen as a whole;  screen.c  ncurses;  pad.c  a text that is read to its end
 *   main.c    the other keys, the loop, the command
 *
 * One thread.  Everything from a session is a stranger's text: it reaches the screen as printable ASCII only,
 * at places of our choosing.
 */
#ifndef PALE_WATCH_H
#define PALE_WATCH_H

#include <ncurses.h>

#include "tools/base/loop.h"
#include "tools/cards/card.h"
#include "tools/sessions/follow.h"

#define SCREEN_MIN_ROWS 10
#define SCREEN_MIN_COLS 40
#define CLOSED_NS	(2 * NS_PER_S) /* how long one card alone tells how it ended */
#define DECISIONS_KEPT	64
#define RULE_MAX	1024
#define CTRL(c)		((c)&0x1f)

/* --- pad.c: a text in rows of the screen's width, of which some are seen ----------------------------------
 */

struct pad {
	struct card_text text;
	WINDOW *rows; /* NULL before it is drawn, and where there is no memory for it */
	int n, cols, top, height;
	bool seen_end; /* its last row was on the screen */
};

/* Takes the text over. */
void pad_set(struct pad *p, struct card_text *text);
/* Draws it there, the last row of which says where one is where that is not all; notes what was seen. */
void pad_draw(struct pad *p, int y, int height, int cols);
void pad_move(struct pad *p, int rows);

/* --- screen.c ---------------------------------------------------------------------------------------------
 */

/* 0, or -ENOTTY where this terminal cannot do it. */
int screen_start(void);
/* The terminal is another program's, or another prompt's, between these two. */
void screen_leave(void);
void screen_back(void);
/* Printable ASCII, clipped at cols with a mark; blanks fill the rest where attr is reverse. */
void screen_put(int y, int x, int cols, attr_t attr, const char *text);
/* A line across with a title in it. */
void screen_rule(int y, int cols, const char *title);
attr_t screen_paint(enum paint p);
/* That of a risk, by the word that a text begins with. */
attr_t screen_risk(const char *text);

/* --- what is shown ----------------------------------------------------------------------------------------
 */

/* What the pad holds. */
enum view { VIEW_CARD, VIEW_RULE, VIEW_HELP };

struct watch {
	struct follow follow;
	const char *only; /* one card alone: how its id begins; or NULL */
	json_t *cards;	  /* open ones of all sessions, each with its "session" */
	json_t *card;	  /* as it stands in the pad, so that is what an answer's digest is of; or NULL */
	struct pad pad;
	enum view view;
	bool closed;			/* that card was answered, or its session has ended */
	bool stale;			/* cards are to be read again */
	bool failed;			/* those of a session could not be read */
	bool group;			/* the next answer is for all that are alike */
	bool quit, dirty;		/* dirty: to be drawn */
	char rule[RULE_MAX], until[11]; /* a wider answer, before it is given */
	uint64_t dead_ns;		/* no key answers before */
	uint64_t touched_ns, listed_ns, started_ns, ends_ns, expired_ns;
	char status[256];
	uint64_t status_ns;
	size_t first; /* topmost card of the list */
	struct decision_line {
		char *text; /* owned, printable ASCII */
		enum paint paint;
	} decisions[DECISIONS_KEPT]; /* a ring: the n-th is at n % DECISIONS_KEPT */
	uint64_t n_decisions;
};

void watch_say(struct watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- cards.c ----------------------------------------------------------------------------------------------
 */

/* Sets what the sessions' notifications call. */
void cards_begin(struct watch *w);
/* Reads the cards anew where that is due, and sees to it that the right one is shown. */
void cards_tick(struct watch *w);
void cards_done(struct watch *w);
/* Where the shown card stands in the list, -1: nowhere. */
int cards_at(const struct watch *w);
size_t sessions_up(const struct watch *w);
/* A connection to the session of the shown card, or -errno. */
int card_open(const struct watch *w);
/* Somebody is here and reads: the question waits longer. */
void card_touch(struct watch *w);
enum chosen_by { CHOSEN_BY_HUMAN, CHOSEN_BY_ITSELF };
/* Shows that card, which may be NULL.  Where nobody asked for it what was typed before is discarded. */
void card_choose(struct watch *w, json_t *card, enum chosen_by by);
/* Back to the card, from its start. */
void card_show(struct watch *w);

/* --- answer.c ---------------------------------------------------------------------------------------------
 */

void answer_once(struct watch *w, int key);
void answer_deny(struct watch *w, int key);
/* The same with a reason, which is asked for. */
void answer_deny_tell(struct watch *w, int key);
void answer_group(struct watch *w, int key);
/* Shows the rule that the card offers under this digit, or one from the editor. */
void answer_rule(struct watch *w, int key);
void answer_edit(struct watch *w, int key);
/* Gives what is shown: s for the session, p for the project, A always. */
void answer_grant(struct watch *w, int key);

/* --- draw.c -----------------------------------------------------------------------------------------------
 */

void watch_draw(struct watch *w);

#endif
