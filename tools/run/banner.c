/*
 * What `pale run` prints: before the command starts, which policy holds and how; at the end, how it went.
 */
#include <string.h>

#include "policy/base/util.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/gather/presets_known.h"

#include "reach.h"
#include "run.h"
#include "run_impl.h"
#include "surface.h"
#include "agenthook.h"

static void print_policy(const struct run *r)
{
	const char *preset = image_str(&r->launch.image, r->launch.image.h->preset);

	fprintf(stderr, " preset %s", *preset ? preset : "agent");
	for (size_t i = 0; i < r->bundle.n_sources; i++) {
		const struct source *s = &r->bundle.sources[i];

		fputs(", ", stderr);
		print_escaped(stderr, s->path);
		if (s->layer == SOURCE_PROJECT || s->layer == SOURCE_ENV_PROJECT)
			fputs(" (may only tighten until `pale trust`)", stderr);
	}
	fprintf(stderr, ", network %s\n", network_name((enum network)r->launch.image.h->network));
}

void print_sources(const struct run *r)
{
	fputs("pale: policy", stderr);
	print_policy(r);
}

#define PRESETS_TOLD 5

struct telling {
	char since[VERSION_MAX];
	unsigned n;
};

static void tell_rule(void *ctx, char mark, const char *rule, int len)
{
	struct telling *t = ctx;
	char line[512];

	if (t->n == 0)
		talk("the presets changed since %s:", t->since);
	if (t->n++ >= PRESETS_TOLD)
		return;
	snprintf(line, sizeof(line), "  %c %.*s", mark, len, rule);
	print_recorded(stderr, line);
	putc('\n', stderr);
}

void print_presets(const struct run *r)
{
	struct telling t = { .n = 0 };

	/* The comparison is with what was used before this run. */
	if (presets_use(&r->dirs) == 1 &&
	    presets_compare(&r->dirs, &r->policy, t.since, tell_rule, &t) > PRESETS_TOLD)
		fprintf(stderr, "  and %u more: pale doctor shows them\n", t.n - PRESETS_TOLD);
}

static bool has_word(const json_t *list, const char *word)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (strcmp(json_string_value(item), word) == 0) return true;
	return false;
}

/* Where a question will appear. */
static void print_questions(const struct run *r)
{
	_cleanup_json_ json_t *there = reach_list();
	unsigned which;

	if (surfaces_find(r->o->surfaces, &which) < 0)
		which = 0;
	if (which & SURFACE_TMUX && has_word(there, "tmux"))
		talk("questions pop up in tmux; elsewhere: pale watch");
	else if (which & SURFACE_DESKTOP && has_word(there, "desktop"))
		talk("questions come as desktop notices; on a terminal: pale watch");
	else if (json_array_size(there))
		talk("questions wait in another terminal: pale watch, or pale approve ID, pale deny ID");
	else
		talk("no terminal can ask you: questions are refused unless `pale watch` runs; to let them "
		     "wait, set PALE_PROMPT=1");
}

/* What the policy takes from the environment although the agent may need it: addresses of registries and
 * models, which also redirect. */
static void print_withheld(const struct run *r)
{
	static const char *const ends[] = { "_BASE_URL", "_INDEX_URL", "_REGISTRY", "PIP_CERT",
					    "PIP_FIND_LINKS" };
	char list[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < r->environment.n; i++) {
		const struct environment_entry *e = &r->environment.list[i];
		size_t n = strlen(e->name);

		for (size_t j = 0; !e->given && j < NELEM(ends); j++)
			if (n >= strlen(ends[j]) && strcmp(e->name + n - strlen(ends[j]), ends[j]) == 0 &&
			    len + n + 2 < sizeof(list))
				len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
							len ? ", " : "", e->name);
	}
	if (len)
		talk("withheld from the agent: %s; to pass one: -e NAME", list);
}

void print_banner(const struct run *r)
{
	const struct agent_profile *a = agent_find(r->bundle.agent);
	const char *needs = a ? agent_needs(a, (const char *const *)r->argv) : NULL;

	if (r->o->quiet)
		return;
	fprintf(stderr, "pale: session %s, level %s, policy", r->launch.session, level_name(r->fence.level));
	print_policy(r);
	if (r->fence.level == LEVEL_HOOKS)
		talk("level hooks: %s", fence_not_enforced(LEVEL_HOOKS));
	if (r->o->observe)
		talk("observing: all is allowed and recorded; still blocked: secrets, files that run later "
		     "as "
		     "you, protected branches, denylisted commands, other programs' sockets");
	else if (r->launch.image.h->approvals == APPROVALS_ASK)
		print_questions(r);
	print_withheld(r);
	agenthook_tell(r);
	if (needs)
		talk("%s: its own sandbox cannot start in here: %s", a->name, needs);
	if (a && r->o->verbose)
		talk("agent %s: pale's profile for it applies, see pale-agents(7); its state is in %s%s%s",
		     a->name, r->relocation.state ? r->relocation.state : "your home",
		     r->relocation.state && a->home ? " and " : "",
		     r->relocation.state && a->home ? a->home : "");
	if (*r->limits.text && (r->o->verbose || strstr(r->limits.text, "NOT ENFORCED")))
		talk("limits: %s", r->limits.text);
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
		talk("session %s: %llu request%s made that the policy does not allow; see: pale learn "
		     "--session %s",
		     id, (unsigned long long)end->observed, end->observed == 1 ? " was" : "s were", id);
	if (r->o->verbose || end->sealed)
		talk("ledger head %.12s... (%llu records), %s", end->head, (unsigned long long)end->records,
		     end->sealed ? "sealed" : "not sealed");
}

void print_no_warden(int error)
{
	talk("if pale itself is killed, its session's processes will not be ended: %s", strerror(-error));
}
