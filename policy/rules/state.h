/*
 * Where an agent's state lies: the directories below that of [session] state, each with the variable that
 * leads programs there.
 */
#ifndef PALE_STATE_H
#define PALE_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct state_place {
	const char *name, *variable;
	const char
		*usual; /* below the home, where the variable is not set; NULL: scratch, nobody shares it */
};

#define STATE_PLACES 5
extern const struct state_place state_places[STATE_PLACES];

/* The place whose name is the first component of path, or NULL. */
const struct state_place *state_place_of(const char *path);
/* What lies below that directory (`data/x`) is the agent's state, or what pale makes beside it. */
bool state_is_inside(const char *below);

#endif
