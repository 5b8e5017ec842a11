/*
 * The presets and the profiles of agents, as they are built in.
 *
 * Profiles: what pale knows of each agent that people run.
 *
 * A profile is a policy (presets/agents/NAME.ini) beneath the user's own, at the rank of the preset.  What it
 * opens holds where its agent runs; what it closes holds where any other command does: an agent reaches its
 * own state and login, and nobody else's.
 */
#ifndef PALE_AGENTS_H
#define PALE_AGENTS_H

#include <stdbool.h>
#include <stddef.h>

struct agent_profile {
	const char *name;
	const char *commands, *packages; /* blank-separated */
	const char *home;		 /* its state that XDG_*_HOME does not move, "~/.claude"; or NULL */
	const char *closed;		 /* agent_needs() */
	const char *text, *end;		 /* the profile; static, as is all of it */
};

/* The i-th profile, NULL behind the last. */
const struct agent_profile *agent_profile(size_t i);
/* The profile of that name, or NULL: an agent that pale does not know, for whom no profile opens anything. */
const struct agent_profile *agent_find(const char *name);
/* The profile whose agent is started as that (a name without a directory), or NULL. */
const struct agent_profile *agent_of_command(const char *base);
/* How much of "@a/b@1.2" or "c==1" is the package's name. */
size_t agent_package_len(const char *spec);
/* The one that npm or PyPI knows as that; `NAME@VERSION` and `NAME==VERSION` will do.  Or NULL. */
const struct agent_profile *agent_of_package(const char *spec);
/*
 * What the operator has to do so that the agent works inside: its own sandbox cannot start there, and nothing
 * that pale may set switches it off.  argv is the whole command, ended by NULL.  A static sentence; NULL
 * where nothing is to be done, or one of the words has done it.
 */
const char *agent_needs(const struct agent_profile *a, const char *const *argv);

#endif
