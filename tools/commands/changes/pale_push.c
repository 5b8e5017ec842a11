/* pale push N: the operator pushes a change that is open, was denied or failed. */
#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/gate/courier.h"
#include "tools/ledgers/deeds.h"

#include "changes.h"

#define OP_PUSHED "change/push"

/* Recorded first: what cannot be recorded is not pushed. */
static int push(const struct dirs *dirs, const char *git, struct change *c)
{
	_cleanup_free_ char *url = courier_shown(c->url), *target = NULL;
	const struct change *const list[] = { c };
	char why[WHY_MAX] = "";
	enum courier_end end;
	int e;

	if (!url || asprintf(&target, "%s %s", c->ref, url) < 0)
		return EXIT_USAGE;
	if (machine_note(OP_PUSHED, target, c->new_oid, strlen(c->new_oid)) < 0)
		return EXIT_FINDINGS;
	end = courier_push(git, list, 1, why);
	(void)machine_done(OP_PUSHED, target, end == COURIER_PUSHED ? 0 : -EIO);
	/* One that could not be asked is as open as before. */
	e = change_settle(dirs->state, c,
			  end == COURIER_PUSHED	   ? CHANGE_PUSHED
			  : end == COURIER_REFUSED ? CHANGE_FAILED
						   : c->state,
			  end == COURIER_PUSHED ? "pushed by the operator" : why);
	if (e < 0)
		talk("what became of change %u cannot be kept: %s", c->number, strerror(-e));
	if (end != COURIER_PUSHED) {
		talk("change %u is not pushed: %s", c->number, why);
		return EXIT_FINDINGS;
	}
	printf("pushed change %u: %.12s as ", c->number, c->new_oid);
	print_escaped(stdout, c->ref);
	fputs(" of ", stdout);
	print_recorded(stdout, url);
	putchar('\n');
	return EXIT_OK;
}

static int push_run(const struct options *o, int argc, char **argv)
{
	char git[PATH_MAX];
	struct change c;
	struct dirs dirs;
	int code = EXIT_FINDINGS;

	(void)o;
	if (argc != 1) {
		talk("push takes the number of a change: see pale changes");
		return EXIT_USAGE;
	}
	if (changes_place(&dirs, git) < 0)
		return EXIT_USAGE;
	if (changes_load(&dirs, argv[0], &c) == 0) {
		if (c.state == CHANGE_PUSHED)
			talk("change %u is pushed already", c.number);
		else
			code = push(&dirs, git, &c);
	}
	change_done(&c);
	return code;
}

const struct subcommand subcommand_push = {
	.name = "push",
	.args = "N",
	.summary = "push a change that waits, was denied or failed",
	.operands = OPERANDS_MIXED,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = push_run,
};
