/*
 * A ledger, verified line by line: that each record follows the one before, that checkpoints say what
 * stands before them and are signed by whom they name, which questions were left open.  A value: no I/O.
 *
 * The chain alone shows that records were not edited, dropped or swapped; that all of it was made anew, or
 * that its end is missing, shows only against something from outside: a key that the ledger's writer does not
 * have, or a head that was told before.
 */
#ifndef PALE_CHAIN_H
#define PALE_CHAIN_H

#include "checkpoint.h"
#include "record.h"

#define CHAIN_OPEN_MAX	128 /* more questions than can wait at once */
#define CHAIN_HEADS_MAX 64

/* What became of a question so far. */
enum chain_stage { STAGE_ASKED, STAGE_APPROVED };

struct chain_question {
	char id[33];
	enum chain_stage stage;
	uint64_t seq;
	char what[96]; /* "exec git push origin", cut */
};

/* A head that was told before: record `count` has this hash. */
struct chain_head {
	uint64_t count; /* 0: not known, found by its hash */
	char hash[RECORD_HASH_HEX];
	bool met;
};

struct record_chain {
	uint64_t next_seq;
	char prev[RECORD_HASH_HEX];
	char session[64];
	uint64_t line;
	char removed_until[32]; /* older ledgers were removed, as a record of this one says; "" */
	bool ended;		/* a session/end record was seen */
	bool tampered;		/* a RECORD_TAMPERED was seen */
	bool last;		/* nothing may follow any more */

	uint8_t key[CHECKPOINT_KEY_BYTES]; /* pinned, where has_key */
	bool has_key;
	bool has_owner, owner_known; /* it says whose it is; it is known whose it must be */
	uint32_t owner, owner_must;
	uint64_t checkpoints; /* how many there are, signed or not */
	uint64_t sealed;      /* records up to here are vouched for by a signature of the pinned key */
	uint64_t signed_to;   /* the same by any key: worth what that key is worth */
	char signer[CHECKPOINT_KEY_HEX]; /* whose, "" where there is none */

	struct chain_question open[CHAIN_OPEN_MAX];
	size_t n_open;
	struct chain_head heads[CHAIN_HEADS_MAX];
	size_t n_heads;
};

void record_chain_init(struct record_chain *c);
/* From now on a signature by another key is a fault. */
void record_chain_pin(struct record_chain *c, const uint8_t key[CHECKPOINT_KEY_BYTES]);
/* From now on a ledger of another user's session is a fault. */
void record_chain_pin_owner(struct record_chain *c, uint32_t uid);
/* A head that this ledger is known to have had; of more than CHAIN_HEADS_MAX the latest count.  False where
 * hash is none. */
bool record_chain_expect(struct record_chain *c, uint64_t count, const char *hash);
/* 0, or -EBADMSG with a static sentence saying what is wrong with this line. */
int record_chain_check(struct record_chain *c, const char *line, size_t len, const char **ret_err);
/* What is wrong with a ledger that ends here, of a session that does not run any more: a static sentence or
 * NULL.  That it has no end record the caller sees by `ended`. */
const char *record_chain_finish(const struct record_chain *c);

#endif
