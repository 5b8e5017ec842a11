/* How an agent ended: what pale says when it could not start the agent or ended it, and its exit code. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/environment/environment.h"

#include "run.h"

/* A failure before the release of the agent was reported where it happened; after that only the exec can
 * fail. */
static struct agent_end not_started(const struct agentproc *a, const struct agent_fate *f)
{
	struct agent_end end = { .refused = true, .code = EXIT_PALE };

	if (!f->let_go)
		return end;
	end.code = f->error == -ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED;
	if (f->error == -E2BIG)
		environment_tell_too_big(a->environment, a->path, a->argv);
	else
		talk("cannot run %s: %s", a->path, strerror(-f->error));
	return end;
}

struct agent_end agent_end_of(const struct agentproc *a, const struct agent_fate *f)
{
	if (f->error < 0)
		return not_started(a, f);
	if (!f->attached) {
		talk("%s did not load libpale.so and was ended: level hooks cannot fence it; --level full "
		     "can, --allow-unhooked runs it unfenced",
		     a->path);
		return (struct agent_end){ .refused = true, .code = EXIT_REFUSED };
	}
	if (WIFSIGNALED(f->status))
		return (struct agent_end){ .signal = WTERMSIG(f->status) };
	return (struct agent_end){ .code = WEXITSTATUS(f->status) };
}

void agent_end_overrule(struct agent_end *end, enum end_why why)
{
	if (end->refused || why == END_ITSELF)
		return;
	*end = (struct agent_end){ .why = why, .code = why == END_HELPER ? EXIT_PALE : EXIT_TIMEOUT };
	if (why == END_STOP || why == END_AT_ONCE)
		end->code = 128 + (why == END_AT_ONCE ? SIGKILL : SIGTERM);
}
