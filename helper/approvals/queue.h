/* The queue of questions. */
#ifndef PALE_HELPER_QUEUE_H
#define PALE_HELPER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "approval.h"

#define APPROVALS_MAX 256
#define DENIED_MAX    256

#define RATE_MAX   10 /* most new questions in a second */
#define RECENT_MAX 64
#define FLOOD	   5 /* with more questions of one rule in a minute, a group answer is offered */

/* A question of the last minute. */
struct recent {
	uint64_t rule; /* a hash */
	uint64_t ns;
};

#define SHORT_DIGITS 4 /* how many digits of an id people type at least */
#define SHORTS	     (1u << 4 * SHORT_DIGITS)

#define CLOSED_MAX 72 /* more than can wait at the same time */

/* A card that was closed, for clients that answer too late. */
struct closed {
	char id[APPROVAL_ID_HEX], by[132];
	enum approval_state state;
};

struct queue {
	struct approval *list[APPROVALS_MAX]; /* oldest first */
	size_t n;
	char denied[DENIED_MAX][PRINT_HEX];
	size_t n_denied, next_denied;
	struct recent recent[RECENT_MAX];
	size_t next_recent;
	uint64_t turn;
	uint8_t shorts[SHORTS / 8]; /* a bit for each first SHORT_DIGITS digits that an id has used */
	unsigned n_shorts;
	struct closed closed[CLOSED_MAX];
	size_t next_closed;
};

enum approval_known {
	KNOWN_NOTHING,
	KNOWN_LATE, /* *ret_card was approved late: its approval is for this question */
	KNOWN_DENIED,
	KNOWN_PENDING, /* *ret_card waits for an answer */
	KNOWN_FULL,    /* too many questions wait */
	KNOWN_RATE     /* too many questions came in this second */
};

/* Whether this question was asked before, with its card.  This uses up a late approval. */
enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 struct approval **ret_card);
/*
 * A card to remove for a new question if the queue is full, or NULL: one that expired without an answer, else
 * one that only waits for its outcome.  Never an answer that no process has got yet.
 */
struct approval *queue_dispensable(struct queue *a);
/* Adds ap (heap; id, print and rule set) as pending, and owns it.  -ENOSPC: the caller still owns ap. */
int queue_add(struct queue *a, struct approval *ap, uint64_t now_ns);
/* By unique prefix of the id (at least 4 digits): 0, -ENOENT, -EEXIST (ambiguous). */
int queue_find(struct queue *a, const char *prefix, struct approval **ret);
/* Denies the same question without asking until the turn ends. */
void queue_deny(struct queue *a, const struct approval *ap);
/* Takes ap off the list and frees it. */
void queue_forget(struct queue *a, struct approval *ap);
/* The card with exactly this id, or NULL. */
struct approval *queue_by_id(struct queue *a, const char *id);
/* A card whose time is over: a pending one to expire, an expired or late one to remove; or NULL. */
struct approval *queue_overdue(struct queue *a, uint64_t now_ns);
/* Remembers the state in which ap was closed; `by` is the name given with the answer. */
void queue_note_closed(struct queue *a, const struct approval *ap, const char *by);
/* The closed card with this prefix of the id (at least 4 characters), or NULL.  Borrowed. */
const struct closed *queue_closed(const struct queue *a, const char *prefix);
size_t queue_count(const struct queue *a, enum approval_state state);
/* Begins the next turn: questions that were denied may be asked again. */
void queue_turn(struct queue *a);
void queue_done(struct queue *a);
/* Reserves the first SHORT_DIGITS digits of this id; false where a recent question had them. */
bool queue_take_short(struct queue *a, const char *id);
/* How many digits of the id are unique among the listed cards, at least SHORT_DIGITS. */
int queue_short(const struct queue *a, const struct approval *ap);

#endif
