/* Processes that a killed launcher left. */
#ifndef PALE_HELPER_LEFTOVERS_H
#define PALE_HELPER_LEFTOVERS_H

#include <stddef.h>

struct helper;

/*
 * Kills the processes of a session whose launcher was killed.  The number of processes killed; 0 where the
 * helper is foreign.
 */
size_t leftovers_end(struct helper *h);

#endif
