/*
 * The kernel's clock, from the vDSO and not from libc's clock_gettime: libfaketime and similar objects
 * interpose that name, would be entered before libc is ready, and would change the time of our records.  If
 * the vDSO has no such function, the system call is made.
 */
#include "clock.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "raw.h"

#undef p_type /* resolv.h renames it */

#if defined(__x86_64__)
#define CLOCK_NAME "__vdso_clock_gettime"
#else
#define CLOCK_NAME "__kernel_clock_gettime"
#endif

typedef int clock_fn(clockid_t id, struct timespec *ret);

static clock_fn *page_clock;

struct page {
	uintptr_t bias;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

__attribute__((cold)) static void page_headers(struct page *p, const ElfW(Ehdr) * e)
{
	const ElfW(Phdr) *ph = (const void *)((uintptr_t)e + e->e_phoff);

	for (unsigned i = e->e_phnum; i-- > 0;) {
		if (ph[i].p_type == PT_LOAD)
			p->bias = (uintptr_t)e + ph[i].p_offset - ph[i].p_vaddr;
		else if (ph[i].p_type == PT_DYNAMIC)
			p->dynamic = (const void *)((uintptr_t)e + ph[i].p_offset);
	}
}

__attribute__((cold)) static void page_tables(struct page *p)
{
	for (const ElfW(Dyn) *d = p->dynamic; d && d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)(p->bias + d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			p->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			p->names = at;
		else if (d->d_tag == DT_HASH)
			p->hash = at;
	}
}

__attribute__((cold)) void clock_init(void)
{
	const ElfW(Ehdr) *e = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct page p = { 0 };

	if (!e)
		return;
	page_headers(&p, e);
	page_tables(&p);
	if (!p.symbols || !p.names || !p.hash)
		return;
	/* The second word of the table is the number of symbols. */
	for (uint32_t i = 0; i < p.hash[1]; i++)
		if (p.symbols[i].st_shndx != SHN_UNDEF &&
		    strcmp(p.names + p.symbols[i].st_name, CLOCK_NAME) == 0)
			page_clock = (clock_fn *)(p.bias + p.symbols[i].st_value);
}

uint64_t clock_now(void)
{
	struct timespec ts;
	long r = page_clock ? page_clock(CLOCK_REALTIME_COARSE, &ts)
			    : raw2(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &ts);

	return r == 0 ? (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec : 0;
}
