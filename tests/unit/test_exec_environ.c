/* The digest of an environment, before and after glibc's loader has written into it. */
#include <check.h>
#include <string.h>

#include "policy/base/util.h"

#include "tools/supervisor/exec/exec_environ.h"

Suite *suite_exec_environ(void);

/* Read in pieces of `step` bytes; size counts no NUL that the array does not show. */
static struct exec_sum sum_of(const char *env, size_t size, size_t step)
{
	struct environ_sum s;

	environ_sum_begin(&s);
	for (size_t i = 0; i < size; i += step)
		environ_sum_add(&s, env + i, size - i < step ? size - i : step);
	return environ_sum_end(&s);
}

#define T "GLIBC_TUNABLES="
#define P(judged, runs, same)                                                                                \
	{                                                                                                    \
		judged, runs, sizeof(judged), sizeof(runs), same                                             \
	}

static const struct {
	const char *judged, *runs;
	size_t judged_size, runs_size;
	bool same;
} pairs[] = {
	P("A=1\0" T "glibc.a=1:glibc.b=2\0B=2", "A=1\0" T "glibc.a=1\0glibc.b=2\0B=2", true),
	P(T "glibc.a=1:glibc.b=2:glibc.c=3", T "glibc.a=1\0glibc.b=2:glibc.c=3", true),
	P(T "glibc.a=1:\0B=2", T "glibc.a=1\0\0B=2", true),
	P(T "glibc.a=1:\0" T "glibc.a=1:glibc.b=2", T "glibc.a=1\0\0" T "glibc.a=1\0glibc.b=2", true),
	P("", "", true),
	P(T, T, true),
	/* What follows is no item. */
	P(T "glibc.a=1:LD_PRELOAD=/x", T "glibc.a=1\0LD_PRELOAD=/x", false),
	P(T "glibc.a=1:glib=/x", T "glibc.a=1\0glib=/x", false),
	P(T "glibc.a=1:glibc.b=1:C=1", T "glibc.a=1:glibc.b=1\0C=1", false),
	P(T "glibc.a=1\0B=2:glibc.b=2", T "glibc.a=1\0B=2\0glibc.b=2", false),
	P(T "glibc.a=1:B:glibc.b=2", T "glibc.a=1:B\0glibc.b=2", false),
	/* Another variable. */
	P("TUNABLES=glibc.a=1:glibc.b=2", "TUNABLES=glibc.a=1\0glibc.b=2", false),
	P("X" T "glibc.a=1:glibc.b=2", "X" T "glibc.a=1\0glibc.b=2", false),
	P("PATH=/a:/b", "PATH=/a\0/b", false),
	/* Another value. */
	P(T "glibc.a=1:glibc.b=2", T "glibc.a=1:glibc.b=3", false),
	P(T "glibc.a=1:glibc.b=2", T "glibc.a=1", false),
	P("A=1", "A=2", false),
	P("A=1", "A=1\0B=2", false),
};

START_TEST(colons_that_the_loader_overwrites)
{
	struct exec_sum judged, runs;

	for (size_t step = 1; step < 64; step++) {
		judged = sum_of(pairs[_i].judged, pairs[_i].judged_size, 64);
		runs = sum_of(pairs[_i].runs, pairs[_i].runs_size, step);
		ck_assert_msg((memcmp(&judged, &runs, sizeof(runs)) == 0) == pairs[_i].same,
			      "pair %d in pieces of %zu", _i, step);
	}
}
END_TEST

Suite *suite_exec_environ(void)
{
	Suite *s = suite_create("exec_environ");
	TCase *tc = tcase_create("digest");

	tcase_add_loop_test(tc, colons_that_the_loader_overwrites, 0, (int)NELEM(pairs));
	suite_add_tcase(s, tc);
	return s;
}
