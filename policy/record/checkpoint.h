/*
 * Checkpoints: records in a ledger that hold the number of records before them and the hash of the last one
 * (the head).  Where the helper has a key they are signed.
 *
 *   signature = Ed25519("pale-checkpoint-2" NUL, then session, count in decimal, head, time, the owner's
 *                       uid in decimal: each as u32 little-endian length, bytes)
 *
 * An older checkpoint names no owner: it is signed with "pale-checkpoint-1" and without the last field.
 *
 * The record's op is CHECKPOINT_OP, its detail the text of checkpoint_print().  It directly follows the
 * records that it counts, so it can be checked against the chain: count is its seq less one, head is its
 * prev.
 */
#ifndef PALE_CHECKPOINT_H
#define PALE_CHECKPOINT_H

#include "record.h"

#define CHECKPOINT_OP	     "checkpoint"
#define CHECKPOINT_DETAIL    512
#define CHECKPOINT_KEY_BYTES 32 /* the public key */
#define CHECKPOINT_KEY_HEX   65
#define CHECKPOINT_SIG_HEX   129
/* Size of the random seed of a pair of keys. */
#define CHECKPOINT_SEED_BYTES 32

/* A pair of keys.  The caller wipes the secret one. */
struct checkpoint_key {
	uint8_t secret[64], public[CHECKPOINT_KEY_BYTES];
};

struct checkpoint {
	uint64_t count;
	char head[RECORD_HASH_HEX];
	bool has_owner;
	uint32_t owner;		      /* uid of the session's user */
	char key[CHECKPOINT_KEY_HEX]; /* public key of the signature; "" where it is not signed */
	char sig[CHECKPOINT_SIG_HEX];
};

/* Makes the pair of keys of a seed. */
void checkpoint_key_make(const uint8_t seed[CHECKPOINT_SEED_BYTES], struct checkpoint_key *ret);
/* Signs c: fills its key and sig.  0, or -EMSGSIZE where session or time are too long. */
int checkpoint_sign(struct checkpoint *c, const char *session, const char *time,
		    const struct checkpoint_key *key);
/* "count=12 head=HEX owner=UID key=HEX sig=HEX", or "count=12 head=HEX owner=UID not sealed". */
void checkpoint_print(const struct checkpoint *c, char detail[CHECKPOINT_DETAIL]);
/* Reads exactly the text of checkpoint_print().  0 or -EBADMSG. */
int checkpoint_parse(const char *detail, struct checkpoint *ret);
/* The uid of the session's user, from the detail of a ledger's first record: "level=full; [observing;
 * ]owner=UID; ...".  False where it has none. */
bool checkpoint_owner(const char *detail, uint32_t *ret);
/* True where the signature is by c->key, and for this session and time. */
bool checkpoint_is_signed(const struct checkpoint *c, const char *session, const char *time);
/* Reads a key: 64 hexadecimal digits, and a newline or not.  0 or -EBADMSG. */
int checkpoint_key_parse(const char *text, size_t len, uint8_t key[CHECKPOINT_KEY_BYTES]);
void checkpoint_key_print(const uint8_t key[CHECKPOINT_KEY_BYTES], char hex[CHECKPOINT_KEY_HEX]);

#endif
