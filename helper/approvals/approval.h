/*
 * Approvals: questions to a human, the answers, step-up, and grants that answer later questions.
 *
 *   approval.h    a question to a human, as it is kept: the card
 *   queue         states, answers that hold for later questions, limits; no I/O and no clock
 *   new_card      makes a card of a request, and its records
 *   card_json     a card as the operator's clients get it
 *   shown         what a human is shown of a request, without secrets
 *   broker        questions: asked before, new, without a human to ask, expired
 *   respond       a human's answer, for one card or a group
 *   outcome       the results of approved acts
 *   reach_human   where a human can be asked, and notices to them
 *   grants_*      answers that hold for later questions
 *   stepup_check  a passphrase or PAM for approvals; tries counts wrong passphrases
 */
#ifndef PALE_HELPER_APPROVAL_H
#define PALE_HELPER_APPROVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/grant/grant.h"
#include "policy/judge/eval.h"
#include "policy/question/risk.h"

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

/* Changes the state; -EPERM where the table of states does not allow it. */
int approval_move(struct approval *ap, enum approval_state to);
void approval_free(struct approval *ap);
const char *approval_state_name(enum approval_state s);
/* Both depend only on the card's state. */
bool approval_is_listed(const struct approval *ap); /* shown to the operator */
bool approval_may_answer(const struct approval *ap);
/* The SHA-256 by which two requests are the same question, over length-prefixed parts. */
void approval_print(const struct request *req, uint32_t image, char print[PRINT_HEX]);

#endif
