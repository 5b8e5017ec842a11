/*
 * pale watch: the operator's screen.  Included by tools/watch/ alone.
 *
 *   feed.c    sessions come and go; calls and notifications over their control sockets, nothing blocks
 *   model.c   what is known: cards, decisions
 *   answer.c  the way of one answer
 *   screen.c  ncurses, colours;  draw.c  panes;  pager.c  one card's text;  dialog.c  what asks back
 *   keys.c    keys by table;  edit.c  one line of input
 *
 * One thread and one poll(2).  Everything from a session is text of strangers: it reaches the screen as
 * printable ASCII only, at places of our choosing.
 */
#ifndef PALE_WATCH_H
#define PALE_WATCH_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/card.h"
#include "tools/tools.h"

#define ITEM_ID	      65
#define RECORDS_KEPT  1000
#define CLOSED_NS     (2 * WATCH_S) /* how long a card tells how it ended */
#define WATCH_S	      1000000000ull
#define WATCH_TICK_MS 200

struct watch;
struct link;

/* --- model.c -------------------------------------------------------------------------------------------- */

/* An answer, as its human means it. */
struct reply {
	const char *decision; /* static: "approved" or "denied" */
	const char *scope;    /* static: once, session, project, always */
	char *rule;	      /* owned, or NULL: the first offer */
	char *reason;	      /* owned, or NULL */
	char until[11];	      /* project: YYYY-MM-DD */
	bool group;
	json_t *proof; /* what stepup_confirm() said; owned, wiped; or NULL */
};

/* A question of one session. */
struct item {
	struct link *link; /* NULL once the session is gone */
	char session[SESSION_ID_MAX], id[ITEM_ID];
	json_t *card;
	struct reply *reply; /* on its way; NULL otherwise */
	bool listed;
	uint64_t appeared_ns, closed_ns; /* closed_ns 0: open */
	uint64_t touched_ns;
	char outcome[160]; /* of a closed one: "approved once by ana" */
};

/* A decision, as a line. */
struct entry {
	char *text; /* owned, printable ASCII */
	enum paint paint;
	bool is_routine; /* allowed by a rule, and nobody was asked */
};

/* What a surface wants to know; any may be NULL. */
struct sink {
	void (*opened)(struct watch *w, struct item *it);
	void (*changed)(struct watch *w, struct item *it); /* it asks for something else now */
	void (*closed)(struct watch *w, struct item *it);
	void (*forgotten)(struct watch *w, struct item *it); /* its memory goes */
	void (*decision)(struct watch *w, const struct link *l, const json_t *record);
	void (*session)(struct watch *w, const struct link *l, bool is_up);
	/* A process tried to act as the operator: {pid, exe, why}. */
	void (*refused)(struct watch *w, const struct link *l, const json_t *what);
	/* What went wrong, or well; it may be NULL. */
	void (*said)(struct watch *w, struct item *it, const char *text);
};

struct watch {
	const struct sink *sink;
	void *ctx; /* the sink's */
	const char *only_session, *only_card;
	struct link *links;
	struct item **items; /* oldest first */
	size_t n_items;
	struct entry entries[RECORDS_KEPT]; /* a ring: the n-th decision is at n % RECORDS_KEPT */
	uint64_t n_entries;
	uint64_t scanned_ns;
	bool records; /* decisions are wanted */
};

uint64_t watch_now(void);
struct item *item_find(const struct watch *w, const char *session, const char *id);
/* Open ones. */
size_t items_open(const struct watch *w, const struct link *l);
/* It is the one card that is shown, or all are. */
bool model_wants(const struct watch *w, const json_t *card);
/* One card as the helper tells it: known or new. */
void model_card(struct watch *w, struct link *l, json_t *card);
void model_close(struct watch *w, struct item *it, const char *outcome);
/* After a whole list: what it did not name, and was there when it began, is answered. */
void model_listed(struct watch *w, struct link *l, uint64_t began_ns);
void model_resolved(struct watch *w, struct link *l, const json_t *params);
void model_record(struct watch *w, const struct link *l, const json_t *record);
/* Forgets cards that were closed long enough. */
void model_tick(struct watch *w);
void model_link_gone(struct watch *w, struct link *l);
void model_done(struct watch *w);

/* --- feed.c -----------------------------------------------------------------------------------------------
 */

enum call_kind { CALL_INFO, CALL_SUBSCRIBE, CALL_LIST, CALL_SHOW, CALL_RESPOND, CALL_KINDS };

#define CALLS_MAX 64

struct link {
	struct link *next;
	struct session_ref ref;
	int fd; /* -1 where nobody answers */
	bool scanned, subscribed, listing;
	json_t *info; /* session/info, NULL before it came */
	struct call {
		int id;
		enum call_kind kind;
		char card[ITEM_ID];
	} calls[CALLS_MAX];
	size_t n_calls;
	int last_id;
	uint64_t retry_ns, list_ns, began_ns, refresh_ns;
	/* Where one card alone is shown: others that wait, as the last whole list said; and so far in this
	 * one. */
	size_t others, counted;
};

/* What the watch polls: at most max descriptors.  How many. */
size_t feed_fds(const struct watch *w, struct pollfd *p, size_t max);
/* Looks for sessions, takes what came, asks anew.  Whenever a descriptor is ready, and each tick. */
void feed_tick(struct watch *w);
/* params are taken over.  0, or -errno: the call was not made. */
int feed_call(struct watch *w, struct link *l, enum call_kind kind, const char *card, json_t *params);
void feed_done(struct watch *w);
/* Results of calls that concern one card. */
void feed_list_again(struct link *l);

/* --- answer.c ----------------------------------------------------------------------------------------------
 */

/* The card is looked at by a human: its clock stops. */
void item_touch(struct watch *w, struct item *it);
/* Takes reply over and sends it on its way.  0, -EBUSY where another is on its way, -ENOTCONN. */
int item_answer(struct watch *w, struct item *it, struct reply *reply);
void reply_free(struct reply *r);
/* From the feed: the card itself, or NULL. */
void item_shown(struct watch *w, struct item *it, json_t *result);
/* The answer of a call about card id; error is NULL where result is there. */
void item_responded(struct watch *w, struct item *it, const json_t *result, const char *error);

/* --- ui.c: how it is shown.  Exit code. --- */

/* One card alone where w->only_card is set. */
int ui_run(struct watch *w);

#endif
