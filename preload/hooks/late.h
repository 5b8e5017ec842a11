/*
 * libc functions that few programs call, looked up at the first call and not by the constructor, which
 * every start of a program pays for.  Only for what may neither be called by a signal handler nor after
 * vfork: dlsym may not either.
 */
#ifndef PALE_LATE_H
#define PALE_LATE_H

#include "preload/process/internal.h"

/* Fills *slot with the next function of this name and gives it; two threads fill in the same. */
static inline void *late_find(void **slot, const char *name)
{
	void *fn = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		__atomic_store_n(slot, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

#define LATE(slot, name) (*(__typeof__(slot))late_find((void **)&(slot), name))

#endif
