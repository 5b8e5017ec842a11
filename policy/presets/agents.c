/*
 * The table of agents (agents.def) with their profiles (presets.S), and the look-up of an agent by name,
 * command or package.  Read-only data; no I/O.
 */
#include "agents.h"

#include <string.h>

#define AGENT(id, name, commands, packages, home, closed)                                                    \
	extern const char agent_##id##_begin[] __attribute__((visibility("hidden"))),                        \
		agent_##id##_end[] __attribute__((visibility("hidden")));
#include "agents.def"
#undef AGENT

static const struct agent_profile table[] = {
#define AGENT(id, name, commands, packages, home, closed)                                                    \
	{ name, commands, packages, home, closed, agent_##id##_begin, agent_##id##_end },
#include "agents.def"
#undef AGENT
};

const struct agent_profile *agent_profile(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? &table[i] : NULL;
}

const struct agent_profile *agent_find(const char *name)
{
	for (size_t i = 0; agent_profile(i); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

/* True if the first n bytes of word are a word of list. */
static bool has_word(const char *list, size_t n_list, const char *word, size_t n)
{
	for (size_t at = 0; n > 0 && at < n_list;) {
		size_t len = strcspn(list + at, " |");

		if (len == n && memcmp(list + at, word, n) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

const struct agent_profile *agent_of_command(const char *base)
{
	for (size_t i = 0; agent_profile(i); i++)
		if (has_word(table[i].commands, strlen(table[i].commands), base, strlen(base)))
			return &table[i];
	return NULL;
}

/* A leading `@` belongs to the scope of the name, not to a version. */
size_t agent_package_len(const char *spec)
{
	size_t n = *spec == '@' ? 1 + strcspn(spec + 1, "@=<>~^[ ") : strcspn(spec, "@=<>~^[ ");

	return n;
}

const struct agent_profile *agent_of_package(const char *spec)
{
	size_t n = agent_package_len(spec);

	for (size_t i = 0; agent_profile(i); i++)
		if (has_word(table[i].packages, strlen(table[i].packages), spec, n))
			return &table[i];
	return NULL;
}

const char *agent_needs(const struct agent_profile *a, const char *const *argv)
{
	const char *bar = a->closed ? strchr(a->closed, '|') : NULL;

	if (!bar)
		return NULL;
	for (size_t i = 1; argv[0] && argv[i]; i++)
		if (has_word(a->closed, (size_t)(bar - a->closed), argv[i], strlen(argv[i])))
			return NULL;
	return bar + 1;
}
