/*
 * The slow way of the resolver, private to resolve*.c: component by component, links
 * followed by hand.
 */
#ifndef PALE_RESOLVE_WALK_H
#define PALE_RESOLVE_WALK_H

#include "resolve.h"

/*
 * Walks path (shorter than LIMIT_PATH, not empty) from start, which is closed on the way where
 * start_owned.  Fills everything in *ret but given and same.  0 or -errno as resolve(); on failure
 * nothing is held.  Uses 4 KiB of stack.  async-signal-safe, vfork-safe as far as sys is.
 */
int resolve_walk(const struct resolve_sys *sys, int start, bool start_owned, const char *path,
		 enum resolve_follow follow, struct resolved *ret);

#endif
