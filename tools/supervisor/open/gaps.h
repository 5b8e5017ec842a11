/* Whether the floor still holds every rule that keeps something from being read. */
#ifndef PALE_GAPS_H
#define PALE_GAPS_H

#include <stdbool.h>

struct supervisor;

/* Prepares to watch the gaps of the floor, which begins at the first gaps_hold().  A gap that cannot be
 * watched counts as open.  0 or -ENOMEM. */
int gaps_new(struct supervisor *s);
/* True where the floor now holds every rule of the session's own image that keeps something from being
 * read. */
bool gaps_hold(struct supervisor *s);
/* Whether the policy loaded last has such rules that the floor does not hold: gaps_hold() is false then. */
void gaps_lack(struct supervisor *s, bool lacks);
/* True for the first n opens, which are performed without a call of gaps_hold(). */
bool gaps_spare(struct supervisor *s, unsigned n);
void gaps_done(struct supervisor *s);

#endif
