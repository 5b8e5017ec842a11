/*
 * The reader of the ring: the helper, or `pale run` where the helper has died.
 *
 * It trusts only its own position.  It copies a record first and checks the copy.  Where it finds the header
 * or a tag overwritten, it notes that (enum ring_tamper) and repairs it.
 */
#include "ring_slots.h"

#define NS_STUCK 1000000000ull
/*
 * A writer that is killed within the few instructions between its reservation and its tag leaves a
 * reservation without a tag; so does a process that wipes tags.  More such reservations than this, or one
 * that is longer than a record, are taken for wiped.
 */
#define UNTAGGED_MAX 2
/* How long the reader waits for the writer of a filled reservation before it reads it.  Most acts take
 * microseconds, but an open of a FIFO may wait for ever. */
#define NS_UNDER_WAY 5000000ull
/* The tail moves once for this many slots, because each move takes a cache line from all writers. */
#define TELL_SLOTS 512u

static void tampered(struct ring_reader *rd, enum ring_tamper how)
{
	rd->tampered |= 1u << how;
}

/* Frees the slots that were read: each is marked for the next lap before the tail moves. */
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

/* Moves the reader on by n slots. */
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
	if (ring_sum(&e, rd->next, target, exe, approval, why) != e.sum)
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

/* How long the reader has been at its position. */
static uint64_t stuck_ns(struct ring_reader *rd, uint64_t now_ns)
{
	if (rd->stuck_since_ns == 0 || rd->stuck_pos != rd->next) {
		rd->stuck_pos = rd->next;
		rd->stuck_since_ns = now_ns > 0 ? now_ns : 1;
		return 0;
	}
	return now_ns - rd->stuck_since_ns;
}

/* The length of a reservation without a tag: up to the next valid tag, or to head. */
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

/* What the reader does with a reservation that is not published: wait for it, skip it, or read it. */
enum unfinished { UNFINISHED_WAIT, UNFINISHED_GONE, UNFINISHED_READ };

/*
 * A filled reservation holds a decision, whatever the act came to.  So the decision of a dead writer is not
 * lost, and a slow act does not hold up later records.  The swap publishes or voids the record in place of
 * its writer, which no longer can.  If this reader dies before ring_done(), the next one finds the same.  A
 * tag that no writer makes, and that is not free, is skipped at once: no writer will publish there.
 */
static enum unfinished finish(struct ring_reader *rd, uint64_t head, uint64_t tag, uint64_t now_ns,
			      ring_alive_fn alive, struct ring_record *ret)
{
	bool reserved = tag_is(tag, SLOT_RESERVED, rd->next, head);
	bool dead = reserved && alive && !alive((int32_t)(tag >> 9 & 0x7fffff));
	uint64_t since = stuck_ns(rd, now_ns);
	bool filled = reserved && (dead || since > NS_UNDER_WAY) && take(rd, tag_slots(tag), ret);
	uint64_t to;
	size_t slots;

	if (!reserved && tag != tag_free(rd->next)) {
		tampered(rd, TAMPER_TAG);
		dead = true;
	}
	if (!filled && !dead && since <= NS_STUCK)
		return UNFINISHED_WAIT;
	to = reserved ? tag_ended(tag, filled ? SLOT_PUBLISHED : SLOT_VOID) : tag_free(rd->next + RING_SLOTS);
	if (!tag_swap(tag_at(rd->h, rd->next), tag, to))
		return UNFINISHED_GONE;
	/* A slow writer may have filled it before the swap: then it has not seen that it was given up. */
	if (reserved && !filled)
		filled = take(rd, tag_slots(tag), ret);
	slots = reserved ? tag_slots(tag) : gap(rd, head);
	if (tag == tag_free(rd->next) && (++rd->untagged > UNTAGGED_MAX || slots > RING_RECORD_SLOTS))
		tampered(rd, TAMPER_TAG);
	pass(rd, slots);
	rd->lost += !filled;
	return filled ? UNFINISHED_READ : UNFINISHED_GONE;
}

/* Checks and repairs the header.  Writers change only head; the launcher and the reader set the rest. */
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
 * The end of the records.  That is head, unless head is wrong: behind the reader, too far ahead of it, or
 * equal to the reader's position although the slot there is taken.  (A writer moves head first, so it is read
 * again to be sure.)  Then only the tags count.
 */
static uint64_t end_of(struct ring_reader *rd, uint64_t tag, bool *ret_wrong)
{
	bool taken = is_taken(tag, rd->next);

	if (rd->seen == rd->next && taken)
		rd->seen = atomic_load_explicit(&rd->h->head, memory_order_acquire);
	*ret_wrong = rd->seen - rd->next > RING_SLOTS || (rd->seen == rd->next && taken);
	return *ret_wrong ? rd->next + RING_SLOTS : rd->seen;
}

/* Makes the writers continue at the reader's position. */
static void resync(struct ring_reader *rd)
{
	atomic_store_explicit(&rd->h->head, rd->next, memory_order_relaxed);
	rd->seen = rd->next;
	ring_done(rd, false);
}

int ring_read(struct ring_reader *rd, uint64_t now_ns, ring_alive_fn alive, struct ring_record *ret)
{
	/* Bounded: a process may publish invalid records as fast as they are read. */
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
