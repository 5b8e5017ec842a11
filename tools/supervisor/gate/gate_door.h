/* The door to the gate: where git-remote-pale asks for one of the session's ghosts, pale-gate is started for
 * it, and asks the operator through here. */
#ifndef PALE_GATE_DOOR_H
#define PALE_GATE_DOOR_H

#include <jansson.h>
#include <stdbool.h>

#include "tools/supervisor/answer.h"

struct caller;
struct ghosts;
struct supervisor;

/* What pale-gate is started with; all of it is borrowed, and stays until the supervisor has stopped. */
struct gate_setup {
	const struct ghosts *ghosts;
	const char *program; /* pale-gate */
	char *const *envp;   /* the operator's, without what a session could have written */
	json_t *policy;	     /* an object: what the first message to pale-gate has of the policy */
	int secrets_fd;	     /* values that no push may bring, or -1 */
};

/* WIRE_GATE: a descriptor of the new connection, or -errno as wire.h says. */
struct answer gate_open(struct caller *c);
/* Called when no worker is left: ends what is asked, and waits, bounded in time, for pushes that were
 * allowed. False: a thread did not end, and the supervisor must stay allocated. */
bool doors_end(void);

#endif
