/*
 * The agents on PATH, as pale doctor tells them: nothing of theirs is executed.
 */
#include <string.h>

#include "policy/agents.h"

#include "doctor.h"
#include "init.h"

#define AGENTS_MAX 24

static struct {
	struct agent_found found[AGENTS_MAX];
	char name[AGENTS_MAX][48], detail[AGENTS_MAX][128];
} report;

static const char *holders(const struct agent_found *a)
{
	if (strcmp(a->coverage, "refused") == 0)
		return "it is refused";
	return elf_is_hookable(a->program.elf.kind) ? "hooks and supervisor hold it"
						    : "the supervisor alone holds it, at level full";
}

void doctor_agents(doctor_add_fn add, void *ctx)
{
	size_t n = agents_find(report.found, AGENTS_MAX);

	for (size_t i = 0; i < n; i++) {
		const struct agent_found *a = &report.found[i];
		const struct agent_profile *p = agent_of_command(a->name);

		snprintf(report.name[i], sizeof(report.name[i]), "agent %s", a->name);
		snprintf(report.detail[i], sizeof(report.detail[i]), "%s%s%s: %s",
			 a->version[0] ? a->version : "", a->version[0] ? ", " : "",
			 elf_kind_text(a->program.elf.kind), holders(a));
		add(ctx, report.name[i], strcmp(a->coverage, "refused") == 0 ? FOUND_MISSING : FOUND_OK,
		    report.detail[i], p ? agent_needs(p, (const char *const[]){ NULL }) : NULL);
	}
}
