/*
 * The agents' profiles, read with every preset that lets agents keep state.
 *
 * The rules of a profile that open something apply when its agent runs, and those that close something when
 * any other command runs.  So every profile is read, and part of it is left out.
 */
#include "parse_impl.h"
#include "policy/presets/agents.h"

#include <stdio.h>
#include <string.h>

int parser_read_agents(struct parser *ps)
{
	const struct agent_profile *a;
	int err = 0;

	for (size_t i = 0; err == 0 && (a = agent_profile(i)); i++) {
		char path[64];
		struct source src = { .layer = SOURCE_AGENT, .path = path, .text = (char *)a->text };

		src.len = (size_t)(a->end - a->text);
		(void)snprintf(path, sizeof(path), "agent %s", a->name);
		ps->own_profile = ps->b->agent && strcmp(ps->b->agent, a->name) == 0;
		err = parser_read_source(ps, &src);
	}
	return err;
}
