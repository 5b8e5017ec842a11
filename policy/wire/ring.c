/*
 * The ring of ring.h.  Guarantees:
 *
 *  - A slot's first word is its *tag*: state, length, writer and position in one 64-bit word.  Every
 *    change of state is a compare-and-swap from the one expected value, so a writer that runs again
 *    after the reader took it for dead cannot publish into a slot that has a new owner.
 *  - A record has a checksum.  If such a writer overwrites bytes of another record, that record is
 *    counted as lost and never read.
 *  - The reader trusts its own position, copies first and checks the copy; no length or index from
 *    the shared memory is used unchecked.
 *
 * A free slot's tag is the number of the lap in which it will be used next: 0 in new memory, and
 * different in each lap.  Linked into the preload: no allocation, no system call.
 */
#include "ring_slots.h"

#include <errno.h>

/* A writer that fails this many times to move the head treats the ring as full. */
#define TRIES 4096u

/* Protects only against accidents (bytes of a late writer), so a cheap sum is enough: its
 * multiplications are independent of each other. */
static uint64_t sum_add(uint64_t sum, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t factor = 0x9e3779b97f4a7c15ull + 2 * (uint64_t)n, w;

	for (; n >= sizeof(w); p += sizeof(w), n -= sizeof(w), factor += 0x632be59bd9b4e01aull) {
		memcpy(&w, p, sizeof(w));
		sum += (w ^ 0xa0761d6478bd642full) * factor;
	}
	w = n;
	for (size_t i = 0; i < n; i++)
		w = w << 8 | p[i];
	sum += (w ^ 0xa0761d6478bd642full) * factor;
	return sum ^ sum >> 29;
}

uint32_t ring_sum(const struct entry *e, uint64_t pos, const char *target, const char *exe,
		  const char *approval, const char *why)
{
	uint64_t sum = sum_add(1, (const uint8_t *)e + ENTRY_SUMMED, sizeof(*e) - ENTRY_SUMMED);

	sum = sum_add(sum, target, e->target_len);
	if (e->exe_len)
		sum = sum_add(sum, exe, e->exe_len);
	if (e->approval_len)
		sum = sum_add(sum, approval, e->approval_len);
	if (e->why_len)
		sum = sum_add(sum, why, e->why_len);
	return (uint32_t)(sum ^ sum >> 32) ^ ring_sum_lap(pos);
}

size_t ring_size(void)
{
	return ring_names_at() + ring_names_size();
}

void ring_init(struct ring_header *h)
{
	h->version = RING_VERSION;
	h->slots = RING_SLOTS;
	h->magic = RING_MAGIC;
}

int ring_check(const void *base, size_t size)
{
	const struct ring_header *h = base;

	if (!base || size < ring_size() || (uintptr_t)base % RING_SLOT != 0)
		return -EINVAL;
	if (h->magic != RING_MAGIC || h->version != RING_VERSION || h->slots != RING_SLOTS)
		return -EINVAL;
	return 0;
}

/* --- writing --- */

/* Reserves n slots in a row; false if the wait was given up. */
static bool reserve(struct ring_header *h, size_t n, ring_wait_fn wait, uint64_t *ret_pos)
{
	uint64_t head = atomic_load_explicit(&h->head, memory_order_relaxed);
	unsigned round = 0, tries = 0;

	for (;;) {
		uint64_t tail = atomic_load_explicit(&h->tail, memory_order_acquire);

		/* A process that overwrites head all the time must not keep this loop running for ever. */
		if (head - tail + n > RING_SLOTS || ++tries % TRIES == 0) {
			if (!wait || !wait(round++))
				return false;
			head = atomic_load_explicit(&h->head, memory_order_relaxed);
			continue;
		}
		if (atomic_compare_exchange_weak_explicit(&h->head, &head, head + n, memory_order_acq_rel,
							  memory_order_relaxed)) {
			*ret_pos = head;
			return true;
		}
	}
}

/* Writes a record that does not wrap: nearly all of them. */
static void put_straight(uint8_t *to, const struct entry *e, const struct ring_record *r)
{
	memcpy(to + sizeof(e->tag), (const uint8_t *)e + sizeof(e->tag), sizeof(*e) - sizeof(e->tag));
	to += sizeof(*e);
	memcpy(to, r->target, e->target_len);
	to += e->target_len;
	*to++ = '\0';
	if (e->exe_len)
		memcpy(to, r->exe, e->exe_len);
	to += e->exe_len;
	*to++ = '\0';
	if (e->approval_len)
		memcpy(to, r->approval, e->approval_len);
	to += e->approval_len;
	*to++ = '\0';
	if (e->why_len)
		memcpy(to, r->why, e->why_len);
	to[e->why_len] = '\0';
}

/* Copies n bytes to offset off from slot pos, around the end of the ring if necessary.  The next offset. */
static size_t ring_put(struct ring_header *h, uint64_t pos, size_t off, const char *bytes, size_t n)
{
	size_t at = (size_t)(pos % RING_SLOTS) * RING_SLOT + off;
	size_t end = (size_t)RING_SLOTS * RING_SLOT;
	uint8_t *base = (uint8_t *)(h + 1);
	size_t first;

	if (n == 0)
		return off;
	if (at >= end)
		at -= end;
	first = n < end - at ? n : end - at;
	memcpy(base + at, bytes, first);
	if (n > first)
		memcpy(base, bytes + first, n - first);
	return off + n;
}

static __attribute__((cold, noinline)) void put_wrapped(struct ring_header *h, uint64_t pos,
							const struct entry *e, const struct ring_record *r)
{
	size_t off = sizeof(e->tag);

	off = ring_put(h, pos, off, (const char *)e + off, sizeof(*e) - off);
	off = ring_put(h, pos, off, r->target, e->target_len);
	off = ring_put(h, pos, off, "", 1);
	off = ring_put(h, pos, off, r->exe, e->exe_len);
	off = ring_put(h, pos, off, "", 1);
	off = ring_put(h, pos, off, r->approval, e->approval_len);
	off = ring_put(h, pos, off, "", 1);
	off = ring_put(h, pos, off, r->why, e->why_len);
	ring_put(h, pos, off, "", 1);
}

static size_t bounded_len(const char *s, size_t max)
{
	size_t n = s ? strlen(s) : 0;

	return n < max ? n : max;
}

static size_t entry_fill(struct entry *e, const struct ring_record *r)
{
	size_t approval = bounded_len(r->approval, 255), why = bounded_len(r->why, 255);
	size_t exe = bounded_len(r->exe, LIMIT_PATH - 1);
	size_t room = ENTRY_ROOM - 4 - approval - exe - why;
	size_t target = r->target_len < room ? r->target_len : room;
	size_t cut = r->target_cut + (r->target_len - target);

	*e = (struct entry){
		.rule = r->rule,
		.nested = r->nested,
		.verdict = (uint32_t)r->verdict,
		.pid = r->pid,
		.ppid = r->ppid,
		.time_ns = r->time_ns,
		.target_cut = cut < UINT32_MAX ? (uint32_t)cut : UINT32_MAX,
		.target_len = (uint16_t)target,
		.exe_len = (uint16_t)exe,
		.approval_len = (uint8_t)approval,
		.kind = (uint8_t)r->kind,
		.op = (uint8_t)r->op,
		.reason = (uint8_t)r->reason,
		.access = (uint8_t)r->access,
		.image = (uint8_t)r->image,
		.note = (uint8_t)r->note,
		.why_len = (uint8_t)why,
		.id = r->id,
	};
	return (sizeof(*e) + target + exe + approval + why + 4 + RING_SLOT - 1) / RING_SLOT;
}

enum ring_written ring_begin(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait,
			     struct ring_hold *ret)
{
	struct entry e;
	size_t n = entry_fill(&e, r);
	uint64_t pos, mine;

	ret->tag = NULL;
	/* As much as possible is done before the reservation: a writer that is killed after it loses its
	 * record. */
	e.sum = ring_sum(&e, 0, r->target, r->exe, r->approval, r->why);
	if (!reserve(h, n, wait, &pos))
		return RING_LOST;
	e.sum ^= ring_sum_lap(pos);
	mine = tag_make(SLOT_RESERVED, pos, r->pid, n);
	/*
	 * The tag is read before it is written: a read fault maps the fifteen pages around, too.  The swap
	 * fails only where the slot is not free, or where the reader has given this reservation up and freed
	 * the slot for the next lap.
	 */
	if (__atomic_load_n(tag_at(h, pos), __ATOMIC_RELAXED) != tag_free(pos) ||
	    !tag_swap(tag_at(h, pos), tag_free(pos), mine))
		return __atomic_load_n(tag_at(h, pos), __ATOMIC_RELAXED) == tag_free(pos + RING_SLOTS)
			       ? RING_LOST
			       : RING_ROBBED;
	/* The next record's lines are rarely in a cache: fetch them while this record is filled. */
	__builtin_prefetch(slot_at(h, pos + n), 1);
	__builtin_prefetch(slot_at(h, pos + n + 1), 1);
	if (pos % RING_SLOTS + n <= RING_SLOTS)
		put_straight(slot_at(h, pos), &e, r);
	else
		put_wrapped(h, pos, &e, r);
	/* The reader has given it up, because filling it took longer than a second. */
	if (__atomic_load_n(tag_at(h, pos), __ATOMIC_SEQ_CST) != mine)
		return RING_LOST;
	*ret = (struct ring_hold){ .tag = tag_at(h, pos), .mine = mine };
	return RING_WRITTEN;
}

void ring_end(const struct ring_hold *hold, bool keep)
{
	/* The swap fails where the reader did not wait: it has read the record, or counted it as lost. */
	if (hold->tag)
		(void)tag_swap(hold->tag, hold->mine,
			       tag_ended(hold->mine, keep ? SLOT_PUBLISHED : SLOT_VOID));
}

enum ring_written ring_write(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait)
{
	struct ring_hold hold;
	enum ring_written how = ring_begin(h, r, wait, &hold);

	ring_end(&hold, true);
	return how;
}
