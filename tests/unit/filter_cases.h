/*
 * The filter against a reviewer's own list: what shall become of each call is said here a second time, by
 * lists and plain C, so a row that is wrong in calls.def or denials.def fails.  The program is run
 * by an interpreter as the kernel would run it.
 *
 * Included once per architecture, after its numbers, with ARCH and BUILD (what builds the program).
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tools/wall/confine.h"
#include "tools/wall/numbers.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define LAST_NR	   600
#define PASS	   0x8123456789abcdefull
#define OWN	   4711
#define OWN_HELPER 4712
#define NO(error)  (SECCOMP_RET_ERRNO | (uint32_t)(error))
#define YES	   SECCOMP_RET_ALLOW
#define CARRY	   SECCOMP_RET_USER_NOTIF
#define KILL	   SECCOMP_RET_KILL_PROCESS

/* --- the kernel's part ------------------------------------------------------------------------------ */

static uint32_t jump(const struct sock_filter *i, uint32_t acc)
{
	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return acc == i->k ? i->jt : i->jf;
	case BPF_JGE:
		return acc >= i->k ? i->jt : i->jf;
	case BPF_JGT:
		return acc > i->k ? i->jt : i->jf;
	case BPF_JSET:
		return acc & i->k ? i->jt : i->jf;
	default:
		ck_abort_msg("jump %#x", i->code);
	}
}

/* How much of the data the program may look at. */
static size_t visible = sizeof(struct seccomp_data);

/* What the kernel checks when the program is loaded is checked on the way; no ck_assert here, each is a
 * system call. */
static uint32_t interpret(const struct sock_fprog *p, const struct seccomp_data *d)
{
	uint32_t acc = 0;

	for (unsigned pc = 0; pc < p->len; pc++) {
		const struct sock_filter *i = &p->filter[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 != 0 || i->k >= visible)
				ck_abort_msg("looks at %u", i->k);
			memcpy(&acc, (const char *)d + i->k, sizeof(acc));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= i->k;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		default:
			pc += jump(i, acc);
		}
	}
	ck_abort_msg("the program has no end");
}

#include "tests/unit/filter_want.h"

/* --- the setups ------------------------------------------------------------------------------------- */

static const struct filter_setup setups[] = {
#define SETUP(level, pass, reads, abi)                                                                       \
	{                                                                                                    \
		level, pass, reads, abi, { OWN, OWN_HELPER }, 2                                              \
	}
	SETUP(LEVEL_FULL, PASS, READS_NOTIFY, 7),  SETUP(LEVEL_FULL, PASS, READS_FLOOR, 7),
	SETUP(LEVEL_FULL, PASS, READS_NOTIFY, 1),  SETUP(LEVEL_FULL, PASS, READS_FLOOR, 2),
	SETUP(LEVEL_FULL, PASS, READS_NOTIFY, 3),  SETUP(LEVEL_FULL, PASS, READS_NOTIFY, 5),
	SETUP(LEVEL_FULL, PASS, READS_NOTIFY, 6),  SETUP(LEVEL_FULL, PASS, READS_NOTIFY, ABI_MAX),
	SETUP(LEVEL_FULL, 0, READS_NOTIFY, 7),	   SETUP(LEVEL_FULL, 0, READS_FLOOR, 7),
	SETUP(LEVEL_STRICT, 0, READS_NOTIFY, 7),   SETUP(LEVEL_STRICT, PASS, READS_NOTIFY, 7),
	SETUP(LEVEL_STRICT, PASS, READS_FLOOR, 3), SETUP(LEVEL_STRICT, 0, READS_FLOOR, 1),
#undef SETUP
};

static void compare(const struct filter_setup *s, const struct sock_fprog *p, const struct seccomp_data *d)
{
	uint32_t wanted = want(s, d), got = interpret(p, d);

	if (got != wanted)
		ck_abort_msg("level %d abi %d reads %d: call %d(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx): "
			     "%#x, not %#x",
			     s->level, s->landlock_abi, s->reads, d->nr, d->args[0], d->args[1], d->args[2],
			     d->args[3], d->args[4], d->args[5], got, wanted);
}

/* What stands on an edge somewhere: each of them goes into each argument of each call. */
static const uint64_t edges[] = {
	0,	    1,		2,
	3,	    4,		5,
	6,	    8,		9,
	10,	    15,		16,
	17,	    35,		38,
	40,	    41,		57,
	43,	    58,		59,
	132,	    256,	262,
	1024,	    65535,	OWN,
	-OWN,	    OWN_HELPER, -OWN_HELPER,
	OWN + 1,    -1,		0xffffffff,
	INT32_MIN,  0x80,	0x20000,
	0x10000000, 0x40000000, 0x02000000,
	0x04000000, 0x08000000, 0x00000f00,
	01,	    02,		0100,
	01000,	    01001,	01002,
	01003,	    010000000,	010001000,
	020200000,  020200001,	020000000,
	02000000,   04000,	0x80001,
	0x80802,    0x802,	0x20000000,
	0x20000040, 0x5412,	0x541c,
	0x541d,	    0x540c,	0x5423,
	0x5401,	    0x8901,	0x8902,
	0x40086602, 0x401c5820, 0x40049409,
	0x4020940d, 0xc0189436, 0x40087602,
	0x40806685, 0x800c6613, 0x40047211,
	0x5000940e, 0xd000943d, 0x5603,
	0x80685600, 0x4b33,	0x5600,
	PASS,	    PASS ^ 1,	PASS ^ (1ull << 63),
};

static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state, edge;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	edge = edges[(x >> 8) % COUNT(edges)];
	/* A dirty upper half says nothing where the kernel takes 32 bits. */
	return (x & 3) == 0 ? edge ^ (x & 0xffffffff00000000ull) : edge;
}

START_TEST(every_number_with_one_edge)
{
	const struct filter_setup *s = &setups[_i];
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(s, &p), 0);
	for (int nr = 0; nr <= LAST_NR; nr++)
		for (size_t arg = 0; arg < 6; arg++)
			for (size_t e = 0; e < COUNT(edges); e++) {
				struct seccomp_data d = { .nr = nr, .arch = ARCH };

				d.args[5] = PASS;
				d.args[arg] = edges[e];
				compare(s, &p, &d);
				d.args[arg] |= 0xdeadbeef00000000ull;
				compare(s, &p, &d);
			}
	free(p.filter);
}
END_TEST

START_TEST(every_number_with_many_edges)
{
	const struct filter_setup *s = &setups[_i];
	uint64_t state = 0x9e3779b97f4a7c15ull + (uint64_t)_i;
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(s, &p), 0);
	for (int nr = 0; nr <= LAST_NR; nr++)
		for (int round = 0; round < 500; round++) {
			struct seccomp_data d = { .nr = nr, .arch = ARCH };

			for (size_t arg = 0; arg < 6; arg++)
				d.args[arg] = draw(&state);
			if (round % 4 == 0)
				d.args[5] = PASS;
			compare(s, &p, &d);
		}
	free(p.filter);
}
END_TEST

START_TEST(the_pass_is_compared_whole)
{
	struct sock_fprog p;
	struct seccomp_data d = { .nr = __NR_unlinkat, .arch = ARCH };

	ck_assert_int_eq(BUILD(&setups[0], &p), 0);
	d.args[5] = PASS;
	ck_assert_uint_eq(interpret(&p, &d), YES);
	for (int bit = 0; bit < 64; bit++) {
		d.args[5] = PASS ^ (1ull << bit);
		ck_assert_uint_eq(interpret(&p, &d), CARRY);
	}
	free(p.filter);
}
END_TEST

START_TEST(what_the_floor_does_not_bound_is_never_passed)
{
	static const int never[] = { __NR_fchmod,    __NR_fchmodat,  452, __NR_fchown, __NR_fchownat,
				     __NR_utimensat, __NR_fsetxattr, 463, 469,	       __NR_truncate,
				     __NR_connect };
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(&setups[0], &p), 0);
	for (size_t i = 0; i < COUNT(never); i++) {
		struct seccomp_data d = { .nr = never[i], .arch = ARCH, .args = { [1] = 1, [5] = PASS } };

		ck_assert_uint_eq(interpret(&p, &d), CARRY);
	}
	free(p.filter);
}
END_TEST

/* What two arguments decide together, at ABI 7 and below 6. */
START_TEST(pairs_of_arguments)
{
	static const struct {
		int nr;
		uint64_t args[3];
		uint32_t now, old;
	} rows[] = {
		{ __NR_setsockopt, { 3, 41, 57 }, NO(EPERM), NO(EPERM) },
		{ __NR_setsockopt, { 3, 41, 4 }, CARRY, CARRY },
		{ __NR_setsockopt, { 3, 6, 4 }, YES, YES },
		{ __NR_setsockopt, { 3, 1, 15 }, CARRY, CARRY },
		{ __NR_setsockopt, { 3, 1, 25 }, NO(EPERM), NO(EPERM) },
		{ __NR_setsockopt, { 3, 1, 62 }, NO(EPERM), NO(EPERM) },
		{ __NR_getsockopt, { 3, 1, 3 }, CARRY, CARRY },
		{ __NR_getsockopt, { 3, 1, 4 }, CARRY, CARRY },
		{ __NR_getsockopt, { 3, 1, 9 }, YES, YES },
		{ __NR_getsockopt, { 3, 17, 4 }, CARRY, CARRY },
		{ __NR_setsockopt, { 3, 1ull << 32, 4 }, NO(EPERM), NO(EPERM) },
		{ __NR_seccomp, { 1, 8 }, NO(EBUSY), NO(EBUSY) },
		{ __NR_seccomp, { 2, 8 }, YES, YES },
		{ __NR_prlimit64, { 99, 7, 0x1000 }, NO(EPERM), NO(EPERM) },
		{ __NR_prlimit64, { 99, 7, 1ull << 40 }, NO(EPERM), NO(EPERM) },
		{ __NR_prlimit64, { OWN, 7, 0x1000 }, NO(EPERM), NO(EPERM) },
		{ __NR_prlimit64, { 1ull << 32 | OWN_HELPER, 7, 0x1000 }, NO(EPERM), NO(EPERM) },
		{ __NR_prlimit64, { 99, 7, 0 }, YES, YES },
		{ __NR_prlimit64, { 1ull << 32, 7, 0x1000 }, YES, YES },
		{ __NR_setpriority, { 0, 99 }, CARRY, CARRY },
		{ __NR_setpriority, { 0, 1ull << 32 }, YES, YES },
		{ __NR_setpriority, { 1, 99 }, NO(EPERM), NO(EPERM) },
		{ __NR_ioprio_set, { 1, 99 }, CARRY, CARRY },
		{ __NR_ioprio_set, { 3, 99 }, NO(EPERM), NO(EPERM) },
		{ __NR_sched_setaffinity, { 99, 8, 0x1000 }, CARRY, CARRY },
		{ __NR_sched_setaffinity, { 0, 8, 0x1000 }, YES, YES },
		{ __NR_sched_setattr, { OWN, 0x1000 }, NO(EPERM), NO(EPERM) },
		{ __NR_fcntl, { 3, 8, OWN }, YES, CARRY },
		{ __NR_fcntl, { 3, 15, 0x1000 }, YES, NO(EPERM) },
		{ __NR_fcntl, { 3, 9, OWN }, YES, YES },
		{ __NR_setpgid, { 0, OWN }, YES, YES },
		{ __NR_kill, { 99, 9 }, YES, CARRY },
		{ __NR_kill, { UINT64_MAX, 9 }, YES, CARRY },
		{ __NR_kill, { OWN, 9 }, NO(EPERM), NO(EPERM) },
		{ __NR_tgkill, { 99, OWN_HELPER, 9 }, NO(EPERM), NO(EPERM) },
		{ 424, { 3, 9 }, YES, CARRY },
		{ __NR_socket, { 2, 0x80801, 262 }, NO(EPROTONOSUPPORT), NO(EPROTONOSUPPORT) },
		{ __NR_socket, { 10, 0x80802, 17 }, CARRY, CARRY },
		{ __NR_socket, { 10, 2, 58 }, NO(EPROTONOSUPPORT), NO(EPROTONOSUPPORT) },
		{ __NR_socket, { 1, 0x80002, 0 }, CARRY, CARRY },
		{ __NR_socket, { 1, 0x80003, 0 }, NO(EACCES), NO(EACCES) },
		{ __NR_socketpair, { 1, 0x80002, 0 }, CARRY, CARRY },
		{ __NR_socketpair, { 2, 0x80002, 0 }, NO(EOPNOTSUPP), NO(EOPNOTSUPP) },
		{ __NR_socket, { 16, 3, 15 }, NO(EPROTONOSUPPORT), NO(EPROTONOSUPPORT) },
		{ __NR_socket, { 16, 3, 0 }, YES, YES },
	};
	struct sock_fprog now, old;

	ck_assert_int_eq(BUILD(&setups[0], &now), 0);
	ck_assert_int_eq(BUILD(&setups[2], &old), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seccomp_data d = { .nr = rows[i].nr, .arch = ARCH };

		memcpy(d.args, rows[i].args, sizeof(rows[i].args));
		ck_assert_msg(interpret(&now, &d) == rows[i].now && interpret(&old, &d) == rows[i].old,
			      "row %zu", i);
	}
	free(now.filter);
	free(old.filter);
}
END_TEST

START_TEST(strange_numbers_and_architectures)
{
	static const uint32_t arches[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64,
					   AUDIT_ARCH_AARCH64, 0 };
	static const uint32_t numbers[] = { 470,	601,	    4096,	0x3fffffff,
					    0x40000000, 0x40000027, 0x40000200, 0x7fffffff,
					    0x80000000, 0xc0000000, 0xffffffff };
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(&setups[0], &p), 0);
	for (size_t a = 0; a < COUNT(arches); a++)
		for (size_t i = 0; i < COUNT(numbers); i++) {
			struct seccomp_data d = { .nr = (int)numbers[i], .arch = arches[a] };

			compare(&setups[0], &p, &d);
			d.nr = 0;
			compare(&setups[0], &p, &d);
		}
	free(p.filter);
}
END_TEST

/*
 * What is always allowed is so by its number alone, or the kernel's bitmap does not know it
 * (seccomp_is_const_allow(), Linux 5.11): the data ends behind number and architecture here.
 */
START_TEST(harmless_calls_are_free)
{
	static const int harmless[] = { __NR_getpid, __NR_read,	      __NR_write,      __NR_close,
					__NR_futex,  __NR_mmap,	      __NR_newfstatat, __NR_statx,
					__NR_fcntl,  __NR_exit_group, __NR_accept4,    __NR_sigaltstack };
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(&setups[0], &p), 0);
	visible = offsetof(struct seccomp_data, instruction_pointer);
	for (size_t h = 0; h < COUNT(harmless); h++) {
		struct seccomp_data d = { .nr = harmless[h], .arch = ARCH };

		ck_assert_uint_eq(interpret(&p, &d), YES);
	}
	visible = sizeof(struct seccomp_data);
	free(p.filter);
}
END_TEST

START_TEST(short_enough)
{
	struct sock_fprog p;

	ck_assert_int_eq(BUILD(&setups[_i], &p), 0);
	ck_assert_uint_lt(p.len, 424);
	free(p.filter);
}
END_TEST

START_TEST(no_setup_without_sense)
{
	struct filter_setup s = setups[0];
	struct sock_fprog p;

	s.level = LEVEL_HOOKS;
	ck_assert_int_eq(BUILD(&s, &p), -EINVAL);
	s = setups[0];
	s.own[1] = 0;
	ck_assert_int_eq(BUILD(&s, &p), -EINVAL);
	s = setups[0];
	s.n_own = OWN_PIDS_MAX + 1;
	ck_assert_int_eq(BUILD(&s, &p), -EINVAL);
	ck_assert_ptr_null(p.filter);
}
END_TEST

static TCase *cases(const char *name)
{
	TCase *t = tcase_create(name);

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, every_number_with_one_edge, 0, COUNT(setups));
	tcase_add_loop_test(t, every_number_with_many_edges, 0, COUNT(setups));
	tcase_add_loop_test(t, short_enough, 0, COUNT(setups));
	tcase_add_test(t, the_pass_is_compared_whole);
	tcase_add_test(t, what_the_floor_does_not_bound_is_never_passed);
	tcase_add_test(t, pairs_of_arguments);
	tcase_add_test(t, strange_numbers_and_architectures);
	tcase_add_test(t, harmless_calls_are_free);
	tcase_add_test(t, no_setup_without_sense);
	return t;
}
