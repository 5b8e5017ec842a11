/*
 * Where an agent's state lies: directories below the one of [session] state, each with the variable that
 * names it to programs.  That one is below the workspace, or, by `state = outside`, below the operator's own
 * data, where it has a name for each workspace and `git clean -fdx` does not reach it.
 */
#ifndef PALE_AGENT_STATE_H
#define PALE_AGENT_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct state_place {
	const char *name, *variable;
	const char *usual; /* the place below the home if the variable is unset; NULL: never shared */
};

#define STATE_PLACES 5
/* By `state = outside`, below the operator's XDG_DATA_HOME. */
#define STATE_BELOW "pale/" /* and a name for each workspace */
#define STATE_NAME  12	    /* hex digits of that name */
/* The path of a socket has 108 bytes, and programs add their own names to TMPDIR. */
#define TMPDIR_MAX 80
extern const struct state_place state_places[STATE_PLACES];

/* The place whose name is the first component of path, or NULL. */
const struct state_place *state_place_of(const char *path);
/* True where the path below that directory (`data/x`) is the agent's state or a file that pale makes. */
bool state_is_inside(const char *below);

#endif
