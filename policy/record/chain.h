/*
 * Verifies a ledger line by line: each record follows the one before, each checkpoint matches the records
 * before it and is signed by the key that it names, and questions without an outcome are listed.  No I/O.
 *
 * The chain alone shows whether records were edited, dropped or swapped.  That the whole ledger was
 * rewritten, or that its end is missing, shows only with something from outside: the public key of the
 * helper, or a head that was kept elsewhere.
 */
#ifndef PALE_CHAIN_H
#define PALE_CHAIN_H

#include "checkpoint.h"
#include "record.h"

#define CHAIN_OPEN_MAX	128 /* questions without an outcome; more cannot wait at once */
#define CHAIN_HEADS_MAX 64

/* The state of a question without an outcome. */
enum chain_stage { STAGE_ASKED, STAGE_APPROVED };

struct chain_question {
	char id[33];
	enum chain_stage stage;
	uint64_t seq;
	char what[96]; /* "exec git push origin", cut */
};

/* A head that was kept elsewhere: record `count` has this hash. */
struct chain_head {
	uint64_t count; /* 0: not known, so the record is found by its hash */
	char hash[RECORD_HASH_HEX];
	bool met; /* the record was found */
};

struct record_chain {
	uint64_t next_seq;
	char prev[RECORD_HASH_HEX];
	char session[64];
	uint64_t line;
	char removed_until[32]; /* ledgers up to this time were removed, as this one records; or "" */
	bool ended;		/* a session/end record was seen */
	bool tampered;		/* a RECORD_TAMPERED record was seen */
	bool last;		/* no record may follow */
	uint64_t lost;		/* number of records that were lost, as the ledger says */

	uint8_t key[CHECKPOINT_KEY_BYTES]; /* the known key, where has_key */
	bool has_key;
	bool has_owner, owner_known;	 /* `owner` is valid; `owner_must` is valid */
	uint32_t owner, owner_must;	 /* the uid that the ledger names; the uid that it must name */
	uint64_t checkpoints;		 /* number of checkpoints, signed or not */
	uint64_t sealed;		 /* the known key has signed the records up to this one */
	uint64_t signed_to;		 /* some key, known or not, has signed the records up to this one */
	char signer[CHECKPOINT_KEY_HEX]; /* that key, or "" */

	struct chain_question open[CHAIN_OPEN_MAX];
	size_t n_open;
	struct chain_head heads[CHAIN_HEADS_MAX];
	size_t n_heads;
};

void record_chain_init(struct record_chain *c);
/* Sets the known key: a checkpoint that is not signed by it is a fault. */
void record_chain_pin(struct record_chain *c, const uint8_t key[CHECKPOINT_KEY_BYTES]);
/* Sets the user whose ledger it must be: a ledger that names another one is a fault. */
void record_chain_pin_owner(struct record_chain *c, uint32_t uid);
/* Adds a head that this ledger has had: record `count` (0: not known) has this hash.  The last
 * CHAIN_HEADS_MAX that were added count.  False where hash is not a hash. */
bool record_chain_expect(struct record_chain *c, uint64_t count, const char *hash);
/* Checks the next line.  0, or -EBADMSG with a static sentence that says what is wrong. */
int record_chain_check(struct record_chain *c, const char *line, size_t len, const char **ret_err);
/* What is wrong with a ledger that ends here, of a session that is over: a static sentence or NULL.  The
 * caller tests `ended` for a missing end record. */
const char *record_chain_finish(const struct record_chain *c);

#endif
