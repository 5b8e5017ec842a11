/*
 * The presets, embedded at build (presets.S), by name.  Read-only data; no I/O.
 */
#include "parse.h"

#include <string.h>

/* X(id, name, read with the agents' profiles, read with the table of the home).  security-v0 has neither:
 * it follows the specification of that name exactly. */
#define PRESETS(X)                                                                                           \
	X(agent, "agent", true, true)                                                                        \
	X(security_v0, "security-v0", false, false)                                                          \
	X(review, "review", true, true)                                                                      \
	X(ci, "ci", true, true)                                                                              \
	X(bridge, "bridge", true, false)                                                                     \
	X(controller, "controller", true, true)

#define DECLARE(id, name, agents, home)                                                                      \
	extern const char preset_##id##_begin[] __attribute__((visibility("hidden"))),                       \
		preset_##id##_end[] __attribute__((visibility("hidden")));
PRESETS(DECLARE)
DECLARE(home, "home", false, false)

#define ENTRY(id, name, agents, home) { name, preset_##id##_begin, preset_##id##_end, agents, home },
static const struct preset {
	const char *name, *begin, *end;
	bool agents, home;
} presets[] = { PRESETS(ENTRY) };

const char *preset_name(size_t i)
{
	return i < sizeof(presets) / sizeof(presets[0]) ? presets[i].name : NULL;
}

static const struct preset *preset_find(const char *name)
{
	for (size_t i = 0; preset_name(i); i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

const char *preset_text(const char *name, size_t *ret_len)
{
	const struct preset *p = preset_find(name);

	if (p)
		*ret_len = (size_t)(p->end - p->begin);
	return p ? p->begin : NULL;
}

bool preset_has_agents(const char *name)
{
	const struct preset *p = preset_find(name);

	return p && p->agents;
}

bool preset_has_home(const char *name)
{
	const struct preset *p = preset_find(name);

	return p && p->home;
}

const char *home_text(size_t *ret_len)
{
	*ret_len = (size_t)(preset_home_end - preset_home_begin);
	return preset_home_begin;
}

/* The block of a tool begins with the line "# NAME: SOURCE". */
const char *home_tool(unsigned line, size_t *ret_len)
{
	const char *tool = NULL;

	for (const char *s = preset_home_begin; line > 0 && *s; line--) {
		size_t n = strcspn(s, "\n");

		if (s[0] == '#' && s[1] == ' ' && memmem(s, n, ": ", 2)) {
			tool = s + 2;
			*ret_len = n - 2;
		}
		s += n + (s[n] == '\n');
	}
	return tool;
}
