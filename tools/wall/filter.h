/*
 * What the filter's two parts share: the program under construction, and its smallest pieces.  Private to
 * filter.c and filter_net.c.
 */
#ifndef PALE_FILTER_H
#define PALE_FILTER_H

#include <linux/seccomp.h>
#include <stddef.h>

#include "bpf.h"
#include "confine.h"
#include "numbers.h"

#define NUMBERS (NR_NEWEST + 1)

/* Answers of denials.def that are no errnos. */
#define ALLOW  (-1)
#define NOTIFY (-2)

struct builder {
	const struct filter_setup *setup;
	struct bpf bpf;
	unsigned allow, notify;
	unsigned passed; /* allows with the pass, otherwise notifies */
	unsigned at[NUMBERS];
};

/* The offset of the low half of args[arg]. */
static inline uint32_t low(unsigned arg)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
}

static inline uint32_t high(unsigned arg)
{
	return low(arg) + (uint32_t)sizeof(uint32_t);
}

/* The position that ends with an errno, ALLOW or NOTIFY. */
static inline unsigned answer_at(struct builder *b, int a)
{
	if (a == ALLOW)
		return b->allow;
	if (a == NOTIFY)
		return b->notify;
	return bpf_return(&b->bpf, SECCOMP_RET_ERRNO | (uint32_t)a);
}

/* --- filter_net.c: which kinds of sockets there are, and which of their options ------------------------ */

unsigned filter_socket(struct builder *b);
unsigned filter_socketpair(struct builder *b);
unsigned filter_getsockopt(struct builder *b);
unsigned filter_setsockopt(struct builder *b);

#endif
