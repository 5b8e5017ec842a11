/*
 * Priority, schedule and processors: a process sets its own.
 *
 * The filter lets through the number 0, which is the calling thread.  Here come the calls that name a thread
 * or a process.  The caller's own two numbers cannot become another's while it waits, so the kernel goes on
 * with them; any other number could between a verdict and the kernel's look at it, and is refused.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/wall/numbers.h"

struct answer carry_schedule(struct caller *c)
{
	bool second = c->nr == __NR_setpriority || c->nr == __NR_ioprio_set;
	pid_t pid = (pid_t)c->arg[second ? 1 : 0];

	return pid == c->tid || pid == caller_tgid(c) ? answer_continue() : answer_result(-EPERM);
}
