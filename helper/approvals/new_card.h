/* A card is made of a request; and its records. */
#ifndef PALE_HELPER_NEW_CARD_H
#define PALE_HELPER_NEW_CARD_H

#include <stdint.h>
#include <sys/types.h>

#include "approval.h"

struct helper;

/* The card of a question, not yet listed; NULL where memory or randomness is out. */
struct card_question {
	const struct request *req;
	const struct decision *decision;
	uint32_t image;
	pid_t pid;
	const char *print;
};
struct approval *card_new(struct helper *h, const struct card_question *q);
/* Adds process pid to the card.  0; -ENOSPC where it has CARD_ASKERS already, -EMSGSIZE, -ENOMEM. */
int card_join(struct helper *h, struct approval *ap, pid_t pid);
/* Copies the request into a card that has none; ap->store owns the copy.  0 or -ENOMEM. */
int card_keep(struct approval *ap, const struct request *from);

/* Writes the durable record of the question, with its variables.  0 or -errno. */
int card_record_request(struct helper *h, const struct approval *ap);

enum card_record { CARD_BUFFERED, CARD_DURABLE };
/* Writes a record about a card; the ledger masks secrets.  more is added to its detail.  0 or -errno. */
int card_record(struct helper *h, const struct approval *ap, const char *op, const char *verdict,
		const char *more, enum card_record how);

#endif
