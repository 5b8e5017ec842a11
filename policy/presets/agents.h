/*
 * The presets and the profiles of agents, as they are built in.
 *
 * A profile holds what pale knows about one agent.  It is a policy (presets/agents/NAME.ini) beneath the
 * user's own, at the rank of the preset.  The rules that open something apply when the agent runs; the
 * rules that close something apply when any other command runs.  So an agent reaches its own state and
 * login, and not those of another agent.
 */
#ifndef PALE_AGENTS_H
#define PALE_AGENTS_H

#include <stdbool.h>
#include <stddef.h>

struct agent_profile {
	const char *name;
	const char *commands, *packages; /* blank-separated */
	const char *home;		 /* state that XDG_*_HOME does not move, "~/.claude"; or NULL */
	const char *closed;		 /* agent_needs() */
	const char *text, *end;		 /* the profile; all strings here are static */
};

/* The i-th profile, or NULL after the last one. */
const struct agent_profile *agent_profile(size_t i);
/* The profile of that name, or NULL if pale does not know the agent; then no profile opens anything. */
const struct agent_profile *agent_find(const char *name);
/* The profile of the agent whose command has this name (without a directory), or NULL. */
const struct agent_profile *agent_of_command(const char *base);
/* The length of the package's name in "@a/b@1.2" or "c==1". */
size_t agent_package_len(const char *spec);
/* The profile whose agent has this package name in npm or PyPI, or NULL.  `NAME@VERSION` and
 * `NAME==VERSION` are accepted too. */
const struct agent_profile *agent_of_package(const char *spec);
/*
 * What the operator must do so that the agent works inside a session, where the agent's own sandbox cannot
 * start and pale cannot switch it off.  argv is the whole command, ended by NULL.  Returns a static
 * sentence, or NULL if nothing must be done or a word of argv has done it already.
 */
const char *agent_needs(const struct agent_profile *a, const char *const *argv);

#endif
