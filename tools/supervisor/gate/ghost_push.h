/* Pushes that the gate asks about. */
#ifndef PALE_GHOST_PUSH_H
#define PALE_GHOST_PUSH_H

#include <stdbool.h>

#include "policy/base/op.h"
#include "policy/judge/eval.h"

struct caller;
struct git_env;

/*
 * A push about which a rule asks, and that goes to ghosts alone, from the workspace's own repository: *d
 * allows it then, since nothing leaves before the gate has asked.  Otherwise false, and *d stays.
 */
bool ghost_push(struct caller *c, const struct request *req, const struct git_env *env, struct decision *d);

#endif
