/*
 * The presets, embedded at build (presets.S), by name.  Read-only data; no I/O.
 */
#include "parse.h"

#include <string.h>

/* The last says whether the agents' profiles lie on it: security-v0 is to the letter. */
#define PRESETS(X)                                                                                           \
	X(agent, "agent", true)                                                                              \
	X(security_v0, "security-v0", false)                                                                 \
	X(review, "review", true) X(ci, "ci", true) X(bridge, "bridge", true)

#define DECLARE(id, name, agents)                                                                            \
	extern const char preset_##id##_begin[] __attribute__((visibility("hidden"))),                       \
		preset_##id##_end[] __attribute__((visibility("hidden")));
PRESETS(DECLARE)

#define ENTRY(id, name, agents) { name, preset_##id##_begin, preset_##id##_end, agents },
static const struct {
	const char *name, *begin, *end;
	bool agents;
} presets[] = { PRESETS(ENTRY) };

const char *preset_name(size_t i)
{
	return i < sizeof(presets) / sizeof(presets[0]) ? presets[i].name : NULL;
}

const char *preset_text(const char *name, size_t *ret_len)
{
	for (size_t i = 0; preset_name(i); i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		*ret_len = (size_t)(presets[i].end - presets[i].begin);
		return presets[i].begin;
	}
	return NULL;
}

bool preset_has_agents(const char *name)
{
	for (size_t i = 0; preset_name(i); i++)
		if (strcmp(presets[i].name, name) == 0)
			return presets[i].agents;
	return false;
}
