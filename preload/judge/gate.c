/*
 * A call on one name: judged, then made on the judged place through the gate, or made with the caller's own
 * arguments.
 */
#include "preload/process/gate.h"

#include "check.h"
#include "name_call.h"

/* word[0] to word[2] follow (dirfd, name), except for symlinkat, whose target comes first. */
static long name_raw(const uint64_t *pass, const struct name_call *c, int dirfd, const char *name)
{
	if (c->nr == SYS_symlinkat)
		return raw_pass(pass, c->nr, c->word[0], dirfd, RAW_ARG(name), 0, 0);
	return raw_pass(pass, c->nr, dirfd, RAW_ARG(name), c->word[0], c->word[1], c->word[2]);
}

static long name_plain(const struct name_call *c)
{
	static const uint64_t no_pass = 0;
	long r = -EINTR;

	for (int i = 0; r == -EINTR && i < GATE_ROUNDS; i++)
		r = c->act ? c->act(c, c->dirfd, c->path) : name_raw(&no_pass, c, c->dirfd, c->path);
	return r;
}

long name_call(const struct name_call *c)
{
	struct spot s UNINITIALIZED;
	long r = check_path(&s, c->op, c->dirfd, c->path, c->follow);

	if (r == CHECK_ACT)
		r = spot_did(&s,
			     c->act ? c->act(c, s.dirfd, s.name) : name_raw(gate_pass(), c, s.dirfd, s.name));
	spot_done(&s);
	return r == CHECK_PLAIN ? name_plain(c) : r;
}
