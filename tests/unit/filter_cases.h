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

#include "tools/supervisor/confine.h"
#include "tools/supervisor/numbers.h"

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

/* --- what is wanted --------------------------------------------------------------------------------- */

#define LIST(name, ...)                                                                                      \
	static bool name(int nr)                                                                             \
	{                                                                                                    \
		static const int list[] = { __VA_ARGS__ };                                                   \
                                                                                                             \
		for (size_t i = 0; i < COUNT(list); i++)                                                     \
			if (list[i] == nr)                                                                   \
				return true;                                                                 \
		return false;                                                                                \
	}

LIST(is_gated, __NR_execve, __NR_execveat, __NR_creat, __NR_unlink, __NR_unlinkat, __NR_rmdir, __NR_rename,
     __NR_renameat, __NR_renameat2, __NR_link, __NR_linkat, __NR_symlink, __NR_symlinkat, __NR_mkdir,
     __NR_mkdirat, __NR_mknod, __NR_mknodat)
LIST(is_carried, __NR_truncate, __NR_chmod, __NR_fchmod, __NR_fchmodat, 452, __NR_chown, __NR_lchown,
     __NR_fchown, __NR_fchownat, __NR_utime, __NR_utimes, __NR_futimesat, __NR_utimensat, __NR_setxattr,
     __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, 463, 466, 469,
     __NR_connect, __NR_bind, __NR_listen)
LIST(is_no_call, 425, 426, 427, 435, __NR_add_key, __NR_request_key, __NR_keyctl, __NR_shmget, __NR_shmat,
     __NR_shmctl, __NR_shmdt, __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl, __NR_msgget, __NR_msgsnd,
     __NR_msgrcv, __NR_msgctl, __NR_mq_open, __NR_mq_unlink, __NR_mq_timedsend, __NR_mq_timedreceive,
     __NR_mq_notify, __NR_mq_getsetattr, __NR_lookup_dcookie, __NR_uselib)
LIST(is_forbidden, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, 428, 429, 430, 431,
     432, 433, 442, 467, __NR_bpf, __NR_userfaultfd, __NR_fanotify_init, __NR_kexec_load,
     __NR_kexec_file_load, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_open_by_handle_at,
     __NR_acct, __NR_swapon, __NR_swapoff, __NR_quotactl, 443, __NR_syslog, __NR_reboot, __NR_settimeofday,
     __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname,
     __NR_vhangup, __NR_iopl, __NR_ioperm)
LIST(aims_by_first, __NR_process_vm_readv, __NR_process_vm_writev, 434, __NR_kcmp, __NR_get_robust_list,
     __NR_move_pages, __NR_migrate_pages, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr,
     __NR_sched_setaffinity, __NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo)
LIST(aims_by_second, __NR_ptrace, __NR_kcmp, __NR_setpriority, __NR_ioprio_set, __NR_tgkill,
     __NR_rt_tgsigqueueinfo)
/* By number and not by name: what the headers say is not asked. */
LIST(is_console_request, 0x5412, 0x541c, 0x541d, 0x5423)
LIST(is_flags_request, 0x40086602, 0x401c5820)
LIST(is_reflink_request, 0x40049409, 0x4020940d, (int)0xc0189436)
LIST(is_attribute_request, 0x40087602, 0x40806685, (int)0x800c6613, 0x40047211, (int)0xc0506617,
     (int)0xc0406618, (int)0xc0406619)

static bool is_ours(uint64_t pid)
{
	int n = (int)(uint32_t)pid;

	return n == OWN || n == -OWN || n == OWN_HELPER || n == -OWN_HELPER;
}

static uint32_t want_ioctl(const struct filter_setup *s, uint32_t request)
{
	if (is_console_request((int)request) ||
	    (s->landlock_abi < 6 && (request == 0x8901 || request == 0x8902)))
		return NO(EPERM);
	if (is_flags_request((int)request))
		return CARRY;
	if (is_reflink_request((int)request))
		return YES;
	if (is_attribute_request((int)request) || (request >> 8 & 0xff) == 0x94 || request >> 8 == 0x56 ||
	    request >> 8 == 0x4b)
		return NO(ENOTTY);
	return YES;
}

static uint32_t want_inet(uint32_t type, uint32_t protocol)
{
	if (type == SOCK_STREAM)
		return protocol == 0 || protocol == 6 ? YES : NO(EPROTONOSUPPORT);
	if (type == SOCK_DGRAM)
		return protocol == 0 || protocol == 17 ? CARRY : NO(EACCES);
	return NO(type == SOCK_RAW ? EPERM : ESOCKTNOSUPPORT);
}

static uint32_t want_socket(int nr, uint32_t family, uint32_t type, uint32_t protocol)
{
	type &= 0xf;
	if (family == AF_UNIX)
		return type == SOCK_STREAM || type == SOCK_SEQPACKET ? YES : NO(EACCES);
	if (nr == __NR_socketpair)
		return NO(EAFNOSUPPORT);
	if (family == AF_INET || family == AF_INET6)
		return want_inet(type, protocol);
	if (family == AF_NETLINK)
		return protocol == 0 ? YES : NO(EPROTONOSUPPORT);
	return NO(EAFNOSUPPORT);
}

static uint32_t want_open(const struct filter_setup *s, uint32_t flags, bool passed)
{
	uint32_t mode = flags & 3;

	if (flags & 010000000)
		return YES;
	if (passed && mode != 3 && !(mode == 0 && flags & 01000))
		return YES;
	if (s->level == LEVEL_FULL && !passed && s->reads == READS_FLOOR && mode == 0 &&
	    !(flags & (0100 | 01000 | 020000000)))
		return YES;
	return CARRY;
}

static uint32_t want_signal(const struct filter_setup *s, int nr, const uint64_t *a)
{
	if (nr == __NR_kill && (uint32_t)a[0] == UINT32_MAX && s->landlock_abi < 6)
		return NO(EPERM);
	if (nr == 424 && s->landlock_abi < 6)
		return NO(ENOSYS);
	if (nr == __NR_setpgid && s->landlock_abi < 6 && is_ours(a[1]))
		return NO(EPERM);
	if (nr == __NR_fcntl && s->landlock_abi < 6)
		return (uint32_t)a[1] == 15 || ((uint32_t)a[1] == 8 && is_ours(a[2])) ? NO(EPERM) : YES;
	return YES;
}

static uint32_t want_process(const struct filter_setup *s, int nr, const uint64_t *a)
{
	const uint32_t spaces = 0x7e020000;

	if (nr == __NR_clone)
		return a[0] & spaces ? NO(EPERM) : YES;
	if (nr == __NR_unshare)
		return a[0] & (spaces | 0x80) ? NO(EPERM) : YES;
	if (nr == __NR_prlimit64)
		return (uint32_t)a[0] == 0 || a[2] == 0 ? YES : NO(EPERM);
	if (nr == __NR_prctl)
		return (uint32_t)a[0] == 4 ? NO(0) : (uint32_t)a[0] == 35 ? NO(EPERM) : YES;
	if (nr == __NR_seccomp)
		return (uint32_t)a[0] == 1 && a[1] & 8 ? NO(EBUSY) : YES;
	if (nr == __NR_setpriority && (uint32_t)a[0] == 2)
		return NO(EPERM);
	if (nr == __NR_ioprio_set && (uint32_t)a[0] == 3)
		return NO(EPERM);
	return want_signal(s, nr, a);
}

static uint32_t want_send(int nr, const uint64_t *a)
{
	if (a[nr == __NR_sendmsg ? 2 : 3] & 0x20000000)
		return NO(EOPNOTSUPP);
	return nr == __NR_sendto && a[4] != 0 ? CARRY : YES;
}

static uint32_t want_option(uint32_t level, uint32_t name)
{
	return (level == 0 && name == 4) || (level == 41 && (name == 57 || name == 6)) ? NO(EPERM) : YES;
}

static uint32_t want_known(const struct filter_setup *s, int nr, const uint64_t *a)
{
	bool passed = s->level == LEVEL_FULL && s->pass != 0 && a[5] == s->pass;

	if (is_no_call(nr))
		return NO(ENOSYS);
	if (is_forbidden(nr))
		return NO(EPERM);
	if (nr == __NR_perf_event_open)
		return NO(EACCES);
	if ((aims_by_first(nr) && is_ours(a[0])) || (aims_by_second(nr) && is_ours(a[1])))
		return NO(EPERM);
	if (is_carried(nr))
		return CARRY;
	if (is_gated(nr))
		return passed ? YES : CARRY;
	if (nr == 437)
		return passed && s->landlock_abi >= 3 ? YES : CARRY;
	if (nr == __NR_open)
		return want_open(s, (uint32_t)a[1], passed);
	if (nr == __NR_openat)
		return want_open(s, (uint32_t)a[2], passed);
	if (nr == __NR_ioctl)
		return want_ioctl(s, (uint32_t)a[1]);
	if (nr == __NR_socket || nr == __NR_socketpair)
		return want_socket(nr, (uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2]);
	if (nr == __NR_sendto || nr == __NR_sendmsg || nr == __NR_sendmmsg)
		return want_send(nr, a);
	if (nr == __NR_setsockopt)
		return want_option((uint32_t)a[1], (uint32_t)a[2]);
	return want_process(s, nr, a);
}

static bool is_a_call(int nr)
{
	if (nr >= 424)
		return nr <= 469;
	return ARCH == AUDIT_ARCH_X86_64 ? nr <= 336 : nr <= 294 && !(nr > 243 && nr < 260);
}

static uint32_t want(const struct filter_setup *s, const struct seccomp_data *d)
{
	if (d->arch != ARCH)
		return KILL;
	if (ARCH == AUDIT_ARCH_X86_64 && (uint32_t)d->nr >= 0x40000000 && (uint32_t)d->nr < 0x80000000)
		return KILL;
	if (d->nr < 0 || !is_a_call(d->nr))
		return NO(ENOSYS);
	return want_known(s, d->nr, (const uint64_t *)d->args);
}

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
	0,	    1,		2,	    3,		4,	    5,		6,
	8,	    9,		10,	    15,		16,	    17,		35,
	38,	    40,		43,	    58,		59,	    132,	256,
	262,	    1024,	65535,	    OWN,	-OWN,	    OWN_HELPER, -OWN_HELPER,
	OWN + 1,    -1,		0xffffffff, INT32_MIN,	0x80,	    0x20000,	0x10000000,
	0x40000000, 0x02000000, 0x04000000, 0x08000000, 0x00000f00, 01,		02,
	0100,	    01000,	01001,	    01002,	01003,	    010000000,	010001000,
	020200000,  020200001,	020000000,  02000000,	04000,	    0x80001,	0x80802,
	0x802,	    0x20000000, 0x20000040, 0x5412,	0x541c,	    0x541d,	0x5423,
	0x5401,	    0x8901,	0x8902,	    0x40086602, 0x401c5820, 0x40049409, 0x4020940d,
	0xc0189436, 0x40087602, 0x40806685, 0x800c6613, 0x40047211, 0x5000940e, 0xd000943d,
	0x5603,	    0x80685600, 0x4b33,	    0x5600,	PASS,	    PASS ^ 1,	PASS ^ (1ull << 63),
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
		struct seccomp_data d = { .nr = never[i], .arch = ARCH, .args = { [5] = PASS } };

		ck_assert_uint_eq(interpret(&p, &d), CARRY);
	}
	free(p.filter);
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
					__NR_fcntl,  __NR_exit_group, __NR_recvmsg,    __NR_sigaltstack };
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
	ck_assert_uint_lt(p.len, 400);
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
	tcase_add_test(t, strange_numbers_and_architectures);
	tcase_add_test(t, harmless_calls_are_free);
	tcase_add_test(t, no_setup_without_sense);
	return t;
}
