/*
 * pale session gc: the sweep of a start, but without a time limit, and with each item printed.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/expiry.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/gather/load.h"
#include "tools/sessions/sessions.h"
#include "tools/sweep/sweep.h"

/* Takes the settings of the policy here, which the options override.  0 or an exit code after a message. */
static int take_policy(const struct options *o, struct gc_policy *ret)
{
	struct loaded l;
	struct diags d;
	int r;

	diags_init(&d);
	r = loaded_init(&l, o, &d);
	print_diags(stderr, &d);
	if (r == 0)
		r = gc_policy_take(ret, &l.policy, &l.bundle);
	loaded_done(&l);
	diags_done(&d);
	if (r < 0)
		talk("nothing was removed: %s", r == -EBADMSG ? "the policy has errors" : strerror(-r));
	return r < 0 ? EXIT_USAGE : 0;
}

static int take_age(const struct options *o, struct gc_policy *p)
{
	int s = o->older_than ? expiry_parse(o->older_than) : 0;

	if (s < 0) {
		talk("--older-than takes 1s to 3650d, as in 48h or 7d");
		return EXIT_USAGE;
	}
	if (s > 0)
		p->expiry_s = s;
	return 0;
}

int session_gc(const struct options *o, int argc)
{
	const struct gc_wish wish = { .dry_run = o->dry_run, .json = o->json };
	struct gc_policy p = { .scope = GC_OFF };
	int code;

	if (argc > 0) {
		talk("session gc takes no operands");
		return EXIT_USAGE;
	}
	if (session_around()) {
		talk("session gc cannot run inside a session: run it outside, as the operator");
		return EXIT_USAGE;
	}
	code = take_policy(o, &p);
	if (code == 0)
		code = take_age(o, &p);
	if (code == 0)
		code = gc_command(&p, &wish);
	gc_policy_done(&p);
	return code;
}
