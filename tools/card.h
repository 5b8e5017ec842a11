/*
 * A card: one question of a session, as text that every surface shows alike: `pale pending` and `pale
 * approve`, `pale watch`, the popup.
 *
 * A card comes over the control socket as JSON (pale-control(5)) whose texts the helper has escaped.  Here it
 * becomes lines of printable ASCII with labels of our own: fields in a fixed order, one argument a line,
 * nothing left out.  A text that does not fit into one packet is fetched in pieces, and the nonce that an
 * answer needs comes with the last piece alone: who could not show all of it cannot answer.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/tools.h"

#define CARD_LABEL 10
#define CARD_NONCE 65

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

/* What approval/show said: the whole target, escaped, and what an answer has to repeat. */
struct card_whole {
	char *target; /* owned */
	char nonce[CARD_NONCE];
};

/*
 * Fetches the whole target of a card over the connection fd, which the nonce is bound to.  0 (the caller
 * frees by card_whole_done()), -EREMOTE with the helper's words in why, -EPROTO, -ENOMEM or -errno.
 */
int card_fetch(int fd, const json_t *card, struct card_whole *ret, char *why, size_t size);
void card_whole_done(struct card_whole *w);
/* The card's own text is the whole target. */
bool card_is_whole(const json_t *card);
/* A string member, "" where there is none. */
static inline const char *card_str(const json_t *card, const char *key)
{
	return json_str(card, key);
}
/* It still waits, or an answer leaves a grant for the next try. */
bool card_is_open(const json_t *card);
/* Seconds until it is denied, 0 where it was. */
long card_left(const json_t *card);

/*
 * The card as lines; target is the whole one as the helper escaped it, NULL where it could not be had, which
 * is then said.  0 or -ENOMEM; the caller frees by card_text_done() in each case.
 */
int card_text_init(struct card_text *t, const json_t *card, const char *target);
void card_text_done(struct card_text *t);
/* "session k3x9ab  agent claude  denied in 53 s  asked 3 times", in printable ASCII. */
void card_title(const json_t *card, const char *session, char *buf, size_t size);
/* Title and lines on f, with colour where f has it. */
void card_print(FILE *f, const json_t *card, const char *session, const struct card_text *t);

#endif
