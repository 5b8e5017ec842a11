/* Policies that are loaded while the session runs. */
#ifndef PALE_POLICIES_H
#define PALE_POLICIES_H

#include <stdbool.h>

struct supervisor;

/*
 * Loads the images that the helper has left beside the current ones, for the session and its nested runs:
 * they judge from the next call on.  0, or -errno and nothing has changed.  *ret_performs: the floor does
 * not hold every rule that keeps something from being read, so each such open is performed here.  From the
 * main thread.
 */
int supervisor_reload(struct supervisor *s, bool *ret_performs);

void policies_done(struct supervisor *s);

#endif
