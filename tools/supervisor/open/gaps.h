/* Whether the floor still holds every rule that keeps something from being read. */
#ifndef PALE_GAPS_H
#define PALE_GAPS_H

#include <stdbool.h>

struct supervisor;

/* Prepares to watch the gaps of the floor, which begins at the first gaps_hold().  A gap that cannot be
 * watched counts as open. */
void gaps_start(struct supervisor *s);
/* True where the floor now holds every rule of the session's own image that keeps something from being
 * read. */
bool gaps_hold(struct supervisor *s);
void gaps_done(struct supervisor *s);

#endif
