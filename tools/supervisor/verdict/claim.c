/*
 * A denial that a hook has decided: the supervisor records it too, where no process of the session can
 * change or remove the record, and returns the record's id to the hook.
 *
 * claim_of_tool() judges the tool that the caller names.  A caller that names another one gains nothing: it
 * learns what the policy says, which it may read, and can put no question that the agent's own tool could
 * not.
 */
#include "claim.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/threads/workers.h"

#include "call_record.h"
#include "tell.h"
#include "verdict.h"

/* Puts what the hooks report into the record; the id, or -errno. */
static long take_claim(struct caller *c, struct wire_denial *w)
{
	struct ring_record rec = { .verdict = VERDICT_DENY, .exe = "", .approval = "", .why = w->why };
	char *target = caller_scratch(c, RING_SLOT * RING_RECORD_SLOTS);
	long r = caller_read(c, c->arg[2], w, sizeof(*w));

	if (r < 0 || !target)
		return r < 0 ? r : -ENOMEM;
	if (w->size != sizeof(*w) || w->op >= OP_COUNT || w->reason >= REASON_COUNT)
		return -EINVAL;
	w->why[sizeof(w->why) - 1] = '\0';
	rec.op = (enum op)w->op;
	rec.access = w->access & ACCESS_ALL;
	rec.reason = (enum reason)w->reason;
	rec.rule = w->rule;
	rec.nested = w->nested;
	rec.image = w->image;
	rec.target = target;
	rec.target_len =
		w->target_len < RING_SLOT * RING_RECORD_SLOTS ? w->target_len : RING_SLOT * RING_RECORD_SLOTS;
	rec.target_cut = w->target_len - rec.target_len;
	r = caller_read(c, w->target, target, rec.target_len);
	return r < 0 ? r : record_claim(c, &rec);
}

long claim_of_hook(struct caller *c)
{
	_cleanup_close_ int fd = caller_fd(c, (int)c->arg[0]);
	struct wire_denial w = { 0 };
	long id = c->arg[2] ? take_claim(c, &w) : 0;
	struct stat st;

	if (id < 0 || w.is_quiet || fd < 0 || fstat(fd, &st) < 0 || !isatty(fd))
		return id;
	return tell_is_drawn_on(c, fd, st.st_rdev) ? id | WIRE_SAY_LATER : id;
}

long claim_of_tool(struct caller *c)
{
	char name[LIMIT_HOST], input[LIMIT_PATH];
	struct request req = { .op = OP_TOOL, .path = name, .aim = input };
	struct wire_tool w;
	long r = caller_read(c, c->arg[2], &w, sizeof(w));

	if (r == 0 && w.size != sizeof(w))
		r = -EINVAL;
	if (r == 0)
		r = caller_string(c, w.name, name, sizeof(name));
	if (r >= 0)
		r = caller_string(c, w.input, input, sizeof(input));
	if (r < 0)
		return r;
	/* Only the supervisor's own words say that an aim is unknown. */
	if (input[0] == AIM_UNKNOWN[0])
		input[0] = ' ';
	return verdict_judge(c, &req, name) ? 0 : -EACCES;
}
