/*
 * Puts a record into the session's ring, without a system call unless it is full.
 */
#include <sys/ioctl.h>

#include "policy/wire/wire.h"

#include "preload/process/clock.h"
#include "preload/process/gate.h"
#include "preload/process/session.h"

#include "ask.h"
#include "log.h"

/* An idle reader sleeps long, so a writer wakes it when the ring is full; it then reads a million records a
 * second.  It may also wait for the disk, or check a passphrase.  A helper that is dead or stopped must not
 * stop the agent: after FULL_ROUNDS, in all five seconds, the record is given up. */
#define FULL_ROUNDS  750
#define FULL_AWAKE   250 /* rounds in which the reader is woken, and naps are short */
#define FULL_NAP_NS  200000
#define FULL_LONG_NS 10000000
#define FULL_KICK    50

static bool wait_for_room(unsigned round)
{
	/* After one wait in vain, no call waits again until the reader has moved. */
	static _Atomic uint64_t stuck;
	struct timespec nap = { .tv_nsec = round < FULL_AWAKE ? FULL_NAP_NS : FULL_LONG_NS };
	uint64_t tail = atomic_load(&session.ring->tail) + 1;

	if (atomic_load(&stuck) == tail)
		return false;
	if (round >= FULL_ROUNDS) {
		atomic_store(&stuck, tail);
		return false;
	}
	if (round < FULL_AWAKE && round % FULL_KICK == 0)
		ask_kick();
	raw2(SYS_nanosleep, &nap, NULL);
	return true;
}

void log_record(struct ring_record *rec, struct ring_hold *ret)
{
	enum ring_written how;

	rec->time_ns = clock_now();
	how = ring_begin(session.ring, rec, wait_for_room, ret);
	if (how == RING_WRITTEN)
		return;
	if (level_now() == LEVEL_HOOKS)
		atomic_fetch_add(&session.ring->lost, 1);
	else
		carried3(SYS_ioctl, 2, WIRE_LOST, how);
}
