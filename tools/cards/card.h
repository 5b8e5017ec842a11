/*
 * Questions as the operator sees them: cards, step-up, and the grants that there are.
 *
 * A card: one question of a session, as text that every surface shows alike: `pale pending` and `pale
 * approve`, `pale watch`, the popup.
 *
 * A card comes over the control socket as JSON (pale-control(5)) whose texts the helper has escaped.  Here it
 * becomes lines of printable ASCII with labels of our own: fields in a fixed order, one argument a line,
 * nothing left out.  An answer repeats the digest of what was shown (policy/question/carddigest.h), which is
 * computed here.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/base/tools.h"

#define CARD_LABEL 10

enum card_part { CARD_WHAT, CARD_WHERE, CARD_RISK, CARD_RULES, CARD_DIGEST };

struct card_line {
	char label[CARD_LABEL]; /* printable ASCII; "" goes on with the line above */
	char *text;		/* printable ASCII, owned */
	enum card_part part;
};

struct card_text {
	struct card_line *line;
	size_t n;
};

/* A string member, "" where there is none. */
static inline const char *card_str(const json_t *card, const char *key)
{
	return json_str(card, key);
}
/* It still waits, or an answer leaves a grant for the next try. */
bool card_is_open(const json_t *card);
/* Seconds until it is denied, 0 where it was. */
long card_left(const json_t *card);

/* The card as lines.  0 or -ENOMEM; the caller frees by card_text_done() in each case. */
int card_text_init(struct card_text *t, const json_t *card);
void card_text_done(struct card_text *t);
/* One more line, whose text is escaped as the card's own are; nothing for an empty text.  0 or -ENOMEM. */
int card_text_add(struct card_text *t, enum card_part part, const char *label, const char *text);
/* "session k3x9ab  agent claude  denied in 53 s  asked by 3 processes", in printable ASCII. */
void card_title(const json_t *card, const char *session, char *buf, size_t size);
/* Title and lines on f, with colour where f has it. */
void card_print(FILE *f, const json_t *card, const char *session, const struct card_text *t);

/* An answer, as its human means it: strings are borrowed, and may be NULL but for the first two. */
struct card_reply {
	const char *decision;		   /* "approved" or "denied" */
	const char *scope;		   /* once, session, project, always */
	const char *rule, *until, *reason; /* the rule: NULL is the first offer */
	json_t *with; /* digests of what else was shown and may be answered by it; NULL: this one alone */
};

/*
 * approve.c: answers the card over a connection to its session's helper, with the digest of this very card,
 * and asks for the passphrase where that is needed.  0 and the helper's result (caller drops), or as
 * control_call() with a sentence in why, which is "" where the reason was told already.
 */
int card_answer(int fd, const json_t *card, const struct card_reply *a, json_t **ret, char *why, size_t size);

#endif
