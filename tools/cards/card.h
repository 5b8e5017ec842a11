/*
 * Questions as the operator sees them: cards, step-up, and the grants that there are.
 *
 * A card is one question of a session, as text that every interface shows in the same way: `pale pending`
 * and `pale approve`, `pale watch`, the popup.
 *
 * A card comes over the control socket as JSON (pale-control(5)) whose texts the helper has escaped.  Here
 * it becomes lines of printable ASCII with labels that pale chooses: fields in a fixed order, one argument
 * a line, nothing left out.  An answer contains the digest of what was shown
 * (policy/question/carddigest.h), which is computed here.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/base/output.h"

#define CARD_LABEL 10

enum card_part { CARD_WHAT, CARD_WHERE, CARD_RISK, CARD_RULES, CARD_DIGEST };

struct card_line {
	char label[CARD_LABEL]; /* printable ASCII; "" continues the line above */
	char *text;		/* printable ASCII, owned */
	char *said;		/* the same before escaping, for print_recorded(), owned */
	enum card_part part;
};

struct card_text {
	struct card_line *line;
	size_t n;
};

/* The string member `key`, "" where it is missing. */
static inline const char *card_str(const json_t *card, const char *key)
{
	return json_str(card, key);
}
/* True where the card still waits, or an answer leaves a grant for the next attempt. */
bool card_is_open(const json_t *card);
/* Seconds until the card is denied, 0 where it already is. */
long card_left(const json_t *card);

/* The card as lines.  0 or -ENOMEM; the caller must call card_text_done() in each case. */
int card_text_init(struct card_text *t, const json_t *card);
void card_text_done(struct card_text *t);
/* Adds a line, whose text is escaped like the card's own; an empty text adds none.  0 or -ENOMEM. */
int card_text_add(struct card_text *t, enum card_part part, const char *label, const char *text);
/* "session k3x9ab  agent claude  denied in 53 s  asked by 3 processes", for print_recorded(). */
void card_title(const json_t *card, const char *session, char *buf, size_t size);
/* Prints title and lines on f, with colour where f allows it. */
void card_print(FILE *f, const json_t *card, const char *session, const struct card_text *t);

/* The operator's answer.  Strings are borrowed; all but the first two may be NULL. */
struct card_reply {
	const char *decision;		   /* "approved" or "denied" */
	const char *scope;		   /* once, session, project, always */
	const char *rule, *until, *reason; /* the rule: NULL means the first offer */
	json_t *with; /* digests of other shown cards that it may answer; NULL: only this card */
};

/*
 * approve.c: answers the card over a connection to its session's helper, with the digest of this card, and
 * asks for the passphrase where it is needed.  0 and the helper's result (the caller drops it), or as
 * control_call() with a sentence in why, which is "" where the reason has been printed already.
 */
int card_answer(int fd, const json_t *card, const struct card_reply *a, json_t **ret, char *why, size_t size);

#endif
