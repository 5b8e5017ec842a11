/*
 * The libc functions that hooks hand on to.  All are looked up once, by the constructor: a dlsym
 * that hits does not allocate, one that misses does (glibc 2.36), so the table holds only names
 * that every supported libc has.
 */
#include "preload/internal.h"

#include <dlfcn.h>

struct real real;

void real_init(void)
{
#define REAL(name, ret, args) real.name = (ret(*) args)dlsym(RTLD_NEXT, #name);
#include "preload/real.def"
#undef REAL
}
