/*
 * Write it down: what was carried goes into the supervisor's own ring, which no process of the session
 * can reach, so the helper takes it as seen by the kernel.
 */
#include "tools/supervisor/notify.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void write_record(struct caller *c, struct ring_record *rec)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	rec->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	rec->pid = caller_tgid(c);
	rec->image = c->image_number;
	waiting = c->sup;
	(void)ring_write(c->sup->setup->kernel_ring, rec, wait_for_room);
}

static void record(struct caller *c, struct ring_record *rec)
{
	record_exe(c);
	write_record(c, rec);
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

static struct ring_record attach_record(const char *exe, enum ring_note note)
{
	return (struct ring_record){
		.kind = RING_ATTACH,
		.op = OP_ATTACH,
		.verdict = VERDICT_ALLOW,
		.rule = RULE_NONE,
		.note = note,
		.exe = exe,
		.target = "",
		.approval = "",
	};
}

/* What the helper was told last of this process: true where that was something else. */
static bool tell_first(struct caller *c, uint64_t mark)
{
	pid_t pid = caller_tgid(c);

	return atomic_exchange(&c->sup->told[(unsigned)pid % SAID_MAX], mark) != mark;
}

/* One look at a link for each record, only for a helper of another user, who may not read it (proc(5)). */
void record_exe(struct caller *c)
{
	char link[48], exe[LIMIT_PATH];
	struct ring_record rec;
	ssize_t n;

	if (!session_setup(c->sup)->tells_exe)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)caller_tgid(c));
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0 || !caller_alive(c))
		return;
	exe[n] = '\0';
	rec = attach_record(exe, NOTE_NONE);
	if (tell_first(c, image_mark(caller_tgid(c), exe)))
		write_record(c, &rec);
}

void verdict_attach(struct caller *c, const char *exe, enum ring_note note)
{
	struct ring_record rec = attach_record(exe, note);
	uint64_t mark = image_mark(caller_tgid(c), exe);

	if (!mark_first(c->sup->attached, mark))
		return;
	record(c, &rec);
	/* By now the helper takes the process for that program, whether the exec succeeds or not. */
	(void)tell_first(c, mark);
}
