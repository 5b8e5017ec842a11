/*
 * Records: a call that was performed here goes into the supervisor's own ring, which no process of the
 * session can reach, so the helper takes it as seen by the kernel.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/sockaddr.h"
#include "policy/file/procpath.h"
#include "policy/system/system.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/ids.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/procs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"

#include "call_record.h"
#include "tell.h"
#include "verdict_answer.h"

/* Size of an address as text. */
#define RECORD_ADDR 48

/* ring_wait_fn has no context argument; a thread serves one call at a time. */
static _Thread_local struct supervisor *waiting;

/* After a wait without success no call waits again until the reader has moved: a dead helper must not delay
 * each call by five seconds. */
static bool wait_for_room(unsigned round)
{
	const struct timespec nap = { .tv_nsec = ring_full_nap_ns(round) };
	struct supervisor *s = waiting;
	uint64_t tail = atomic_load(&s->setup->kernel_ring->tail) + 1;

	if (atomic_load(&s->ring_stuck) == tail)
		return false;
	if (round >= RING_FULL_ROUNDS) {
		atomic_store(&s->ring_stuck, tail);
		return false;
	}
	if (ring_full_wakes(round))
		ask_kick(s);
	nanosleep(&nap, NULL);
	return true;
}

/* False: the record is lost, and counted as lost. */
static bool begin_record(struct supervisor *s, struct ring_record *rec, struct ring_hold *ret)
{
	rec->time_ns = clock_real_ns();
	waiting = s;
	if (ring_begin(s->setup->kernel_ring, rec, wait_for_room, ret) == RING_WRITTEN)
		return true;
	atomic_fetch_add(&s->setup->kernel_ring->lost, 1);
	return false;
}

static bool write_record(struct supervisor *s, struct ring_record *rec)
{
	struct ring_hold hold;
	bool written = begin_record(s, rec, &hold);

	ring_end(&hold, true);
	return written;
}

static void name_caller(struct caller *c, struct ring_record *rec)
{
	rec->pid = caller_tgid(c);
	rec->image = c->image_number + (c->image.h ? c->image.h->counts_from : 0);
}

static void write_caller(struct caller *c, struct ring_record *rec)
{
	name_caller(c, rec);
	if (rec->kind == RING_DECISION && rec->verdict != VERDICT_ALLOW)
		rec->id = ids_find(&c->sup->ids, rec);
	/* An id without a record must not be shown. */
	if (!write_record(c->sup, rec))
		rec->id = 0;
}

/* --- what a human approved ------------------------------------------------------------------------------ */

void record_approved(struct supervisor *s, const struct approved *a, pid_t tgid, uint32_t result)
{
	for (size_t i = 0; i < a->n; i++) {
		struct ring_record rec = {
			.kind = RING_OUTCOME,
			.op = a->op,
			.verdict = VERDICT_ALLOW,
			.rule = result,
			.pid = tgid,
			.exe = "",
			.target = "",
			.approval = a->id[i],
		};

		(void)write_record(s, &rec);
	}
}

void record_outcome(struct caller *c, uint32_t result)
{
	if (c->approved)
		record_approved(c->sup, c->approved, caller_tgid(c), result);
	c->approved = NULL;
}

/* Kept until the call is answered.  A stand-in's act happens elsewhere, and its outcome is not known. */
static void keep_approval(struct caller *c, enum op op, const char *approval)
{
	if (!c->approved) {
		c->approved = caller_scratch(c, sizeof(*c->approved));
		if (!c->approved)
			return;
		*c->approved = (struct approved){ .op = op };
	}
	if (c->approved->n < APPROVED_MAX)
		snprintf(c->approved->id[c->approved->n++], sizeof(c->approved->id[0]), "%s", approval);
	if (c->is_stand_in)
		record_outcome(c, RING_HANDED_ON);
}

static void put_record(struct caller *c, struct ring_record *rec)
{
	record_exe(c);
	write_caller(c, rec);
}

static uint32_t write_decision(struct caller *c, const struct request *req, const char *target,
			       const struct decision *d, const char *approval, const char *why, bool anyway)
{
	struct ring_record rec = ring_decision(req, d, target ? target : "");
	char addr[RECORD_ADDR];
	struct out o = out_of(addr, sizeof(addr));

	if (req->host && req->has_addr) {
		text_inet(&o, req->addr);
		rec.exe = text_end(&o);
	}
	rec.note = d->verdict == VERDICT_DENY && anyway ? NOTE_ANYWAY : c->note;
	rec.approval = approval;
	rec.why = why;
	c->note = NOTE_NONE;
	if (d->verdict != VERDICT_ALLOW && rec.note != NOTE_ANYWAY &&
	    !reason_is_quiet(req->op, d->reason, rec.target))
		atomic_fetch_add_explicit(&c->sup->denied, 1, memory_order_relaxed);
	put_record(c, &rec);
	if (approval[0] && d->verdict == VERDICT_ALLOW)
		keep_approval(c, req->op, approval);
	return rec.id;
}

void record_decision(struct caller *c, const struct request *req, const char *target,
		     const struct decision *d, const char *approval)
{
	(void)write_decision(c, req, target, d, approval, "",
			     d->verdict == VERDICT_DENY && tell_is_refused_anyway(req));
}

void record_act(struct caller *c, const struct request *req, const struct decision *d, struct ring_hold *ret)
{
	struct ring_record rec = ring_decision(req, d, req->path);

	rec.approval = "";
	name_caller(c, &rec);
	record_exe(c);
	(void)begin_record(c->sup, &rec, ret);
}

void record_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		   const char *approval, const char *why)
{
	bool anyway = tell_is_refused_anyway(req);
	uint32_t id = write_decision(c, req, target, d, approval, why, anyway);

	if (!anyway)
		tell_denied(c, req, target, d, why, id);
}

uint32_t record_claim(struct caller *c, struct ring_record *rec)
{
	char path[LIMIT_PATH];
	const struct request req = { .op = rec->op, .access = rec->access, .path = path };

	rec->kind = RING_CLAIM;
	(void)snprintf(path, sizeof(path), "%.*s", (int)rec->target_len, rec->target);
	if (rec->target_len < sizeof(path) && tell_is_refused_anyway(&req))
		rec->note = NOTE_ANYWAY;
	rec->pid = caller_tgid(c);
	rec->id = ids_find(&c->sup->ids, rec);
	record_exe(c);
	return write_record(c->sup, rec) ? rec->id : 0;
}

/* --- once -------------------------------------------------------------------------------------------- */

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

/* Remembers mark as what the helper was told last about this process.  False where mark was that already. */
static bool tell_first(struct caller *c, uint64_t mark)
{
	pid_t pid = caller_tgid(c);

	return atomic_exchange(&c->sup->told[(unsigned)pid % SAID_MAX], mark) != mark;
}

/*
 * The caller waits, so this is the program that makes the call: when the helper comes to the record, the
 * process may run another one.  A helper of another user may not read it at all (proc(5)).  What a task runs
 * changes by an exec alone, and each exec is compared when it is over (exec_verify.c, exec_unproven.c).
 */
void record_exe(struct caller *c)
{
	unsigned now = atomic_load(&c->sup->execs_watched) + 1;
	struct proc *p = proc_get(c);
	char link[48], exe[LIMIT_PATH];
	struct stat_fields stat;
	struct ring_record rec;
	ssize_t n;

	if (!p || (p->exe_told == now && !c->is_stand_in))
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)caller_tgid(c));
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0 || !caller_alive(c))
		return;
	exe[n] = '\0';
	rec = attach_record(exe, NOTE_NONE);
	if (tell_first(c, image_mark(caller_tgid(c), exe)) && stat_read(-1, caller_tgid(c), &stat) == 0) {
		rec.ppid = stat.ppid;
		write_caller(c, &rec);
	}
	p->exe_told = now;
}

void verdict_attach(struct caller *c, const char *exe, enum ring_note note)
{
	struct ring_record rec = attach_record(exe, note);
	uint64_t mark = image_mark(caller_tgid(c), exe);

	if (!mark_first(c->sup->attached, mark))
		return;
	put_record(c, &rec);
	/* The helper now takes the process for that program, whether the exec succeeds or not. */
	(void)tell_first(c, mark);
}
