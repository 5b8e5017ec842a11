/*
 * Moves records from the rings to the ledger.  Both rings are read together, the older record first, so that
 * the ledger has the records of the hooks and of the supervisor in order.  No index, length or time is used
 * unchecked.  Losses are recorded.
 */
#include "drain_rings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "policy/system/system.h"

#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"

#include "entry.h"
#include "rings.h"

#define COUNT_MAX   (1ull << 53) /* the largest number that every JSON reader reads exactly */
#define GRACE_TRIES 50		 /* waits of a millisecond for writers in the middle of a record */
#define LET_GO_EACH 1024	 /* records between two writes of the ledger within a turn */
#define ROW_MAX	    256		 /* most records of one ring while the other one waits */

static bool is_alive(int32_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

void drain_init(struct helper *h)
{
	h->rings->feed[FEED_HOOK].via = "hook";
	h->rings->feed[FEED_HOOK].alive = is_alive;
	h->procs[FEED_HOOK].inherits = h->procs[FEED_KERNEL].inherits = h->foreign;
	/* No `alive`: the supervisor's records have the pids of callers, which may have exited by then. */
	h->rings->feed[FEED_KERNEL].via = "kernel";
}

/* --- losses --- */

static void record_loss(struct helper *h, const char *via, uint64_t n, const char *why)
{
	char detail[160];
	struct event e = { .op = "loss", .via = "helper", .detail = detail };

	e.count = n < COUNT_MAX ? n : COUNT_MAX;
	snprintf(detail, sizeof(detail), "%llu records (via %s) were lost: %s", (unsigned long long)e.count,
		 via, why);
	h->ledger->lost_total += e.count;
	(void)ledger_append(h->ledger, &e);
}

/* The count of lost records: where there is a supervisor, one that the session cannot change. */
static uint64_t given_up(const struct helper *h, const struct feed *f)
{
	const struct ring_header *kernel = h->rings->feed[FEED_KERNEL].ring;

	return atomic_load(f->ring == kernel || !kernel ? &f->ring->lost : &kernel->hook_lost);
}

/* Records each kind of tampering once, so that repeated tampering does not fill the ledger. */
static void report_tampering(struct helper *h)
{
	static const char *const what[TAMPER_COUNT] = {
		[TAMPER_HEADER] = "the ring's magic number, version or size",
		[TAMPER_HEAD] = "the position of the next record",
		[TAMPER_TAIL] = "the position of the helper",
		[TAMPER_TAG] = "the writer or the length of a record",
		[TAMPER_RECORD] = "a record",
	};
	const struct ring_header *kernel = h->rings->feed[FEED_KERNEL].ring;
	unsigned fresh = h->rings->feed[FEED_HOOK].reader.tampered;
	struct event e = { .op = RECORD_TAMPERED, .via = "helper", .target = RING_TAMPERED };

	if (kernel && atomic_load(&kernel->hook_robbed))
		fresh |= 1u << TAMPER_HEAD;
	fresh &= ~h->rings->tampered;
	for (size_t i = 0; i < TAMPER_COUNT; i++)
		if (fresh >> i & 1) {
			e.detail = what[i];
			(void)ledger_append(h->ledger, &e);
		}
	h->rings->tampered |= fresh;
	h->rings->is_fresh = h->rings->is_fresh || fresh;
}

bool drain_found_tampering(struct helper *h)
{
	bool is_fresh = h->rings->is_fresh;

	h->rings->is_fresh = false;
	return is_fresh;
}

static void report_losses(struct helper *h, struct feed *f)
{
	uint64_t lost = given_up(h, f);

	if (lost > f->ring_lost_seen)
		record_loss(h, f->via, lost - f->ring_lost_seen, "the ring was full");
	f->ring_lost_seen = lost;
	if (f->reader.lost > f->reader_lost_seen)
		record_loss(h, f->via, f->reader.lost - f->reader_lost_seen,
			    "their writers died or stalled while writing");
	f->reader_lost_seen = f->reader.lost;
}

static void report_all_losses(struct helper *h)
{
	for (size_t i = 0; i < FEEDS; i++)
		if (h->rings->feed[i].ring)
			report_losses(h, &h->rings->feed[i]);
	report_tampering(h);
}

/* --- in order of time --- */

static bool feed_peek(struct feed *f, uint64_t now_ns)
{
	if (f->ring && !f->has_next)
		f->has_next = ring_read(&f->reader, now_ns, f->alive, &f->next) == 1;
	return f->has_next;
}

/*
 * The ring whose next record is older, FEEDS where both are empty.  A claimed time can change only the order:
 * after ROW_MAX records of one ring it is the other one's turn.
 */
static enum feed_id feed_next(struct helper *h, uint64_t now_ns)
{
	bool hook = feed_peek(&h->rings->feed[FEED_HOOK], now_ns),
	     kernel = feed_peek(&h->rings->feed[FEED_KERNEL], now_ns);
	enum feed_id id = hook ? FEED_HOOK : FEED_KERNEL;

	if (!hook && !kernel)
		return FEEDS;
	if (hook && kernel) {
		if (h->rings->feed[FEED_KERNEL].next.time_ns < h->rings->feed[FEED_HOOK].next.time_ns)
			id = FEED_KERNEL;
		if (id == h->rings->row_of && h->rings->row >= ROW_MAX)
			id = id == FEED_HOOK ? FEED_KERNEL : FEED_HOOK;
	}
	h->rings->row = id == h->rings->row_of ? h->rings->row + 1 : 1;
	h->rings->row_of = id;
	return id;
}

/* Moves one record.  look_ns is the time by which a stalled writer is detected.  False: both are empty. */
static bool drain_one(struct helper *h, uint64_t look_ns, uint64_t now_ns)
{
	enum feed_id id = feed_next(h, look_ns);

	if (id == FEEDS)
		return false;
	h->rings->feed[id].has_next = false;
	entry_add(h, id, &h->rings->feed[id].next, now_ns);
	return true;
}

/*
 * Writes the ledger, and then frees these records in the rings.  If the helper is killed before, the
 * records are still in the rings, which `pale run` holds, too.
 */
static void free_records(struct helper *h)
{
	(void)ledger_flush(h->ledger);
	for (size_t i = 0; i < FEEDS; i++)
		if (h->rings->feed[i].ring)
			ring_done(&h->rings->feed[i].reader, h->rings->feed[i].has_next);
}

size_t drain_turn(struct helper *h)
{
	uint64_t now = clock_boot_ns();
	size_t n = 0;

	while (n < DRAIN_MAX && drain_one(h, clock_awake_ns(), now))
		if (++n % LET_GO_EACH == 0)
			free_records(h);
	report_all_losses(h);
	fold_flush(h->fold, FOLD_WAIT, now);
	free_records(h);
	if (h->rings->feed[FEED_KERNEL].ring)
		atomic_store(&h->rings->feed[FEED_KERNEL].ring->unwritten, h->fold->repeats);
	return n;
}

bool rings_are_empty(const struct helper *h)
{
	for (size_t i = 0; i < FEEDS; i++) {
		struct ring_header *ring = h->rings->feed[i].ring;

		if (ring &&
		    (h->rings->feed[i].has_next || atomic_load(&ring->head) != atomic_load(&ring->tail)))
			return false;
	}
	return true;
}

void drain_all(struct helper *h)
{
	const struct timespec ms = { .tv_nsec = NS_MS };
	/* Bounded: a process that writes all the time must not keep the session from ending. */
	size_t left = (size_t)FEEDS * RING_SLOTS, n;
	uint64_t now = clock_boot_ns();

	for (int i = 0; i < GRACE_TRIES; i++) {
		while (left > 0 && (n = drain_turn(h)) > 0)
			left -= n < left ? n : left;
		if (rings_are_empty(h))
			break;
		nanosleep(&ms, NULL);
	}
	/* Skip records that are still being written: two reads with times far apart make the reader do so. */
	while (left > 0 && (drain_one(h, 1, now) || drain_one(h, UINT64_MAX, now)))
		left--;
	free_records(h);
	report_all_losses(h);
	fold_flush(h->fold, FOLD_NOW, 0);
}
