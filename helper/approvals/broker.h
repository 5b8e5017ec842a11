/* From a question to its answer. */
#ifndef PALE_HELPER_BROKER_H
#define PALE_HELPER_BROKER_H

#include <stddef.h>
#include <stdint.h>

struct approval;
struct conn;
struct helper;
struct wire_answer;
struct wire_ask;

/* How long an expired card may still be answered, and a late approval be used. */
#define NS_LISTED 600000000000ull

/* Answers one question now or leaves c waiting on a card. */
void broker_ask(struct helper *h, struct conn *c, struct wire_ask *ask);
/* The peer of c is gone: its card is cancelled if no other process waits for it. */
void broker_hangup(struct helper *h, struct conn *c);
/* Expires and removes cards that are over their time. */
void broker_tick(struct helper *h, uint64_t now_ns);
/*
 * After a reload of the policy: judges waiting questions again, and answers those that the policy now
 * decides.
 */
void broker_rejudge(struct helper *h);
/* The session ends: each process that waits is denied. */
void broker_cancel_all(struct helper *h, const char *why);
/* A human reads the card: puts its deadline off to two minutes from now, but WIRE_HOLD_S at most in all. */
void broker_touch(struct approval *ap);
#define BROKER_ALL SIZE_MAX
/*
 * Answers the processes that wait for ap, among the first n that asked.  Those that get a yes are added to
 * ap->outcome.asker.  The number of processes answered.
 */
unsigned broker_tell(struct helper *h, struct approval *ap, size_t n, const struct wire_answer *a);
/*
 * After ap was approved for some processes: the others that wait for it ask again, on a new card.  The caller
 * must not use ap afterwards.
 */
void broker_ask_rest(struct helper *h, struct approval *ap);

#endif
