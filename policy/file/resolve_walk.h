/*
 * The slow way of the resolver, private to resolve*.c: it walks component by component and follows links
 * itself.
 */
#ifndef PALE_RESOLVE_WALK_H
#define PALE_RESOLVE_WALK_H

#include "resolve.h"

/*
 * Walks path (shorter than LIMIT_PATH, not empty) from start.  Where start_owned, the walk owns start and
 * closes it when it leaves it.  Fills everything in *ret but given and same.  0 or -errno as resolve(); on
 * failure nothing is held.  Uses 4 KiB of stack.  async-signal-safe and vfork-safe where sys is.
 */
int resolve_walk(const struct resolve_sys *sys, int start, bool start_owned, const char *path,
		 enum resolve_follow follow, struct resolved *ret);

#endif
