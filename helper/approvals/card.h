/*
 * Approvals: questions to a human, the answers, step-up, and grants that answer later questions.
 *
 * A question to a human, as it is kept and shown: the card; and the queue of cards.
 *
 *   approve   the queue: states, answers that hold for later questions, limits; no I/O and no clock
 *   card      makes a card of a request, and its records
 *   broker    questions: asked before, new, without a human to ask, expired
 *   answer    a human's answer, for one card or a group
 *   outcome   the results of approved acts
 *   reach     where a human can be asked, and notices to them
 *
 * Included by helper.h.
 */
#ifndef PALE_CARD_H
#define PALE_CARD_H

#include <jansson.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/grant/grant.h"
#include "policy/grant/grant_file.h"
#include "policy/judge/eval.h"
#include "policy/question/risk.h"

#include "helper/ledger/records.h"

#define APPROVALS_MAX	256
#define DENIED_MAX	256
#define APPROVAL_ID_HEX 33
#define PRINT_HEX	65
#define CARD_TREE	8
#define CARD_ASKERS	64 /* most processes that ask one question */

enum approval_state {
	APPROVAL_PENDING,
	APPROVAL_APPROVED,  /* the processes that waited got a yes; the outcome is not known yet */
	APPROVAL_DENIED,    /* final */
	APPROVAL_EXPIRED,   /* denied because the time was over; may still be answered */
	APPROVAL_LATE,	    /* approved after that: allows one retry */
	APPROVAL_CANCELLED, /* final: no process waits any more */
	APPROVAL_DONE,	    /* final: the outcome of what was approved is recorded */
	APPROVAL_STATES
};

/* A process that asks, or one of its ancestors up to the agent. */
struct card_process {
	int64_t pid;
	char *exe;    /* raw; "" where it is not known */
	bool claimed; /* exe is the process's claim, not from the kernel */
};

/* The results of the acts that one approval allows. */
struct outcome {
	pid_t *asker;	 /* the processes that got a yes; owned */
	size_t n_askers; /* their number: as many acts may follow */
	size_t begun, done, failed;
	int error;	/* errno of the first failure */
	bool is_kernel; /* the kernel performs the act (exec) and does not report its result */
	bool is_claim;	/* only the process reports the act: level hooks */
};

/* One card.  Owns what it points to; all text is raw and whole. */
struct approval {
	char id[APPROVAL_ID_HEX];
	char print[PRINT_HEX]; /* digest of the question: the same for the same question */
	enum approval_state state;
	struct request req; /* a deep copy, to be judged again by a grant or a new policy */
	void *store;	    /* memory that req points to */
	char *target;	    /* argv joined, path, or host:port */
	char *exe, *rule;
	struct card_process tree[CARD_TREE]; /* the asking process first, the agent last */
	size_t n_tree;
	struct risk risk;
	struct grant_offers offers;
	bool is_flood;	/* its rule asks so often that a group answer is offered */
	uint32_t image; /* number of the image whose policy asks */
	uint64_t turn;
	int64_t pid;
	uint64_t asked_real_ns, asked_ns; /* CLOCK_REALTIME, CLOCK_BOOTTIME */
	uint64_t until_ns; /* CLOCK_BOOTTIME; pending: the deadline, expired and late: how long it is kept */
	uint64_t held_ns;  /* by how much broker_touch() has moved the deadline */
	struct card_process *asker; /* all processes that asked, in order, also those that are gone; owned */
	size_t n_askers;
	struct outcome outcome;
};

#define RATE_MAX   10 /* most new questions in a second */
#define RECENT_MAX 64
#define FLOOD	   5 /* with more questions of one rule in a minute, a group answer is offered */

/* A question of the last minute. */
struct recent {
	uint64_t rule; /* a hash */
	uint64_t ns;
};

#define SHORT_DIGITS 4 /* how many digits of an id people type at least */
#define SHORTS	     (1u << 4 * SHORT_DIGITS)

#define CLOSED_MAX 72 /* more than can wait at the same time */

/* A card that was closed, for clients that answer too late. */
struct closed {
	char id[APPROVAL_ID_HEX], by[132];
	enum approval_state state;
};

struct queue {
	struct approval *list[APPROVALS_MAX]; /* oldest first */
	size_t n;
	char denied[DENIED_MAX][PRINT_HEX];
	size_t n_denied, next_denied;
	struct recent recent[RECENT_MAX];
	size_t next_recent;
	uint64_t turn;
	uint8_t shorts[SHORTS / 8]; /* a bit for each first SHORT_DIGITS digits that an id has used */
	unsigned n_shorts;
	struct closed closed[CLOSED_MAX];
	size_t next_closed;
};

enum approval_known {
	KNOWN_NOTHING,
	KNOWN_LATE, /* *ret_card was approved late: its approval is for this question */
	KNOWN_DENIED,
	KNOWN_PENDING, /* *ret_card waits for an answer */
	KNOWN_FULL,    /* too many questions wait */
	KNOWN_RATE     /* too many questions came in this second */
};

/* --- approve.c --- */

/* The SHA-256 by which two requests are the same question, over length-prefixed parts. */
void approval_print(const struct request *req, uint32_t image, char print[PRINT_HEX]);
/* Whether this question was asked before, with its card.  This uses up a late approval. */
enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 struct approval **ret_card);
/*
 * A card to remove for a new question if the queue is full, or NULL: one that expired without an answer, else
 * one that only waits for its outcome.  Never an answer that no process has got yet.
 */
struct approval *queue_dispensable(struct queue *a);
/* Adds ap (heap; id, print and rule set) as pending, and owns it.  -ENOSPC: the caller still owns ap. */
int queue_add(struct queue *a, struct approval *ap, uint64_t now_ns);
/* By unique prefix of the id (at least 4 digits): 0, -ENOENT, -EEXIST (ambiguous). */
int queue_find(struct queue *a, const char *prefix, struct approval **ret);
/* Changes the state; -EPERM where the table of states does not allow it. */
int approval_move(struct approval *ap, enum approval_state to);
/* Denies the same question without asking until the turn ends. */
void queue_deny(struct queue *a, const struct approval *ap);
/* Takes ap off the list and frees it. */
void queue_forget(struct queue *a, struct approval *ap);
/* The card with exactly this id, or NULL. */
struct approval *queue_by_id(struct queue *a, const char *id);
/* A card whose time is over: a pending one to expire, an expired or late one to remove; or NULL. */
struct approval *queue_overdue(struct queue *a, uint64_t now_ns);
/* Remembers the state in which ap was closed, and by whom. */
void queue_note_closed(struct queue *a, const struct approval *ap, const char *by);
/* The closed card with this prefix of the id (at least 4 characters), or NULL.  Borrowed. */
const struct closed *queue_closed(const struct queue *a, const char *prefix);
size_t queue_count(const struct queue *a, enum approval_state state);
/* Begins the next turn: questions that were denied may be asked again. */
void queue_turn(struct queue *a);
void queue_done(struct queue *a);
void approval_free(struct approval *ap);
const char *approval_state_name(enum approval_state s);
/* Both depend only on the card's state. */
bool approval_is_listed(const struct approval *ap); /* shown to the operator */
bool approval_may_answer(const struct approval *ap);
/* Reserves the first SHORT_DIGITS digits of this id; false where a recent question had them. */
bool queue_take_short(struct queue *a, const char *id);
/* How many digits of the id are unique among the listed cards, at least SHORT_DIGITS. */
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

/* --- card_json.c --- */

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

/* --- broker.c --- */

/* How long an expired card may still be answered, and a late approval be used. */
#define NS_LISTED 600000000000ull

/* A human reads the card: puts its deadline off to two minutes from now, but WIRE_HOLD_S at most in all. */
void broker_touch(struct approval *ap);
struct wire_answer;
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

/* --- answer.c --- */

struct broker_reply {
	enum approval_state said; /* approved or denied */
	enum grant_scope scope;
	const char *rule;  /* the policy line that is granted; NULL: the narrowest one offered */
	const char *until; /* GRANT_PROJECT: "YYYY-MM-DD", or NULL */
	const char *reason, *by;
	const char *confirmed; /* "", "passphrase", or "pam" (the client's claim) */
	size_t seen;	       /* number of asking processes that were shown: a yes is only for these */
	bool group;	       /* also answers similar pending cards */
	const json_t *with;    /* for a yes to a group: digests of the cards that were shown; NULL: none */
	pid_t pid;
};

struct broker_result {
	unsigned waiters; /* number of processes that got the answer */
	bool late;
	char grant[GRANT_ID_HEX];		   /* id of the grant that was made, or "" */
	char also[LIMIT_PENDING][APPROVAL_ID_HEX]; /* other cards that were answered */
	size_t n_also;
	char err[256]; /* on failure: one sentence */
};
/* Applies a human's answer.  0, and the caller must not use ap afterwards; or -errno with ret->err. */
int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret);

/* --- outcome.c --- */

/* Before process pid gets a yes: an act of it may follow. */
void outcome_expect(struct approval *ap, pid_t pid);
/* The last process of outcome_expect() did not get its answer. */
void outcome_forgo(struct approval *ap);
/* A ring has the record of an act that approval `id` allowed.  feed says whether it is a claim. */
void outcome_begun(struct helper *h, const char *id, enum feed_id feed);
/* The supervisor's record of its result: 0, RING_HANDED_ON, or an errno. */
void outcome_done(struct helper *h, const char *id, uint32_t result);
/* Records the outcome of approvals whose processes are all gone. */
void outcome_tick(struct helper *h, uint64_t now_ns);
/* Records the outcome of ap, with the reason why no act is expected any more, and frees ap. */
void outcome_end(struct helper *h, struct approval *ap, const char *why);
/* The same for all that are left, after the last record of the rings. */
void outcome_end_all(struct helper *h);

/* --- reach.c --- */

/* Reads the list of words in the start message; unknown words are ignored. */
unsigned reach_of(const json_t *list);
/* True where a human can be asked; *ret_why is a sentence that says how one could be. */
bool reach_anybody(const struct helper *h, const char **ret_why);
/* Tells the launcher and the listening clients that ap waits, or that it does not wait any more. */
void reach_asked(struct helper *h, const struct approval *ap);
void reach_closed(struct helper *h, const struct approval *ap, const char *by, enum grant_scope scope);

#endif
