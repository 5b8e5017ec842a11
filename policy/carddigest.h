/*
 * The digest of a card (pale-control(5)).  Who answers a question computes it over what they show, and the
 * helper compares: it tells nobody, so an answer that has it was given by somebody who had the whole card.
 */
#ifndef PALE_CARDDIGEST_H
#define PALE_CARDDIGEST_H

#include <jansson.h>

#include "digest.h"

/* The members that it covers, which every surface shows; NULL ends the list. */
extern const char *const card_members[];

/* SHA-256 of these members alone, as compact JSON with sorted keys.  0 or -ENOMEM. */
int card_digest(const json_t *card, char hex[DIGEST_HEX]);

#endif
