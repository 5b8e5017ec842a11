/*
 * The digest of a card (pale-control(5)).  The program that answers a question computes it from the card
 * that it showed, and the helper compares.  The helper never sends it, so an answer with the right digest
 * comes from a program that had the whole card.
 */
#ifndef PALE_CARDDIGEST_H
#define PALE_CARDDIGEST_H

#include <jansson.h>

#include "policy/record/digest.h"

/* The members of a card that the digest covers, and every user interface shows; NULL ends the list. */
extern const char *const card_members[];

/* SHA-256 of these members alone, as compact JSON with sorted keys.  0 or -ENOMEM. */
int card_digest(const json_t *card, char hex[DIGEST_HEX]);

#endif
