/*
 * Where an agent's state lies: directories below the one of [session] state, each with the variable that
 * names it to programs.
 */
#ifndef PALE_AGENT_STATE_H
#define PALE_AGENT_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct state_place {
	const char *name, *variable;
	const char
		*usual; /* the place below the home if the variable is unset; NULL: scratch, never shared */
};

#define STATE_PLACES 5
/* The agent's scratch, below the operator's cache. */
#define SCRATCH_BELOW "pale/tmp/" /* and a name for each workspace */
/* The path of a socket has 108 bytes, and programs add their own names to TMPDIR. */
#define SCRATCH_MAX  80
#define SCRATCH_NAME 12 /* length of that name */
extern const struct state_place state_places[STATE_PLACES];

/* The place whose name is the first component of path, or NULL. */
const struct state_place *state_place_of(const char *path);
/* True where the path below that directory (`data/x`) is the agent's state or a file that pale makes. */
bool state_is_inside(const char *below);

#endif
