/* The system calls of the preload, for its suites: see faked.h. */
#include "faked.h"

#include <check.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBERS 512
#define CALLS	4096

long raw6(long nr, long a, long b, long c, long d, long e, long f);
long raw_pass(const uint64_t *pass, long nr, long a, long b, long c, long d, long e);

static struct {
	bool is;
	unsigned left; /* 0: for ever */
	long result;
} answers[NUMBERS];

static struct faked_call calls[CALLS];
static unsigned n_calls;

void faked_reset(void)
{
	memset(answers, 0, sizeof(answers));
	n_calls = 0;
}

void faked_answer(long nr, long result, unsigned times)
{
	answers[nr].is = true;
	answers[nr].left = times;
	answers[nr].result = result;
}

unsigned faked_count(long nr)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_calls; i++)
		n += calls[i].nr == nr;
	return n;
}

const struct faked_call *faked_call(long nr, unsigned n)
{
	for (unsigned i = 0; i < n_calls; i++)
		if (calls[i].nr == nr && n-- == 0)
			return &calls[i];
	ck_abort_msg("call %ld was made %u times", nr, faked_count(nr));
	return NULL;
}

/* Which argument is a path, for the calls of which the suites want to know; -1: none. */
static int path_of(long nr)
{
	switch (nr) {
	case SYS_openat:
	case SYS_openat2:
	case SYS_readlinkat:
	case SYS_unlinkat:
	case SYS_mkdirat:
	case SYS_newfstatat:
		return 1;
	default:
		return -1;
	}
}

static struct faked_call *keep(long nr, const long arg[5], uint64_t pass)
{
	struct faked_call *call = &calls[n_calls];
	int at = path_of(nr);

	ck_assert_uint_lt(n_calls++, CALLS);
	memset(call, 0, sizeof(*call));
	call->nr = nr;
	memcpy(call->arg, arg, sizeof(call->arg));
	call->pass = pass;
	if (nr == SYS_openat2)
		call->flags = ((const struct open_how *)arg[2])->flags;
	else if (nr == SYS_openat)
		call->flags = (unsigned)arg[2];
	if (at >= 0 && arg[at])
		(void)snprintf(call->path, sizeof(call->path), "%s", (const char *)arg[at]);
	return call;
}

static bool is_answered(long nr, long *ret)
{
	if (!answers[nr].is)
		return false;
	*ret = answers[nr].result;
	if (answers[nr].left && --answers[nr].left == 0)
		answers[nr].is = false;
	return true;
}

static long make(long nr, const long arg[5], long sixth, uint64_t pass)
{
	struct faked_call *call = keep(nr, arg, pass);

	if (!is_answered(nr, &call->result)) {
		call->result = syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4], sixth);
		if (call->result == -1)
			call->result = -errno;
	}
	return call->result;
}

long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	return make(nr, (const long[]){ a, b, c, d, e }, f, 0);
}

long raw_pass(const uint64_t *pass, long nr, long a, long b, long c, long d, long e)
{
	return make(nr, (const long[]){ a, b, c, d, e }, 0, *pass);
}
