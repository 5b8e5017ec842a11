/*
 * Finds the installed agents from files alone: an agent that was executed here would run unfenced.
 */
#include <string.h>

#include "policy/presets/agents.h"

#include "tools/base/program.h"

#include "pale_init.h"

static bool find_agent(struct agent_found *a, const char *name, size_t n)
{
	if (n == 0 || n >= sizeof(a->name))
		return false;
	memcpy(a->name, name, n);
	a->name[n] = '\0';
	if (program_find(a->name, &a->program) < 0)
		return false;
	a->coverage = program_coverage(&a->program, &a->kind);
	return true;
}

size_t agents_find(struct agent_found *ret, size_t max)
{
	const struct agent_profile *p;
	size_t n = 0;

	for (size_t i = 0; (p = agent_profile(i)); i++)
		for (const char *s = p->commands; *s; s += strspn(s, " ")) {
			size_t len = strcspn(s, " ");

			n += n < max && find_agent(&ret[n], s, len);
			s += len;
		}
	return n;
}
