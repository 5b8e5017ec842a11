/* The filter of this machine, interpreted and loaded. */
#define ARCH  AUDIT_ARCH_X86_64
#define BUILD filter_build
#include "tests/unit/filter_cases.h"

#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/wall/bpf.h"

Suite *suite_filter(void);

/* The calls of a child that has the filter on: how many did not end as they should. */
static int probe_calls(pid_t own)
{
	static const struct {
		long nr, args[4];
		int error;
	} tries[] = {
		{ __NR_getppid, { 0 }, 0 },
		{ __NR_clone3, { 0 }, ENOSYS },
		{ __NR_io_uring_setup, { 1 }, ENOSYS },
		{ __NR_ioctl, { 0, TIOCSTI }, EPERM },
		{ __NR_ioctl, { 0, TIOCEXCL }, EPERM },
		{ __NR_ioctl, { 0, TIOCSTI | (1l << 40) }, EPERM },
		{ __NR_unshare, { CLONE_NEWUSER }, EPERM },
		{ __NR_setpriority, { PRIO_PGRP, 0, 0 }, EPERM },
		{ __NR_ioprio_set, { 2, 0, 0 }, EPERM },
		{ __NR_clone, { CLONE_PARENT | SIGCHLD }, EPERM },
		{ __NR_unshare, { CLONE_FS }, 0 },
		{ __NR_prctl, { PR_SET_DUMPABLE, 0 }, 0 },
		{ __NR_socket, { AF_UNIX, SOCK_RAW }, EACCES },
		/* Nobody took the listener. */
		{ __NR_socket, { AF_UNIX, SOCK_DGRAM }, ENOSYS },
		{ __NR_socket, { AF_INET, SOCK_STREAM, 262 }, EPROTONOSUPPORT },
		{ __NR_socket, { AF_INET, SOCK_STREAM | SOCK_CLOEXEC }, 0 },
		{ __NR_setsockopt, { 0, IPPROTO_IP, IP_OPTIONS }, EPERM },
		{ __NR_setsockopt, { 0, IPPROTO_IPV6, IPV6_RTHDR }, EPERM },
		{ __NR_setsockopt, { 0, SOL_SOCKET, SO_BINDTODEVICE }, EPERM },
		{ __NR_setsockopt, { 0, IPPROTO_IPV6, IPV6_2292PKTOPTIONS }, EPERM },
		{ __NR_setsockopt, { 0, IPPROTO_TCP, IP_OPTIONS }, ENOTSOCK },
		{ __NR_prlimit64, { 0, RLIMIT_NOFILE, 0, 0 }, 0 },
		{ __NR_shmget, { 0, 1, 0600 }, ENOSYS },
		{ 470, { 0 }, ENOSYS },
		{ -1, { 0 }, ENOSYS },
	};
	int bad = 0;

	for (size_t i = 0; i < COUNT(tries); i++) {
		long r = syscall(tries[i].nr, tries[i].args[0], tries[i].args[1], tries[i].args[2],
				 tries[i].args[3]);

		bad += tries[i].error ? r != -1 || errno != tries[i].error : r < 0;
	}
	bad += kill(own, 0) != -1 || errno != EPERM;
	bad += syscall(__NR_prlimit64, own, RLIMIT_FSIZE, "0123456789abcdef", 0) != -1 || errno != EPERM;
	bad += prctl(PR_GET_DUMPABLE) != 1;
	/* Nobody took the listener: what would be carried does not happen. */
	bad += unlink("/nonexistent") != -1 || errno != ENOSYS;
	return bad;
}

/* Runs with the filter on in a child; its wait status. */
static int under_filter(int (*act)(pid_t own))
{
	struct filter_setup s = setups[0];
	struct sock_fprog p;
	int status = -1;
	pid_t pid;

	s.own[0] = getpid();
	s.n_own = 1;
	ck_assert_int_eq(filter_build(&s, &p), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) < 0)
			_exit(100);
		_exit(act(s.own[0]));
	}
	free(p.filter);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(the_kernel_takes_it)
{
	int status = under_filter(probe_calls);

	ck_assert_int_eq(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}
END_TEST

static int call_x32(pid_t own)
{
	(void)own;
	(void)syscall(0x40000000 + __NR_getpid);
	return 0;
}

/* getpid of i386 is 20; on a kernel without that way in, the instruction itself is the end. */
static int call_i386(pid_t own)
{
	int nr = 20;

	(void)own;
	__asm__ volatile("int $0x80" : "+a"(nr) : : "memory");
	return 0;
}

START_TEST(other_ways_in_are_the_end)
{
	static int (*const ways[])(pid_t) = { call_x32, call_i386 };
	int status = under_filter(ways[_i]);

	ck_assert(WIFSIGNALED(status));
	ck_assert(WTERMSIG(status) == SIGSYS || (_i == 1 && WTERMSIG(status) == SIGSEGV));
}
END_TEST

START_TEST(a_second_listener_is_taken_for_busy)
{
	struct sock_fprog p;
	struct seccomp_data d = { .nr = __NR_seccomp, .arch = ARCH, .args = { 1, 1 << 3 } };

	ck_assert_int_eq(filter_build(&setups[0], &p), 0);
	ck_assert_uint_eq(interpret(&p, &d), NO(EBUSY));
	d.args[1] = 1;
	ck_assert_uint_eq(interpret(&p, &d), YES);
	free(p.filter);
}
END_TEST

/* --- the assembler ---------------------------------------------------------------------------------- */

/* A ladder of n tests whose steps all lead to the two ends, the most distant ones by stepping stones. */
static int ladder(uint32_t n, struct sock_fprog *ret)
{
	struct bpf b;
	unsigned at, hit;
	int r;

	ck_assert_int_eq(bpf_init(&b), 0);
	at = bpf_return(&b, YES);
	hit = bpf_mask(&b, 0xf, bpf_test(&b, BPF_JEQ, 3, bpf_return(&b, CARRY), bpf_return(&b, KILL)));
	for (uint32_t i = 0; i < n; i++)
		at = bpf_test(&b, BPF_JEQ, i, hit, at);
	r = bpf_finish(&b, bpf_load(&b, offsetof(struct seccomp_data, nr), at), ret);
	bpf_done(&b);
	return r;
}

START_TEST(jumps_reach_far)
{
	struct sock_fprog p;

	ck_assert_int_eq(ladder(1000, &p), 0);
	for (int nr = 0; nr < 1100; nr++) {
		struct seccomp_data d = { .nr = nr };
		uint32_t end = nr >= 1000 ? YES : nr % 16 == 3 ? CARRY : KILL;

		if (interpret(&p, &d) != end)
			ck_abort_msg("%d", nr);
	}
	free(p.filter);
}
END_TEST

START_TEST(too_long_is_told)
{
	struct sock_fprog p;

	ck_assert_int_eq(ladder(BPF_MAXINSNS, &p), -E2BIG);
}
END_TEST

START_TEST(the_same_is_written_once)
{
	struct bpf b;
	unsigned yes, no, test;

	ck_assert_int_eq(bpf_init(&b), 0);
	yes = bpf_return(&b, YES);
	no = bpf_return(&b, KILL);
	test = bpf_test(&b, BPF_JSET, 8, yes, no);
	ck_assert_uint_eq(bpf_return(&b, YES), yes);
	ck_assert_uint_eq(bpf_test(&b, BPF_JSET, 8, yes, no), test);
	ck_assert_uint_ne(bpf_test(&b, BPF_JSET, 8, no, yes), test);
	ck_assert_uint_eq(bpf_test(&b, BPF_JSET, 16, yes, yes), yes);
	ck_assert_uint_eq(b.n, 4);
	bpf_done(&b);
}
END_TEST

Suite *suite_filter(void)
{
	Suite *s = suite_create("filter");
	TCase *t = cases("table");

	suite_add_tcase(s, t);
	t = tcase_create("loaded");
	tcase_add_test(t, the_kernel_takes_it);
	tcase_add_loop_test(t, other_ways_in_are_the_end, 0, 2);
	tcase_add_test(t, a_second_listener_is_taken_for_busy);
	suite_add_tcase(s, t);
	t = tcase_create("assembler");
	tcase_add_test(t, jumps_reach_far);
	tcase_add_test(t, too_long_is_told);
	tcase_add_test(t, the_same_is_written_once);
	suite_add_tcase(s, t);
	return s;
}
