/*
 * Ids of denials: see ids.h.
 */
#include "ids.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(IDS_KEY == crypto_shorthash_KEYBYTES, "the key is SipHash's");

int ids_init(struct ids *ids)
{
	pthread_mutex_init(&ids->lock, NULL);
	return getrandom(ids->key, sizeof(ids->key), 0) == (ssize_t)sizeof(ids->key) ? 0 : -EIO;
}

static uint64_t hash(const struct ids *ids, const void *bytes, size_t n)
{
	uint64_t h;

	crypto_shorthash((unsigned char *)&h, bytes, n, ids->key);
	return h;
}

static uint64_t hash_text(const struct ids *ids, const char *text)
{
	return hash(ids, text ? text : "", text ? strlen(text) : 0);
}

/*
 * The n-th id: a keyed permutation of 32 bits in four rounds (Luby and Rackoff 1988).  So no id comes twice,
 * and the ids of one session tell nothing about those of another.
 */
static uint32_t permuted(const struct ids *ids, uint32_t n)
{
	uint16_t left = (uint16_t)(n >> 16), right = (uint16_t)n;

	for (uint16_t round = 0; round < 4; round++) {
		const uint16_t word[] = { round, right };
		const uint16_t next = (uint16_t)(left ^ hash(ids, word, sizeof(word)));

		left = right;
		right = next;
	}
	return (uint32_t)left << 16 | right;
}

/*
 * A number for what was denied: two denials with the same fields here are the same denial, repeated, unless
 * their targets were cut: these may differ behind the cut.
 */
static uint64_t deed_of(const struct ids *ids, const struct ring_record *r)
{
	const uint64_t key[] = {
		hash(ids, r->target, r->target_len),
		hash_text(ids, r->exe),
		hash_text(ids, r->why),
		(uint64_t)r->kind << 32 | (uint64_t)r->op,
		(uint64_t)r->reason << 32 | r->access,
		(uint64_t)r->rule << 32 | r->nested,
		(uint64_t)r->image << 32 | (uint64_t)r->note,
	};

	return hash(ids, key, sizeof(key));
}

uint32_t ids_find(struct ids *ids, const struct ring_record *r)
{
	const uint64_t deed = deed_of(ids, r), at = deed % IDS_RECENT;
	uint32_t id;

	pthread_mutex_lock(&ids->lock);
	/* 0 means no id, so the one number that is permuted to 0 is skipped. */
	if (ids->recent[at].deed != deed || ids->recent[at].id == 0 || r->target_cut > 0) {
		ids->recent[at].deed = deed;
		while ((ids->recent[at].id = permuted(ids, ids->given++)) == 0)
			;
	}
	id = ids->recent[at].id;
	pthread_mutex_unlock(&ids->lock);
	return id;
}

uint64_t ids_mark(const struct ids *ids, int32_t pid, enum op op, const char *target)
{
	const uint64_t key[] = { hash_text(ids, target), (uint64_t)pid << 32 | (uint64_t)op };

	return hash(ids, key, sizeof(key));
}

bool mark_first(_Atomic uint64_t table[SAID_MAX], uint64_t mark)
{
	uint64_t hash = mark * 0x9e3779b97f4a7c15ull;

	return atomic_exchange_explicit(&table[(hash >> 32) % SAID_MAX], mark, memory_order_relaxed) != mark;
}
