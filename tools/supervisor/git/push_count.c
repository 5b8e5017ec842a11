/* What a push sends, as its card says it. */
#include "push_count.h"

#include <stdio.h>

#include "tools/git/gitbranch.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"

#include "git_descent.h"

void pushes_count(struct caller *c, const struct git_push *push, char *buf, size_t size)
{
	const char *program = caller_may_block(c) ? session_setup(c->sup)->git.program : NULL;
	enum git_descent r = GIT_UNSHOWN;
	struct git_count n = { 0 };
	struct git_name now, old;
	size_t len = git_name_parse(push->now, &now);

	if (git_name_parse(push->old, &old) == len)
		r = git_descent(program, push->common, &old, &now, len, &n);
	if (r == GIT_UNSHOWN || !n.is_known)
		snprintf(buf, size, "; not counted: a commit cannot be read, or they are too many");
	else
		snprintf(buf, size, "; commits: %s%u%s", n.is_exact ? "" : "at most ", n.n,
			 r == GIT_LOSES ? ", and others are lost to it: it rewinds" : "; it takes none away");
}
