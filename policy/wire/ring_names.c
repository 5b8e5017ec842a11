/*
 * Address -> name, as the processes of the session have looked them up.
 *
 * The entries are used in turn, and each has a sequence number that is odd while the entry is written.
 * Readers never wait and skip an entry that is being written; a writer that finds an entry busy takes the
 * next one.  A process that is killed in the middle of a write leaves its entry odd, and unused, for ever.
 */
#include "ring_names.h"

#include <string.h>

#define NAMES	   256
#define NAME_WORDS (LIMIT_HOST / 8)
#define ADDR_WORDS 2

struct name_entry {
	_Atomic uint64_t seq;
	_Atomic uint64_t turn; /* higher is newer; 0: never written */
	_Atomic uint64_t addr[ADDR_WORDS];
	_Atomic uint64_t name[NAME_WORDS];
};

struct name_table {
	_Atomic uint64_t turns;
	struct name_entry list[NAMES];
};

size_t ring_names_size(void)
{
	return sizeof(struct name_table);
}

static struct name_table *table_of(struct ring_header *h)
{
	return (struct name_table *)((char *)h + ring_names_at());
}

static void store_words(_Atomic uint64_t *to, const void *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t w;

		memcpy(&w, (const char *)from + i * sizeof w, sizeof w);
		atomic_store_explicit(&to[i], w, memory_order_relaxed);
	}
}

static void load_words(void *to, const _Atomic uint64_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t w = atomic_load_explicit(&from[i], memory_order_relaxed);

		memcpy((char *)to + i * sizeof w, &w, sizeof w);
	}
}

static struct name_entry *entry_claim(struct name_table *t, uint64_t turn, uint64_t *ret_seq)
{
	for (unsigned i = 0; i < NAMES; i++) {
		struct name_entry *e = &t->list[(turn + i) % NAMES];
		uint64_t seq = atomic_load_explicit(&e->seq, memory_order_relaxed);

		*ret_seq = seq;
		if (!(seq & 1) && atomic_compare_exchange_strong(&e->seq, &seq, seq + 1))
			return e;
	}
	return NULL;
}

void ring_name_put(struct ring_header *h, const uint8_t addr[16], const char *name)
{
	struct name_table *t = table_of(h);
	size_t n = strlen(name);
	char padded[LIMIT_HOST] = { 0 };
	struct name_entry *e;
	uint64_t turn, seq;

	if (n >= sizeof padded)
		return;
	memcpy(padded, name, n + 1);
	turn = atomic_fetch_add(&t->turns, 1) + 1;
	e = entry_claim(t, turn, &seq);
	if (!e)
		return;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->turn, turn, memory_order_relaxed);
	store_words(e->addr, addr, ADDR_WORDS);
	store_words(e->name, padded, NAME_WORDS);
	atomic_store_explicit(&e->seq, seq + 2, memory_order_release);
}

/* True, with the entry's name and turn, if the entry is whole, newer than `than` and for this address. */
static bool entry_read(const struct name_entry *e, const uint8_t addr[16], uint64_t than, char *name,
		       uint64_t *ret_turn)
{
	uint64_t seq = atomic_load_explicit(&e->seq, memory_order_acquire);
	uint64_t turn = atomic_load_explicit(&e->turn, memory_order_relaxed);
	char copy[LIMIT_HOST];
	uint8_t have[16];

	if (seq & 1 || turn <= than)
		return false;
	load_words(have, e->addr, ADDR_WORDS);
	if (memcmp(have, addr, sizeof have) != 0)
		return false;
	load_words(copy, e->name, NAME_WORDS);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&e->seq, memory_order_relaxed) != seq)
		return false;
	memcpy(name, copy, sizeof copy);
	name[sizeof copy - 1] = '\0';
	*ret_turn = turn;
	return true;
}

bool ring_name_find(struct ring_header *h, const uint8_t addr[16], char *name)
{
	const struct name_table *t = table_of(h);
	uint64_t newest = 0;

	if (atomic_load_explicit(&t->turns, memory_order_relaxed) == 0)
		return false;
	for (unsigned i = 0; i < NAMES; i++)
		entry_read(&t->list[i], addr, newest, name, &newest);
	return newest != 0;
}
