/*
 * libc functions that few programs call.  They are looked up at the first call and not by the constructor,
 * whose time every program pays at its start.  Only for functions that may be called neither by a signal
 * handler nor after vfork: dlsym may not either.
 */
#ifndef PALE_LATE_H
#define PALE_LATE_H

#include <dlfcn.h>

/* Stores the next function of this name in *slot and returns it.  Two threads store the same value. */
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
