/* What the helper sees of what outlives its session, in the ledger of that: policy/record/machine.h. */
#include "policy/record/machine.h"
#include "policy/system/system.h"

#include "helper/base/places.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"

#include "ledger.h"

int machine_event(const struct helper *h, const struct event *e)
{
	struct record r = { .pid = e->pid,
			    .ppid = e->ppid,
			    .exe = e->exe,
			    .op = e->op,
			    .verdict = e->verdict,
			    .via = e->via,
			    .approval = e->approval,
			    .detail = e->detail };
	int dir = places_open_user(h);

	time_format(clock_real_ns(), r.time);
	return dir < 0 ? dir
		       : machine_append(dir, h->foreign ? MACHINE_HELPER : MACHINE_OWN, places_readable(h),
					h->owner, &r);
}
