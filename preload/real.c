/*
 * The libc functions that hooks hand on to.  All are looked up once, by the constructor: a dlsym
 * that hits does not allocate, one that misses does (glibc 2.36), so the table holds only names
 * that every supported libc has.
 */
#include "preload/internal.h"

#include <dlfcn.h>

struct real real;

/* In the order of the members, each with its NUL: a loop over it is a kilobyte of code less. */
static const char names[] =
#define REAL(name, ret, args) #name "\0"
#include "preload/real.def"
#undef REAL
	;

void real_init(void)
{
	char *slot = (char *)&real;
	void *fn;

	for (const char *n = names; *n; n += strlen(n) + 1, slot += sizeof fn) {
		fn = dlsym(RTLD_NEXT, n);
		memcpy(slot, &fn, sizeof fn);
	}
}
