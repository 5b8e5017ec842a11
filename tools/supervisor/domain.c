/*
 * Programs that confine themselves with Landlock (landlock(7)).
 *
 * The kernel does not check what the supervisor performs against the caller's own domain.  So for such a
 * program and its children the supervisor performs nothing that Landlock may limit: it judges the call and
 * leaves it to the kernel, where the floor and the program's own domain apply, as for a call with the pass.
 * A call on a file that git obeys is refused.  At strict, where nothing may be left to the kernel, no program
 * gets a ruleset (calls.def).
 *
 * The supervisor cannot see a domain.  It sees the call that makes one, and marks the process by a resource
 * limit without any other use (RLIMIT_LOCKS, since Linux 2.4.25): it is inherited over fork and exec, and
 * no program without privilege raises it again.  Which kinds of access are limited is noted for all programs
 * of the session together.
 */
#include "domain.h"

#include <errno.h>
#include <sys/resource.h>

#include "tools/wall/confine.h"
#include "tools/wall/landlock.h"

#include "answer.h"
#include "caller.h"
#include "handlers.h"
#include "setup.h"
#include "supervisor.h"

enum { LIMITS_ANY = 1, LIMITS_INET = 2, LIMITS_UNIX = 4 };

/* The supervisor has the limit with which the session began. */
static rlim_t unmarked(void)
{
	struct rlimit own;

	return getrlimit(RLIMIT_LOCKS, &own) < 0 ? 0 : own.rlim_max;
}

bool caller_is_confined(struct caller *c)
{
	struct rlimit limit;

	if (!atomic_load_explicit(&c->sup->domains, memory_order_acquire))
		return false;
	return prlimit(caller_tgid(c), RLIMIT_LOCKS, NULL, &limit) < 0 || limit.rlim_max < unmarked();
}

int caller_acts(struct caller *c, bool may_truncate)
{
	const struct kernel *kernel = session_setup(c->sup)->kernel;

	if (!caller_is_confined(c))
		return 0;
	/* The floor does not hold git's files, nor what a nested run has narrowed. */
	if (c->git_turn || c->git_late || c->image_number != 0 ||
	    (may_truncate && kernel->landlock_abi < LANDLOCK_TRUNCATE))
		return -EACCES;
	return RESULT_CONTINUE;
}

bool caller_may_reach(struct caller *c, bool is_unix)
{
	unsigned limits = atomic_load(&c->sup->domains);

	return !(limits & (is_unix ? LIMITS_UNIX : LIMITS_INET)) || !caller_is_confined(c);
}

/* The attributes are only noted: a program that changes them meanwhile weakens its own domain. */
struct answer carry_ruleset(struct caller *c)
{
	struct ll_ruleset_attr attr = { 0 };
	size_t size = c->arg[1] < sizeof(attr) ? c->arg[1] : sizeof(attr);
	unsigned limits = c->arg[1] > sizeof(attr) ? LIMITS_INET | LIMITS_UNIX : 0;

	if (size > 0 && caller_read(c, c->arg[0], &attr, size) == 0) {
		limits |= attr.handled_access_net ? LIMITS_INET : 0;
		limits |= attr.scoped & LL_SCOPE_ABSTRACT_UNIX || attr.handled_access_fs >= LL_FS_RESOLVE_UNIX
				  ? LIMITS_UNIX
				  : 0;
		atomic_fetch_or(&c->sup->domains, limits);
	}
	return answer_continue();
}

struct answer carry_restrict(struct caller *c)
{
	struct rlimit mark = { .rlim_max = unmarked() - 1 };

	/* Without a ruleset only what is logged changes. */
	if ((int)c->arg[0] < 0 || caller_is_confined(c))
		return answer_continue();
	mark.rlim_cur = mark.rlim_max;
	atomic_fetch_or(&c->sup->domains, LIMITS_ANY);
	return prlimit(caller_tgid(c), RLIMIT_LOCKS, &mark, NULL) < 0 ? answer_result(-EPERM)
								      : answer_continue();
}
