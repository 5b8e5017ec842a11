/*
 * Records once that the hooks are in this process: at its start, or in a forked process before its first
 * record.  It is not in log.c, since that is compiled for speed.
 */
#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "log.h"

void log_attach(void)
{
	struct ring_hold hold;
	struct ring_record rec = { .kind = RING_ATTACH, .op = OP_ATTACH, .verdict = VERDICT_ALLOW };

	rec.pid = sys_pid();
	rec.ppid = (int32_t)raw0(SYS_getppid);
	rec.exe = session.exe;
	rec.rule = RULE_NONE;
	log_record(&rec, &hold);
	ring_end(&hold, true);
	atomic_fetch_add(&session.ring->attached, 1);
	if (atomic_load(&session.ring->root_pid) == rec.pid)
		atomic_store(&session.ring->root_attached, 1);
}
