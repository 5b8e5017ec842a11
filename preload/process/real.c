/*
 * The libc functions that hooks call.  All are looked up once, by the constructor.  A dlsym that finds its
 * name does not allocate; one that fails does (glibc 2.36).  So the table holds only names that every
 * supported libc has.
 */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>

#include "sys.h"

#undef p_type /* resolv.h renames it */
#include <link.h>

struct real real;
bool real_interposed;

/* The names in the order of the members, each with its NUL: a loop over them saves a kilobyte of code. */
static const char names[] =
#define REAL(name, ret, args) #name "\0"
#include "real.def"
#undef REAL
	;

struct range {
	uintptr_t start, size;
};

/* Finds the address range of libc, the object that contains __errno_location. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range *r = data;

	(void)size;
	r->start = info->dlpi_addr;
	r->size = 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			r->size = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return (uintptr_t)__errno_location - r->start < r->size;
}

/* The members from unlinkat on are the calls on names and owners. */
static bool is_interposed(void)
{
	struct range libc = { 0, 0 };
	uintptr_t fn;

	real.dl_iterate_phdr(find_libc, &libc);
	for (size_t at = offsetof(struct real, unlinkat); at < sizeof real; at += sizeof fn) {
		memcpy(&fn, (char *)&real + at, sizeof fn);
		if (fn - libc.start >= libc.size)
			return true;
	}
	return false;
}

void real_init(void)
{
	char *slot = (char *)&real;
	void *fn;

	for (const char *n = names; *n; n += strlen(n) + 1, slot += sizeof fn) {
		fn = dlsym(RTLD_NEXT, n);
		memcpy(slot, &fn, sizeof fn);
	}
	real_interposed = sys_libc_is_known() && is_interposed();
}
