/*
 * A question to a human, as it is kept and shown: the card; and the queue of cards as a value.
 *
 *   approve   the queue: states, what holds afterwards, limits; no I/O and no clock
 *   card      how a card is made of a request, its records
 *   broker    questions: known, new, nobody there, over their time
 *   answer    what a human says, for one card or a group
 *   outcome   what came of what was approved
 *   reach     who can be asked, and telling them
 *
 * Included by helper.h.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <sys/types.h>

#include "policy/eval.h"
#include "policy/grant.h"
#include "policy/grant_file.h"
#include "policy/op.h"
#include "policy/risk.h"

#include "records.h"

#define APPROVALS_MAX	256
#define DENIED_MAX	256
#define APPROVAL_ID_HEX 33
#define PRINT_HEX	65
#define CARD_TREE	8
#define CARD_ASKERS	64 /* processes that ask one question */

enum approval_state {
	APPROVAL_PENDING,
	APPROVAL_APPROVED,  /* who waited was told yes; what came of it is not known yet */
	APPROVAL_DENIED,    /* final */
	APPROVAL_EXPIRED,   /* denied once; may still be answered */
	APPROVAL_LATE,	    /* approved after that: good for one retry */
	APPROVAL_CANCELLED, /* final: nobody waits any more */
	APPROVAL_DONE,	    /* final: the outcome of what was approved is recorded */
	APPROVAL_STATES
};

/* A process that asks, or one on the way from the agent to it. */
struct card_process {
	int64_t pid;
	char *exe;    /* raw; "" where nobody knows */
	bool claimed; /* the kernel did not tell: the process's own word */
};

/* What came of an approval, act by act. */
struct outcome {
	pid_t *asker;	 /* who was told yes; owned */
	size_t n_askers; /* as many acts may follow */
	size_t begun, done, failed;
	int error;	/* the first failure's */
	bool is_kernel; /* the kernel itself acts (exec): it was handed over */
	bool is_claim;	/* only the process knows: level hooks */
};

/* One card.  Owns what it points to; all text is raw and whole. */
struct approval {
	char id[APPROVAL_ID_HEX];
	char print[PRINT_HEX]; /* of the question: the same one asked again has the same */
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
	uint64_t until_ns; /* CLOCK_BOOTTIME; pending: the deadline, expired and late: how long it is kept */
	uint64_t held_ns;  /* by how much looking at it has put off the deadline */
	struct card_process *asker; /* all who asked it, in that order, also those who are gone; owned */
	size_t n_askers;
	struct outcome outcome;
};

#define RATE_MAX   10 /* new questions in a second */
#define RECENT_MAX 64
#define FLOOD	   5 /* questions of one rule in a minute, beyond which a group answer is offered */

/* A question of the last minute. */
struct recent {
	uint64_t rule; /* a hash */
	uint64_t ns;
};

#define SHORT_DIGITS 4 /* of an id that people type */
#define SHORTS	     (1u << 4 * SHORT_DIGITS)

struct queue {
	struct approval *list[APPROVALS_MAX]; /* oldest first */
	size_t n;
	char denied[DENIED_MAX][PRINT_HEX];
	size_t n_denied, next_denied;
	struct recent recent[RECENT_MAX];
	size_t next_recent;
	uint64_t turn;
	uint8_t shorts[SHORTS / 8]; /* first digits of ids that were given away */
	unsigned n_shorts;
};

enum approval_known {
	KNOWN_NOTHING,
	KNOWN_LATE, /* *ret_card is approved now, for this one */
	KNOWN_DENIED,
	KNOWN_PENDING, /* *ret_card */
	KNOWN_FULL,    /* as many wait as may */
	KNOWN_RATE     /* as many came in this second as may */
};

/* --- approve.c --- */

/* SHA-256 over the length-prefixed parts that make two requests the same question. */
void approval_print(const struct request *req, uint32_t image, char print[PRINT_HEX]);
/* What is known of this question, and the card that says so.  A late approval is used up by it. */
enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 struct approval **ret_card);
/*
 * Where there is no room for a new question: what may go for it, or NULL.  Never what a human has said and
 * nobody has heard: one that nobody answered, else one whose outcome is only waited for.
 */
struct approval *queue_dispensable(struct queue *a);
/* Takes over ap (heap; id, print and rule set) as pending.  -ENOSPC: ap is still the caller's. */
int queue_add(struct queue *a, struct approval *ap, uint64_t now_ns);
/* By unique prefix of the id (at least 4 digits): 0, -ENOENT, -EEXIST (ambiguous). */
int queue_find(struct queue *a, const char *prefix, struct approval **ret);
/* Moves along the table of states; -EPERM where the table has no such step. */
int approval_move(struct approval *ap, enum approval_state to);
/* The same print is denied without a question until the turn ends. */
void queue_deny(struct queue *a, const struct approval *ap);
/* Takes ap off the list and frees it. */
void queue_forget(struct queue *a, struct approval *ap);
/* The card with this very id, or NULL. */
struct approval *queue_by_id(struct queue *a, const char *id);
/* A card that is over its time: a pending one to expire, an expired or late one to forget; or NULL. */
struct approval *queue_overdue(struct queue *a, uint64_t now_ns);
size_t queue_count(const struct queue *a, enum approval_state state);
/* The next turn: what was denied in this one may be asked again. */
void queue_turn(struct queue *a);
void queue_done(struct queue *a);
void approval_free(struct approval *ap);
const char *approval_state_name(enum approval_state s);
/* What the table of states says of a card. */
bool approval_is_listed(const struct approval *ap); /* shown to the operator */
bool approval_may_answer(const struct approval *ap);
/* True where no question before had the first digits of this id; they are taken then. */
bool queue_take_short(struct queue *a, const char *id);
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
/* It can be shown whole in one packet (control_approvals.c). */
bool card_fits(const struct helper *h, const struct approval *ap);
/* Process pid asks it, too: -ENOSPC where no more are shown, -EMSGSIZE, -ENOMEM. */
int card_join(struct helper *h, struct approval *ap, pid_t pid);
/* A deep copy of the request into a card that has none. */
int card_keep(struct approval *ap, const struct request *from);
/* argv joined, path, or host:port (caller frees), NULL where memory is out. */
char *card_target(const struct request *req);

/* Its variables as the card shows them, quoted as a shell would have them (caller frees), or NULL. */
char *card_variables(const struct helper *h, const struct approval *ap);
/* The record of the question itself, durable, with all that decides what happens. */
int card_record_request(struct helper *h, const struct approval *ap);

enum card_record { CARD_BUFFERED, CARD_DURABLE };
/* One record about a card; the ledger masks.  more is appended to its detail.  0 or -errno. */
int card_record(struct helper *h, const struct approval *ap, const char *op, const char *verdict,
		const char *more, enum card_record how);

/* --- broker.c --- */

/* How long an expired card may still be answered, and a late approval be used. */
#define NS_LISTED 600000000000ull

/* Somebody reads it: it waits two minutes from now at least, WIRE_HOLD_S longer in all than nobody would. */
void broker_touch(struct approval *ap);
struct wire_answer;
#define BROKER_ALL SIZE_MAX
/*
 * Answers those who wait for ap among the first n that asked; those who were told yes become
 * ap->outcome.asker.  How many.
 */
unsigned broker_tell(struct helper *h, struct approval *ap, size_t n, const struct wire_answer *a);
/*
 * ap was approved, and who waits for it still was not meant: they ask anew.  ap is not the caller's to use
 * afterwards.
 */
void broker_ask_rest(struct helper *h, struct approval *ap);

/* --- answer.c --- */

struct broker_reply {
	enum approval_state said; /* approved or denied */
	enum grant_scope scope;
	const char *rule;  /* the policy line that is granted; NULL: the narrowest that was offered */
	const char *until; /* GRANT_PROJECT: "YYYY-MM-DD", or NULL */
	const char *reason, *by;
	const char *confirmed; /* "", "passphrase", or "pam" (the client's word) */
	size_t seen;	       /* of those who ask, so many were shown: a yes is for no more */
	bool group;	       /* pending cards alike are answered with it */
	const json_t *with;    /* for a yes: digests of those that were shown; NULL: none was */
	pid_t pid;
};

struct broker_result {
	unsigned waiters; /* who heard of it */
	bool late;
	char grant[GRANT_ID_HEX];		   /* id of the grant that was made, or "" */
	char also[LIMIT_PENDING][APPROVAL_ID_HEX]; /* cards answered with it */
	size_t n_also;
	char err[256]; /* where it failed: one sentence */
};
/* A human's answer.  ap is not the caller's to use afterwards, unless it fails: -errno with ret->err. */
int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret);

/* --- outcome.c --- */

/* Process pid will be told yes: an act of it may follow. */
void outcome_expect(struct approval *ap, pid_t pid);
/* It was not told after all. */
void outcome_forgo(struct approval *ap);
/* A ring's record of an act that was allowed by approval `id`; by whose word it is decides what counts. */
void outcome_begun(struct helper *h, const char *id, enum feed_id feed);
/* The supervisor's record of what came of it: 0, RING_HANDED_ON, or an errno. */
void outcome_done(struct helper *h, const char *id, uint32_t result);
/* Who was told yes and is gone by now has not acted. */
void outcome_tick(struct helper *h, uint64_t now_ns);
/* The session is over: ap will not be used. */
void outcome_end(struct helper *h, struct approval *ap, const char *why);
/* The same of all that are left, behind the last record of the rings. */
void outcome_end_all(struct helper *h);

/* --- reach.c --- */

/* The start message's list of words; a word that nobody knows counts for nothing. */
unsigned reach_of(const json_t *list);
/* There is someone to ask; otherwise *ret_why is a sentence: who could be, and how. */
bool reach_anybody(const struct helper *h, const char **ret_why);
/* Tells the launcher and who listens that ap waits, or that it does not any more. */
void reach_asked(struct helper *h, const struct approval *ap);
void reach_closed(struct helper *h, const struct approval *ap, const char *by, enum grant_scope scope);

#endif
