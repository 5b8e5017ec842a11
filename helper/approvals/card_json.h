/* A card as the protocol has it. */
#ifndef PALE_HELPER_CARD_JSON_H
#define PALE_HELPER_CARD_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct approval;
struct helper;

/* A card as the protocol has it (new reference), or NULL. */
json_t *card_json(const struct helper *h, const struct approval *ap, uint64_t now_ns);
/* How long it is as text; SIZE_MAX for NULL. */
size_t card_bytes(const json_t *card);
/* True where the whole card fits into one packet. */
bool card_fits(const struct helper *h, const struct approval *ap);
/*
 * The number of processes that ask ap and whose card has one of these digests (a string, or a list).  0:
 * the client saw another card.
 */
size_t card_seen(const struct helper *h, const struct approval *ap, const json_t *digests);

#endif
