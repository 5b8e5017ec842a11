/*
 * The table of names after the ring's slots (ring_name_put()): where it lies.  Private to the ring.
 */
#ifndef PALE_RING_NAMES_H
#define PALE_RING_NAMES_H

#include "ring.h"

/* Where the table begins, from the ring's start, and its size. */
static inline size_t ring_names_at(void)
{
	return sizeof(struct ring_header) + (size_t)RING_SLOTS * RING_SLOT;
}
size_t ring_names_size(void);

#endif
