/*
 * A card: one question of a session, as text that every surface shows alike: `pale pending` and `pale
 * approve`, `pale watch`, the popup.
 *
 * A card comes over the control socket as JSON (pale-control(5)) whose texts the helper has escaped.  Here it
 * becomes lines of printable ASCII with labels of our own: fields in a fixed order, one argument a line,
 * nothing left out.  An answer repeats the digest of what was shown (policy/carddigest.h), which is computed
 * here.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/tools.h"

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
/* "session k3x9ab  agent claude  denied in 53 s  asked by 3 processes", in printable ASCII. */
void card_title(const json_t *card, const char *session, char *buf, size_t size);
/* Title and lines on f, with colour where f has it. */
void card_print(FILE *f, const json_t *card, const char *session, const struct card_text *t);

#endif
