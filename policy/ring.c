/*
 * The ring of ring.h.  What it guarantees:
 *
 *  - a slot's first word is its *tag*: state, length, writer and position in one 64-bit word, and
 *    every change of state is a compare-and-swap from the one expected value.  A writer that was
 *    given up as dead and wakes later cannot publish into a slot that has a new owner.
 *  - a record carries a checksum, so what such a writer scribbles into another's bytes is lost
 *    and counted, never read as a record.
 *  - the reader trusts its own position, copies first and checks the copy; no value in the
 *    shared memory is a length or an index that is used unchecked.
 *
 * A free slot's tag is the number of the lap in which it will be used next, so it is 0 in fresh
 * memory and no two laps share it.  Linked into the preload: no allocation, no system call.
 */
#include "ring_names.h"

#include <errno.h>
#include <string.h>

#define NS_STUCK 1000000000ull
/* An act takes microseconds, but an open of a FIFO may wait for ever: so long a filled reservation waits for
 * its writer, and then is read as it stands. */
#define NS_UNDER_WAY 5000000ull
/* Slots read before the writers are told: each telling takes a line away from all of them. */
#define TELL_SLOTS 512u
/* So often at most the head is taken from under a writer, before that counts as a full ring. */
#define TRIES 4096u

enum slot_state { SLOT_FREE, SLOT_RESERVED, SLOT_PUBLISHED, SLOT_VOID };

/* How a record begins in its first slot; the strings follow, each with its NUL. */
struct entry {
	uint64_t tag;
	uint32_t sum; /* of all below, and of the strings */
	uint32_t rule, nested;
	uint32_t verdict;
	int32_t pid, ppid;
	uint64_t time_ns;
	uint32_t target_cut;
	uint16_t target_len, exe_len;
	uint8_t approval_len, kind, op, reason;
	uint8_t access, image, note, why_len;
	uint32_t id, unused; /* named, for all of it is summed */
};

#define ENTRY_SUMMED (offsetof(struct entry, sum) + sizeof(uint32_t))
#define ENTRY_ROOM   (RING_SLOT * RING_RECORD_SLOTS - sizeof(struct entry))

_Static_assert(sizeof(struct entry) <= RING_SLOT, "an entry's head lies in one slot");
_Static_assert(RING_RECORD_SLOTS < 128 && RING_RECORD_SLOTS < RING_SLOTS,
	       "the tag has 7 bits for the length");
_Static_assert(sizeof(struct ring_header) % RING_SLOT == 0, "slots are cache lines");

static uint8_t *slot_at(struct ring_header *h, uint64_t pos)
{
	return (uint8_t *)(h + 1) + (pos % RING_SLOTS) * RING_SLOT;
}

static uint64_t *tag_at(struct ring_header *h, uint64_t pos)
{
	return (uint64_t *)slot_at(h, pos);
}

static uint64_t tag_make(enum slot_state state, uint64_t pos, int32_t pid, size_t slots)
{
	return (uint64_t)state | (uint64_t)slots << 2 | (uint64_t)(pid & 0x7fffff) << 9 | pos << 32;
}

static uint64_t tag_free(uint64_t pos)
{
	return (pos / RING_SLOTS) << 32;
}

static size_t tag_slots(uint64_t tag)
{
	return tag >> 2 & 0x7f;
}

/* A tag that some writer may have made for pos, with a length that fits before head. */
static bool tag_is(uint64_t tag, enum slot_state state, uint64_t pos, uint64_t head)
{
	size_t n = tag_slots(tag);

	return (tag & 3) == state && tag >> 32 == (pos & UINT32_MAX) && n > 0 && n <= RING_RECORD_SLOTS &&
	       n <= head - pos;
}

static bool tag_swap(uint64_t *tag, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(tag, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Against accidents only (a late writer's bytes), so it is cheap: multiplications that do not wait for each
 * other. */
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

static uint32_t sum_of(const struct entry *e, const char *target, const char *exe, const char *approval,
		       const char *why)
{
	uint64_t sum = sum_add(1, (const uint8_t *)e + ENTRY_SUMMED, sizeof(*e) - ENTRY_SUMMED);

	sum = sum_add(sum, target, e->target_len);
	if (e->exe_len)
		sum = sum_add(sum, exe, e->exe_len);
	if (e->approval_len)
		sum = sum_add(sum, approval, e->approval_len);
	if (e->why_len)
		sum = sum_add(sum, why, e->why_len);
	return (uint32_t)(sum ^ sum >> 32);
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

		/* Somebody who writes over head without end must not hold us without end. */
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

/* The strings behind the head where the record does not wrap, as nearly all do not. */
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

/* Copies bytes to offset off behind slot pos, around the end of the ring where need be; the next offset. */
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
	e->sum = sum_of(e, r->target, r->exe, r->approval, r->why);
	return (sizeof(*e) + target + exe + approval + why + 4 + RING_SLOT - 1) / RING_SLOT;
}

/* What an earlier lap left in the slot has another position, so its sum is wrong here. */
static uint32_t sum_here(uint32_t sum, uint64_t pos)
{
	return sum ^ (uint32_t)(pos / RING_SLOTS) * 0x9e3779b1u;
}

enum ring_written ring_begin(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait,
			     struct ring_hold *ret)
{
	struct entry e;
	size_t n = entry_fill(&e, r);
	uint64_t pos, mine;

	ret->tag = NULL;
	if (!reserve(h, n, wait, &pos))
		return RING_LOST;
	mine = tag_make(SLOT_RESERVED, pos, r->pid, n);
	e.sum = sum_here(e.sum, pos);
	/*
	 * Looked at before it is written: a page that this process has not touched is then mapped with the
	 * fifteen around it.  The swap fails only where the reader gave this reservation up, and then it
	 * has counted the loss.
	 */
	if (__atomic_load_n(tag_at(h, pos), __ATOMIC_RELAXED) != tag_free(pos) ||
	    !tag_swap(tag_at(h, pos), tag_free(pos), mine))
		return RING_ROBBED;
	/* The ring is larger than any cache, so the next record's lines are cold: fetch them while we fill
	 * ours. */
	__builtin_prefetch(slot_at(h, pos + n), 1);
	__builtin_prefetch(slot_at(h, pos + n + 1), 1);
	if (pos % RING_SLOTS + n <= RING_SLOTS)
		put_straight(slot_at(h, pos), &e, r);
	else
		put_wrapped(h, pos, &e, r);
	*ret = (struct ring_hold){ .tag = tag_at(h, pos), .mine = mine };
	return RING_WRITTEN;
}

void ring_end(const struct ring_hold *hold, bool keep)
{
	/* It fails where the reader did not wait: it has the record, or has counted it as lost. */
	if (hold->tag)
		(void)tag_swap(hold->tag, hold->mine,
			       (hold->mine & ~(uint64_t)3) | (keep ? SLOT_PUBLISHED : SLOT_VOID));
}

enum ring_written ring_write(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait)
{
	struct ring_hold hold;
	enum ring_written how = ring_begin(h, r, wait, &hold);

	ring_end(&hold, true);
	return how;
}

/* --- reading --- */

static void tampered(struct ring_reader *rd, enum ring_tamper how)
{
	rd->tampered |= 1u << how;
}

/* Gives what was read back to the writers: each slot is marked for the next lap before the tail moves. */
void ring_done(struct ring_reader *rd, bool but_the_last)
{
	const uint64_t end = but_the_last ? rd->last : rd->next;

	if (rd->freed == end)
		return;
	for (uint64_t pos = rd->freed; pos != end; pos++)
		__atomic_store_n(tag_at(rd->h, pos), tag_free(pos + RING_SLOTS), __ATOMIC_RELAXED);
	rd->freed = end;
	atomic_store_explicit(&rd->h->tail, end, memory_order_release);
}

/* The reader goes on by n slots. */
static void pass(struct ring_reader *rd, size_t n)
{
	rd->last = rd->next;
	rd->next += n;
	if (!rd->keeps && (rd->next == rd->seen || rd->next - rd->freed >= TELL_SLOTS))
		ring_done(rd, false);
}

/* Copies the record's slots into store and checks the copy. */
static bool take(struct ring_reader *rd, size_t slots, struct ring_record *ret)
{
	size_t room = slots * RING_SLOT - sizeof(struct entry);
	size_t at = (size_t)(rd->next % RING_SLOTS);
	size_t first = slots < RING_SLOTS - at ? slots : RING_SLOTS - at;
	const char *target = rd->store + sizeof(struct entry);
	const char *exe, *approval, *why;
	struct entry e;

	memcpy(rd->store, slot_at(rd->h, rd->next), first * RING_SLOT);
	if (slots > first)
		memcpy(rd->store + first * RING_SLOT, rd->h + 1, (slots - first) * RING_SLOT);
	memcpy(&e, rd->store, sizeof(e));
	if ((size_t)e.target_len + e.exe_len + e.approval_len + e.why_len + 4 > room)
		return false;
	exe = target + e.target_len + 1;
	approval = exe + e.exe_len + 1;
	why = approval + e.approval_len + 1;
	if (exe[-1] != '\0' || approval[-1] != '\0' || why[-1] != '\0' || why[e.why_len] != '\0')
		return false;
	if (sum_here(sum_of(&e, target, exe, approval, why), rd->next) != e.sum)
		return false;
	if (e.kind < RING_DECISION || e.kind > RING_CLAIM || e.op >= OP_COUNT || e.reason >= REASON_COUNT ||
	    e.note >= NOTE_COUNT)
		return false;
	*ret = (struct ring_record){
		.kind = (enum ring_kind)e.kind,
		.op = (enum op)e.op,
		.verdict = (enum verdict)e.verdict,
		.reason = (enum reason)e.reason,
		.access = e.access,
		.rule = e.rule,
		.nested = e.nested,
		.image = e.image,
		.note = (enum ring_note)e.note,
		.pid = e.pid,
		.ppid = e.ppid,
		.time_ns = e.time_ns,
		.target = target,
		.target_len = e.target_len,
		.target_cut = e.target_cut,
		.exe = exe,
		.approval = approval,
		.id = e.id,
		.why = why,
	};
	return true;
}

/* How long the reader has seen the tail where it is. */
static uint64_t stuck_ns(struct ring_reader *rd, uint64_t now_ns)
{
	if (rd->stuck_since_ns == 0 || rd->stuck_pos != rd->next) {
		rd->stuck_pos = rd->next;
		rd->stuck_since_ns = now_ns > 0 ? now_ns : 1;
		return 0;
	}
	return now_ns - rd->stuck_since_ns;
}

/* Length of a reservation whose writer never wrote its length: up to the next tag, or to head. */
static size_t gap(struct ring_reader *rd, uint64_t head)
{
	uint64_t pos = rd->next + 1;

	for (; pos != head; pos++) {
		uint64_t tag = __atomic_load_n(tag_at(rd->h, pos), __ATOMIC_ACQUIRE);

		if (tag_is(tag, SLOT_PUBLISHED, pos, head) || tag_is(tag, SLOT_RESERVED, pos, head) ||
		    tag_is(tag, SLOT_VOID, pos, head))
			break;
	}
	return (size_t)(pos - rd->next);
}

/* What became of a reservation at the tail that is not published. */
enum unfinished { UNFINISHED_WAIT, UNFINISHED_GONE, UNFINISHED_READ };

/*
 * A filled one is a decision, whatever came of the act: that of a dead writer is not lost, and behind a slow
 * act nobody waits long.  The swap revokes it: a writer that wakes between here and the next lap changes
 * nothing any more.  Nobody will publish where the tag is neither what a writer expects nor what one makes.
 */
static enum unfinished finish(struct ring_reader *rd, uint64_t head, uint64_t tag, uint64_t now_ns,
			      ring_alive_fn alive, struct ring_record *ret)
{
	bool reserved = tag_is(tag, SLOT_RESERVED, rd->next, head);
	bool dead = reserved && alive && !alive((int32_t)(tag >> 9 & 0x7fffff));
	uint64_t since = stuck_ns(rd, now_ns);
	bool filled = reserved && (dead || since > NS_UNDER_WAY) && take(rd, tag_slots(tag), ret);

	if (!reserved && tag != tag_free(rd->next)) {
		tampered(rd, TAMPER_TAG);
		dead = true;
	}
	if (!filled && !dead && since <= NS_STUCK)
		return UNFINISHED_WAIT;
	if (!tag_swap(tag_at(rd->h, rd->next), tag, tag_free(rd->next + RING_SLOTS)))
		return UNFINISHED_GONE;
	pass(rd, reserved ? tag_slots(tag) : gap(rd, head));
	rd->lost += !filled;
	return filled ? UNFINISHED_READ : UNFINISHED_GONE;
}

/* What is in the header besides head is the launcher's and ours. */
static void look_at_header(struct ring_reader *rd)
{
	struct ring_header *h = rd->h;

	if (ring_check(h, ring_size()) < 0) {
		tampered(rd, TAMPER_HEADER);
		ring_init(h);
	}
	if (atomic_load_explicit(&h->tail, memory_order_relaxed) != rd->freed) {
		tampered(rd, TAMPER_TAIL);
		atomic_store_explicit(&h->tail, rd->freed, memory_order_release);
	}
	rd->seen = atomic_load_explicit(&h->head, memory_order_acquire);
}

static bool is_taken(uint64_t tag, uint64_t pos)
{
	return tag_is(tag, SLOT_PUBLISHED, pos, pos + RING_SLOTS) ||
	       tag_is(tag, SLOT_RESERVED, pos, pos + RING_SLOTS) ||
	       tag_is(tag, SLOT_VOID, pos, pos + RING_SLOTS);
}

/*
 * How far there may be records, as far as head can be believed.  It cannot where it lies behind us or too far
 * ahead, or where the slot that it says is free is taken (head is moved first, so it is read again).  Then
 * the tags alone count.
 */
static uint64_t end_of(struct ring_reader *rd, uint64_t tag, bool *ret_wrong)
{
	bool taken = is_taken(tag, rd->next);

	if (rd->seen == rd->next && taken)
		rd->seen = atomic_load_explicit(&rd->h->head, memory_order_acquire);
	*ret_wrong = rd->seen - rd->next > RING_SLOTS || (rd->seen == rd->next && taken);
	return *ret_wrong ? rd->next + RING_SLOTS : rd->seen;
}

/* The writers start over where the reader stands. */
static void resync(struct ring_reader *rd)
{
	atomic_store_explicit(&rd->h->head, rd->next, memory_order_relaxed);
	rd->seen = rd->next;
	ring_done(rd, false);
}

int ring_read(struct ring_reader *rd, uint64_t now_ns, ring_alive_fn alive, struct ring_record *ret)
{
	/* Bounded: somebody may publish nonsense as fast as it is read. */
	for (unsigned looks = 0; looks < RING_SLOTS; looks++) {
		uint64_t end, tag;
		bool wrong, ok;
		size_t n;

		if (rd->next == rd->seen)
			look_at_header(rd);
		tag = __atomic_load_n(tag_at(rd->h, rd->next), __ATOMIC_ACQUIRE);
		end = end_of(rd, tag, &wrong);
		if (end == rd->next)
			return 0;
		if (wrong)
			tampered(rd, TAMPER_HEAD);
		if (tag_is(tag, SLOT_VOID, rd->next, end)) {
			pass(rd, tag_slots(tag));
			continue;
		}
		if (!tag_is(tag, SLOT_PUBLISHED, rd->next, end)) {
			enum unfinished u;

			if (wrong && !is_taken(tag, rd->next)) {
				resync(rd);
				return 0;
			}
			u = finish(rd, end, tag, now_ns, alive, ret);
			if (u == UNFINISHED_GONE)
				continue;
			return u == UNFINISHED_READ;
		}
		n = tag_slots(tag);
		ok = take(rd, n, ret);
		pass(rd, n);
		if (ok)
			return 1;
		tampered(rd, TAMPER_RECORD);
		rd->lost++;
	}
	return 0;
}
