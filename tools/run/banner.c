/*
 * What `pale run` prints: before the command starts, which policy holds and how; at the end, how it went.
 */
#include <string.h>

#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

#include "reach.h"
#include "run.h"
#include "run_impl.h"

void print_sources(const struct run *r)
{
	const char *preset = image_str(&r->launch.image, r->launch.image.h->preset);

	fprintf(stderr, "pale: policy preset %s", *preset ? preset : "agent");
	for (size_t i = 0; i < r->bundle.n_sources; i++) {
		const struct source *s = &r->bundle.sources[i];

		fputs(", ", stderr);
		print_escaped(stderr, s->path);
		if (s->layer == SOURCE_PROJECT || s->layer == SOURCE_ENV_PROJECT)
			fputs(" (may only tighten until `pale trust`)", stderr);
	}
	fprintf(stderr, ", network %s\n", network_name((enum network)r->launch.image.h->network));
}

/* Prints which agent's profile holds, and what the agent needs that pale may not do for it. */
static void print_agent(const struct run *r)
{
	const struct agent_profile *a = agent_find(r->bundle.agent);
	const char *needs = a ? agent_needs(a, (const char *const *)r->argv) : NULL;

	if (a)
		talk("agent %s: pale's profile for it applies, see pale-agents(7); its state is in %s%s%s",
		     a->name, r->relocation.state ? r->relocation.state : "your home",
		     r->relocation.state && a->home ? " and " : "",
		     r->relocation.state && a->home ? a->home : "");
	if (needs)
		talk("%s: its own sandbox cannot start in here: %s", a->name, needs);
}

static void print_questions(void)
{
	_cleanup_json_ json_t *there = reach_list();

	if (json_array_size(there))
		talk("questions wait in another terminal: pale pending, pale approve ID, pale deny ID");
	else
		talk("no terminal can ask you: questions are refused unless `pale watch` runs; to let them "
		     "wait, set "
		     "PALE_PROMPT=1");
}

void print_banner(const struct run *r)
{
	if (r->o->quiet)
		return;
	if (r->fence.level == LEVEL_HOOKS)
		talk("session %s, level hooks: %s", r->launch.session, fence_not_enforced(LEVEL_HOOKS));
	else
		talk("session %s, level %s", r->launch.session, level_name(r->fence.level));
	print_sources(r);
	print_agent(r);
	if (*r->limits.text)
		talk("limits: %s", r->limits.text);
	if (r->o->observe)
		talk("observing: everything is allowed and recorded but secrets, files that run later as "
		     "you, "
		     "protected branches, denylisted commands and other programs' sockets");
	else if (r->launch.image.h->approvals == APPROVALS_ASK)
		print_questions();
}

void print_end(const struct run *r, const struct launch_end *end)
{
	const char *id = r->launch.session;

	if (!end->told)
		talk("session %s: the helper did not confirm the end of the ledger; see: pale log verify "
		     "--session %s",
		     id, id);
	else if (end->lost)
		talk("session %s: %llu records were lost; see: pale log --session %s", id,
		     (unsigned long long)end->lost, id);
	if (end->tampered)
		talk("session %s was tampered with: " RING_TAMPERED "; see: pale log --session %s", id, id);
	if (!end->told || r->o->quiet)
		return;
	talk("session %s: %llu records, %llu denied; see: pale log --session %s", id,
	     (unsigned long long)end->records, (unsigned long long)end->denied, id);
	if (r->o->observe)
		talk("session %s: %llu things happened that the policy does not allow; see: pale learn "
		     "--session %s",
		     id, (unsigned long long)end->observed, id);
	talk("ledger head %.12s... (%llu records), %s", end->head, (unsigned long long)end->records,
	     end->sealed ? "sealed" : "not sealed");
}

void print_no_warden(int error)
{
	talk("if pale itself is killed, its session's processes will not be ended: %s", strerror(-error));
}
