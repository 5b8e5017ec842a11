/* The table of handlers by system call: made from calls.def, as the filter's own table is. */
#include "dispatch.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "policy/base/util.h"

#include "tools/supervisor/handlers.h"
#include "tools/wall/numbers.h"

#define NUMBERS (NR_NEWEST + 1)

static carry_fn by_number[NUMBERS];

/* A number below 0 is a call that this architecture lacks (numbers.h). */
static const struct {
	int nr;
	carry_fn carry;
} rows[] = {
#define CALL(name, handler, gate) { __NR_##name, handler },
#include "tools/wall/calls.def"
#undef CALL
};

void dispatch_init(void)
{
	for (size_t i = 0; i < NELEM(rows); i++)
		if (rows[i].nr >= 0 && rows[i].nr < NUMBERS)
			by_number[rows[i].nr] = rows[i].carry;
}

carry_fn dispatch_find(int nr)
{
	return nr >= 0 && nr < NUMBERS ? by_number[nr] : NULL;
}
