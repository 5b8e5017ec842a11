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

static bool wait_for_room(unsigned round)
{
	/* After one wait in vain, no call waits again until the reader has moved. */
	static _Atomic uint64_t stuck;
	struct timespec nap = { .tv_nsec = ring_full_nap_ns(round) };
	uint64_t tail = atomic_load(&session.ring->tail) + 1;

	if (atomic_load(&stuck) == tail)
		return false;
	if (round >= RING_FULL_ROUNDS) {
		atomic_store(&stuck, tail);
		return false;
	}
	if (ring_full_wakes(round))
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
