/*
 * Checkpoints: what a ledger came to at some record, said in a record of its own and, where the helper has
 * a key, signed.
 *
 *   signature = Ed25519("pale-checkpoint-2" NUL, then session, count in decimal, head, time, the owner's
 *                       uid in decimal: each as u32 little-endian length, bytes)
 *
 * Those that name no owner are older: "pale-checkpoint-1", and no last field.
 *
 * The record's op is CHECKPOINT_OP, its detail the words of checkpoint_print().  It stands right behind
 * the records that it counts, so it can be held against the chain: count is its seq less one, head its prev.
 */
#ifndef PALE_CHECKPOINT_H
#define PALE_CHECKPOINT_H

#include "record.h"

#define CHECKPOINT_OP	     "checkpoint"
#define CHECKPOINT_DETAIL    512
#define CHECKPOINT_KEY_BYTES 32 /* the public key */
#define CHECKPOINT_KEY_HEX   65
#define CHECKPOINT_SIG_HEX   129
/* What the secret key is made of: as many random bytes. */
#define CHECKPOINT_SEED_BYTES 32

/* Signs.  Secret: wipe it. */
struct checkpoint_key {
	uint8_t secret[64], public[CHECKPOINT_KEY_BYTES];
};

struct checkpoint {
	uint64_t count;
	char head[RECORD_HASH_HEX];
	bool has_owner;
	uint32_t owner;		      /* whose session it is */
	char key[CHECKPOINT_KEY_HEX]; /* whose signature it is; "" where there is none */
	char sig[CHECKPOINT_SIG_HEX];
};

/* The pair of keys of a seed. */
void checkpoint_key_make(const uint8_t seed[CHECKPOINT_SEED_BYTES], struct checkpoint_key *ret);
/* Fills key and sig.  0, or -EMSGSIZE where session or time are longer than they can be. */
int checkpoint_sign(struct checkpoint *c, const char *session, const char *time,
		    const struct checkpoint_key *key);
/* "count=12 head=HEX owner=UID key=HEX sig=HEX", or "count=12 head=HEX owner=UID not sealed". */
void checkpoint_print(const struct checkpoint *c, char detail[CHECKPOINT_DETAIL]);
/* Those words exactly, or -EBADMSG. */
int checkpoint_parse(const char *detail, struct checkpoint *ret);
/* Whose session it is, out of the detail of a ledger's first record: "level=full; [observing; ]owner=UID;
 * ...". */
bool checkpoint_owner(const char *detail, uint32_t *ret);
/* It is signed by the key that it names, about this session and time. */
bool checkpoint_is_signed(const struct checkpoint *c, const char *session, const char *time);
/* 64 hex digits, perhaps a newline behind them, as a key.  0 or -EBADMSG. */
int checkpoint_key_parse(const char *text, size_t len, uint8_t key[CHECKPOINT_KEY_BYTES]);
void checkpoint_key_print(const uint8_t key[CHECKPOINT_KEY_BYTES], char hex[CHECKPOINT_KEY_HEX]);

#endif
