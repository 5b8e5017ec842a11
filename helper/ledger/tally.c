/*
 * The counts of the session: for its last record, its description and the operator's requests.  A value: no
 * I/O.
 *
 * A process counts once for each way in which it is held: one that loses its hooks counts twice.
 */
#include "tally.h"

#include "policy/base/buf.h"
#include "policy/base/util.h"

#include "programs.h"

uint64_t tally_denied(const struct tally *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < FEEDS; i++)
		n += t->denied[i];
	return n;
}

json_t *tally_json(const struct tally *t)
{
	return json_pack("{s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:{s:I, s:I}, s:I, s:{s:I, s:I, s:I, s:I}}",
			 "processes", "hooked", (json_int_t)t->processes[HELD_HOOKS], "kernel_only",
			 (json_int_t)t->processes[HELD_KERNEL], "static",
			 (json_int_t)t->processes[HELD_STATIC], "calls", "hook",
			 (json_int_t)t->calls[FEED_HOOK], "kernel", (json_int_t)t->calls[FEED_KERNEL],
			 "denied", "hook", (json_int_t)t->denied[FEED_HOOK], "kernel",
			 (json_int_t)t->denied[FEED_KERNEL], "around", (json_int_t)t->around, "approvals",
			 "asked", (json_int_t)t->asked, "approved", (json_int_t)t->approved, "denied",
			 (json_int_t)t->refused, "expired", (json_int_t)t->expired);
}

void tally_text(const struct tally *t, struct out *o)
{
	const struct {
		const char *name;
		uint64_t n;
	} parts[] = {
		{ "; processes: hooked=", t->processes[HELD_HOOKS] },
		{ " kernel-only=", t->processes[HELD_KERNEL] },
		{ " static=", t->processes[HELD_STATIC] },
		{ "; calls: hook=", t->calls[FEED_HOOK] },
		{ " kernel=", t->calls[FEED_KERNEL] },
		{ "; denied: hook=", t->denied[FEED_HOOK] },
		{ " kernel=", t->denied[FEED_KERNEL] },
		{ " around=", t->around },
		{ "; approvals: asked=", t->asked },
		{ " approved=", t->approved },
		{ " denied=", t->refused },
		{ " expired=", t->expired },
	};

	for (size_t i = 0; i < NELEM(parts); i++) {
		text_str(o, parts[i].name);
		text_uint(o, parts[i].n);
	}
}
