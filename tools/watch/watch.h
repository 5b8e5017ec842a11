/*
 * pale watch: the operator's screen.
 *
 *   cards.c        what waits in all sessions, which of it is shown, and the decisions
 *   answer_keys.c  keys that answer: what they ask first, and what became of it
 *   draw.c         the screen as a whole;  screen.c  ncurses;  pad.c  a text that is read to its end
 *   watch.c        the other keys, the loop, the command
 *
 * There is one thread.  Text from a session is untrusted: it reaches the screen as printable ASCII only, at
 * places that pale chooses.
 */
#ifndef PALE_WATCH_H
#define PALE_WATCH_H

#include <ncurses.h>

#include "policy/grant/grant_file.h"
#include "policy/system/system.h"

#include "tools/base/loop.h"
#include "tools/base/output.h"
#include "tools/cards/card.h"
#include "tools/sessions/follow.h"

#define SCREEN_MIN_ROWS 10
#define SCREEN_MIN_COLS 40
#define CLOSED_NS	(2 * NS_S) /* how long a single card shows how it ended */
#define DECISIONS_KEPT	64
#define RULE_MAX	1024
#define CTRL(c)		((c)&0x1f)

/* --- pad.c: a text in rows of the screen's width, some of which are visible --------------------------- */

struct pad {
	struct card_text text;
	WINDOW *rows; /* NULL before it is drawn, and without memory */
	int n, cols, top, height;
	bool seen_end; /* its last row was on the screen */
};

/* Takes ownership of the text. */
void pad_set(struct pad *p, struct card_text *text);
/* Draws the text there; if not all of it fits, the last row shows the position.  Notes whether the end was
 * seen. */
void pad_draw(struct pad *p, int y, int height, int cols);
void pad_move(struct pad *p, int rows);

/* --- screen.c ----------------------------------------------------------------------------------------- */

/* Starts ncurses: 0, or -ENOTTY if this terminal cannot be used. */
int screen_start(void);
/* Between these two calls the terminal is free for another program or prompt. */
void screen_leave(void);
void screen_back(void);
/* Writes printable ASCII, clipped at cols with a mark; if attr is reverse, blanks fill the rest. */
void screen_put(int y, int x, int cols, attr_t attr, const char *text);
/* Draws a horizontal line with a title in it. */
void screen_rule(int y, int cols, const char *title);
attr_t screen_paint(enum paint p);
/* The attribute of a risk, by the first word of the text. */
attr_t screen_risk(const char *text);

/* --- what is shown ------------------------------------------------------------------------------------ */

/* What the pad shows. */
enum view { VIEW_CARD, VIEW_RULE, VIEW_HELP };

struct watch {
	struct follow follow;
	const char *only; /* to show a single card: the prefix of its id; or NULL */
	json_t *cards;	  /* open cards of all sessions, each with its "session" */
	json_t *card;	  /* the card in the pad, of which an answer has the digest; or NULL */
	struct pad pad;
	enum view view;
	bool closed;				 /* that card was answered, or its session has ended */
	bool stale;				 /* the cards must be read again */
	bool failed;				 /* the cards of a session could not be read */
	bool group;				 /* the next answer is for all similar cards */
	bool quit, dirty;			 /* dirty: must be drawn */
	char rule[RULE_MAX], until[GRANT_UNTIL]; /* a wider answer that is prepared */
	uint64_t dead_ns;			 /* no key answers before this time */
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

/* --- cards.c ------------------------------------------------------------------------------------------ */

/* Sets the callbacks for the sessions' notices. */
void cards_begin(struct watch *w);
/* Reads the cards again when needed, and chooses the card to show. */
void cards_tick(struct watch *w);
void cards_done(struct watch *w);
/* The index of the shown card in the list, or -1. */
int cards_at(const struct watch *w);
size_t sessions_up(const struct watch *w);
/* A connection to the session of the shown card, or -errno. */
int card_open(const struct watch *w);
/* Tells the helper that the operator is reading, so that the question waits longer. */
void card_touch(struct watch *w);
enum chosen_by { CHOSEN_BY_HUMAN, CHOSEN_BY_ITSELF };
/* Shows that card, which may be NULL.  If the operator did not choose it, keys typed before are
 * discarded. */
void card_choose(struct watch *w, json_t *card, enum chosen_by by);
/* Shows the card again, from its start. */
void card_show(struct watch *w);

/* --- answer_keys.c ------------------------------------------------------------------------------------ */

void answer_once(struct watch *w, int key);
void answer_deny(struct watch *w, int key);
/* The same with a reason, for which it prompts. */
void answer_deny_tell(struct watch *w, int key);
void answer_group(struct watch *w, int key);
/* Shows the rule that the card offers under this digit, or one from the editor. */
void answer_rule(struct watch *w, int key);
void answer_edit(struct watch *w, int key);
/* Grants the rule that is shown: m for 15 minutes, h for an hour, s for the session, p for the project, A
 * always. */
void answer_grant(struct watch *w, int key);

/* --- draw.c ------------------------------------------------------------------------------------------- */

void watch_draw(struct watch *w);

#endif
