/*
 * A question to a human, as it is kept and shown: the card; and the queue of cards as a value.
 *
 *   approve   the queue: states, what holds afterwards; no I/O and no clock
 *   card      how a card is made of a request, and the digest of what is shown
 *   outcome   what came of what was approved
 *   reach     who can be asked, and telling them
 *
 * Included by helper.h.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <sys/types.h>

#include "policy/eval.h"
#include "policy/grant.h"
#include "policy/op.h"
#include "policy/risk.h"

#define APPROVALS_MAX	256
#define LATE_MAX	256
#define DENIED_MAX	256
#define APPROVAL_ID_HEX 33
#define PRINT_HEX	65
#define CARD_TREE	8

enum approval_state {
	APPROVAL_PENDING,
	APPROVAL_APPROVED,
	APPROVAL_DENIED,
	APPROVAL_EXPIRED, /* denied once; a late approval leaves a one-shot grant */
	APPROVAL_CANCELLED,
	APPROVAL_STATES
};

/* A process on the way from the agent to who asks. */
struct card_process {
	int64_t pid;
	char *exe;    /* raw; "" where nobody knows */
	bool claimed; /* the kernel did not tell: the process's own word */
};

/* One card.  Owns what it points to; all text is raw and whole. */
struct approval {
	char id[APPROVAL_ID_HEX];
	char print[PRINT_HEX];	/* of the question: the same one asked again has the same */
	char digest[PRINT_HEX]; /* of what is shown: an answer is bound to it */
	enum approval_state state;
	struct request req; /* a deep copy, judged again when a grant is weighed */
	void *store;	    /* what req points to */
	char *target;	    /* argv joined, path, or host:port */
	char *exe, *rule;
	struct card_process tree[CARD_TREE]; /* who asks first; the agent last where there was room */
	size_t n_tree;
	struct risk risk;
	struct grant_offers offers;
	bool is_flood;	/* its rule asks so often that a group answer is offered */
	uint32_t image; /* number of the image that asks */
	uint64_t turn;
	int64_t pid;
	uint64_t asked_real_ns, asked_ns; /* CLOCK_REALTIME, CLOCK_BOOTTIME */
	uint64_t until_ns; /* CLOCK_BOOTTIME; pending: the deadline, expired: how long it stays listed */
	uint64_t held_ns;  /* by how much looking at it has put off the deadline */
	unsigned count;	   /* how often it was asked */
};

/* An approval that came late: good for one retry. */
struct late {
	char print[PRINT_HEX];
	char id[APPROVAL_ID_HEX];
	uint64_t until_ns; /* 0: for the session */
};

struct queue {
	struct approval *list[APPROVALS_MAX]; /* oldest first */
	size_t n;
	struct late late[LATE_MAX];
	size_t n_late;
	char denied[DENIED_MAX][PRINT_HEX];
	size_t n_denied, next_denied;
	uint64_t turn;
};

enum approval_known { KNOWN_NOTHING, KNOWN_GRANT, KNOWN_DENIED, KNOWN_PENDING, KNOWN_FULL };

/* --- approve.c --- */

/* SHA-256 over the length-prefixed parts that make two requests the same question. */
void approval_print(const struct request *req, char print[PRINT_HEX]);
/* What is known of this question.  A one-shot grant is used up; its id goes to ret_id. */
enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 char ret_id[APPROVAL_ID_HEX]);
/* Takes over ap (heap, strings set, id and print set) as pending.  -ENOSPC: ap is still the caller's. */
int queue_add(struct queue *a, struct approval *ap);
struct approval *queue_pending(struct queue *a, const char *print);
/* By unique prefix of the id (at least 4 digits): 0, -ENOENT, -EEXIST (ambiguous). */
int queue_find(struct queue *a, const char *prefix, struct approval **ret);
/* Moves along the table of states; -EPERM where the table has no such step. */
int approval_move(struct approval *ap, enum approval_state to);
/* Would queue_remember() of this have room? */
bool queue_has_room(struct queue *a, const struct approval *ap, enum approval_state said,
		    enum grant_scope scope, uint64_t now_ns);
/* Keeps what a human said about ap for later questions.  -ENOSPC: no room for another late grant. */
int queue_remember(struct queue *a, const struct approval *ap, enum approval_state said,
		   enum grant_scope scope, uint64_t now_ns);
/* Takes ap off the list and frees it. */
void queue_forget(struct queue *a, struct approval *ap);
/* A card that is over its time: a pending one to expire, an expired one to forget; or NULL. */
struct approval *queue_overdue(struct queue *a, uint64_t now_ns);
size_t queue_count(const struct queue *a, enum approval_state state);
/* The next turn: what was denied in this one may be asked again. */
void queue_turn(struct queue *a);
void queue_done(struct queue *a);
void approval_free(struct approval *ap);
const char *approval_state_name(enum approval_state s);
/* How many digits of the id make it unique among the listed, at least 4. */
int queue_short(const struct queue *a, const struct approval *ap);

/* --- card.c --- */

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
/* A deep copy of the request into a card that has none. */
int card_keep(struct approval *ap, const struct request *from);
/*
 * SHA-256, as hex, over a domain tag and the length-prefixed fields that are shown: id, operation, target,
 * argv, cwd, program, rule, risk and what may be granted.  Set by card_new().
 */
void card_digest(const struct approval *ap, char digest[PRINT_HEX]);
/* argv joined, path, or host:port (caller frees), NULL where memory is out. */
char *card_target(const struct request *req);

/* --- broker.c --- */

/* Somebody reads it: it waits two minutes from now at least, 10 minutes longer in all than nobody would. */
void broker_touch(struct helper *h, struct approval *ap);

struct broker_reply {
	enum approval_state said; /* approved or denied */
	enum grant_scope scope;
	const char *rule;  /* the policy line that is granted; NULL: the narrowest that was offered */
	const char *until; /* GRANT_PROJECT: "YYYY-MM-DD", or NULL */
	const char *reason, *by;
	const char *confirmed; /* "", "passphrase", or "pam" (the client's word) */
	bool group;	       /* pending cards alike are answered with it */
	pid_t pid;
};

struct broker_result {
	unsigned waiters; /* who heard of it */
	bool late;
	char grant[APPROVAL_ID_HEX];		   /* id of the grant that was made, or "" */
	char also[LIMIT_PENDING][APPROVAL_ID_HEX]; /* cards answered with it */
	size_t n_also;
	char err[256]; /* where it failed: one sentence */
};
/* A human's answer.  ap is gone afterwards, unless it fails: -errno with ret->err. */
int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret);

#endif
