/*
 * Write it down: decisions go into the session's ring, without a system call unless it is full.
 */
#include "preload/clock.h"
#include "preload/internal.h"

/* An idle reader sleeps long, so a full ring wakes it; it then drains a million records a second.  A
 * helper that is dead or stopped must not stop the agent: after this long the record is given up. */
#define FULL_ROUNDS 250
#define FULL_NAP_NS 200000
#define FULL_KICK   50

static bool wait_for_room(unsigned round)
{
	struct timespec nap = { .tv_nsec = FULL_NAP_NS };

	if (round >= FULL_ROUNDS)
		return false;
	if (round % FULL_KICK == 0)
		ask_kick();
	raw2(SYS_nanosleep, &nap, NULL);
	return true;
}

static void log_record(struct ring_record *rec)
{
	rec->time_ns = clock_now();
	ring_write(session.ring, rec, wait_for_room);
}

void log_attach(void)
{
	struct ring_record rec = { .kind = RING_ATTACH, .op = OP_ATTACH, .verdict = VERDICT_ALLOW };

	rec.pid = sys_pid();
	rec.ppid = (int32_t)raw0(SYS_getppid);
	rec.exe = session.exe;
	rec.rule = RULE_NONE;
	log_record(&rec);
	atomic_fetch_add(&session.ring->attached, 1);
	if (atomic_load(&session.ring->root_pid) == rec.pid)
		atomic_store(&session.ring->root_attached, 1);
}

void log_decision(const struct request *req, const char *target, const struct decision *d,
		  const char *approval)
{
	struct ring_record rec = ring_decision(req, d, target ? target : "");

	rec.approval = approval;
	if (!session.ring)
		return;
	rec.image = session.image + session.now->h->counts_from;
	if (sys_pid_is_new())
		log_attach();
	/* A vfork child shares its parent's cached pid; an exec can afford to ask. */
	rec.pid = req->op == OP_EXEC ? (int32_t)raw0(SYS_getpid) : sys_pid();
	log_record(&rec);
}
