/*
 * The slots of the ring, shared by ring.c, which writes, and ring_read.c.  Private to policy/.
 */
#ifndef PALE_RING_SLOTS_H
#define PALE_RING_SLOTS_H

#include "ring_names.h"

enum slot_state { SLOT_FREE, SLOT_RESERVED, SLOT_PUBLISHED, SLOT_VOID };

/* The start of a record in its first slot; the strings follow, each with its NUL. */
struct entry {
	uint64_t tag;
	uint32_t sum; /* checksum of all that follows, with the strings */
	uint32_t rule, nested;
	uint32_t verdict;
	int32_t pid, ppid;
	uint64_t time_ns;
	uint32_t target_cut;
	uint16_t target_len, exe_len;
	uint8_t approval_len, kind, op, reason;
	uint8_t access, image, note, why_len;
	uint32_t id, unused; /* unused: padding, named because the checksum covers it */
};

#define ENTRY_SUMMED (offsetof(struct entry, sum) + sizeof(uint32_t))
#define ENTRY_ROOM   (RING_SLOT * RING_RECORD_SLOTS - sizeof(struct entry))

_Static_assert(sizeof(struct entry) <= RING_SLOT, "an entry's head lies in one slot");
_Static_assert(RING_RECORD_SLOTS < 128 && RING_RECORD_SLOTS < RING_SLOTS,
	       "the tag has 7 bits for the length");
_Static_assert(sizeof(struct ring_header) % RING_SLOT == 0, "slots are cache lines");

static inline uint8_t *slot_at(struct ring_header *h, uint64_t pos)
{
	return (uint8_t *)(h + 1) + (pos % RING_SLOTS) * RING_SLOT;
}

static inline uint64_t *tag_at(struct ring_header *h, uint64_t pos)
{
	return (uint64_t *)slot_at(h, pos);
}

static inline uint64_t tag_make(enum slot_state state, uint64_t pos, int32_t pid, size_t slots)
{
	return (uint64_t)state | (uint64_t)slots << 2 | (uint64_t)(pid & 0x7fffff) << 9 | pos << 32;
}

/* The tag of a reservation that has ended. */
static inline uint64_t tag_ended(uint64_t reserved, enum slot_state state)
{
	return (reserved & ~(uint64_t)3) | (uint64_t)state;
}

static inline uint64_t tag_free(uint64_t pos)
{
	return (pos / RING_SLOTS) << 32;
}

static inline size_t tag_slots(uint64_t tag)
{
	return tag >> 2 & 0x7f;
}

/* True where a writer may have made this tag for pos, with a length that fits before head. */
static inline bool tag_is(uint64_t tag, enum slot_state state, uint64_t pos, uint64_t head)
{
	size_t n = tag_slots(tag);

	return (tag & 3) == state && tag >> 32 == (pos & UINT32_MAX) && n > 0 && n <= RING_RECORD_SLOTS &&
	       n <= head - pos;
}

static inline bool tag_swap(uint64_t *tag, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(tag, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * The checksum of a record that begins at pos.  It covers the lap, so that a record left by an earlier lap
 * does not match.
 */
static inline uint32_t ring_sum_lap(uint64_t pos)
{
	return (uint32_t)(pos / RING_SLOTS) * 0x9e3779b1u;
}
uint32_t ring_sum(const struct entry *e, uint64_t pos, const char *target, const char *exe,
		  const char *approval, const char *why);

#endif
