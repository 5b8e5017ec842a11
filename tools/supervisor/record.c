/*
 * Write it down: what was carried goes into the supervisor's own ring, which no process of the session
 * can reach, so the helper takes it as seen by the kernel.
 */
#include "tools/supervisor/notify.h"

#include <string.h>
#include <time.h>

#include "policy/sockaddr.h"

/* As in the preload: an idle reader sleeps long, so a full ring wakes it; then it drains a million records
 * a second.  50 ms in all. */
#define FULL_ROUNDS 250
#define FULL_NAP_NS 200000
#define FULL_KICK   50

/* An address in words. */
#define RECORD_ADDR 48

/* ring_wait_fn has no context; a thread serves one call. */
static _Thread_local struct supervisor *waiting;

/* Once it was waited for in vain, nobody waits again until the reader has moved: a dead helper must not
 * cost each call its 50 ms. */
static bool wait_for_room(unsigned round)
{
	const struct timespec nap = { .tv_nsec = FULL_NAP_NS };
	struct supervisor *s = waiting;
	uint64_t tail = atomic_load(&s->setup->kernel_ring->tail) + 1;

	if (atomic_load(&s->ring_stuck) == tail)
		return false;
	if (round >= FULL_ROUNDS) {
		atomic_store(&s->ring_stuck, tail);
		return false;
	}
	if (round % FULL_KICK == 0)
		ask_kick(s);
	nanosleep(&nap, NULL);
	return true;
}

static void record(struct caller *c, struct ring_record *rec)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	rec->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	rec->pid = caller_tgid(c);
	rec->image = c->image_number;
	waiting = c->sup;
	(void)ring_write(c->sup->setup->kernel_ring, rec, wait_for_room);
}

void record_decision(struct caller *c, const struct request *req, const char *target,
		     const struct decision *d, const char *approval)
{
	struct ring_record rec = ring_decision(req, d, target ? target : "");
	char addr[RECORD_ADDR];
	struct out o = out_of(addr, sizeof(addr));

	if (req->host && req->has_addr) {
		text_inet(&o, req->addr);
		rec.exe = text_end(&o);
	}
	rec.note = c->note;
	rec.approval = approval;
	c->note = NOTE_NONE;
	if (d->verdict != VERDICT_ALLOW)
		atomic_fetch_add_explicit(&c->sup->denied, 1, memory_order_relaxed);
	record(c, &rec);
}

/* --- once -------------------------------------------------------------------------------------------- */

bool mark_first(_Atomic uint64_t table[SAID_MAX], uint64_t mark)
{
	uint64_t hash = mark * 0x9e3779b97f4a7c15ull;

	return atomic_exchange_explicit(&table[(hash >> 32) % SAID_MAX], mark, memory_order_relaxed) != mark;
}

/* FNV-1a of the process and its program. */
static uint64_t image_mark(pid_t pid, const char *exe)
{
	uint64_t h = 0xcbf29ce484222325ull ^ (uint64_t)pid;

	for (const char *p = exe; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	return h ? h : 1;
}

void verdict_attach(struct caller *c, const char *exe, enum ring_note note)
{
	struct ring_record rec = {
		.kind = RING_ATTACH,
		.op = OP_ATTACH,
		.verdict = VERDICT_ALLOW,
		.rule = RULE_NONE,
		.note = note,
		.exe = exe,
		.target = "",
		.approval = "",
	};

	if (mark_first(c->sup->attached, image_mark(caller_tgid(c), exe)))
		record(c, &rec);
}
