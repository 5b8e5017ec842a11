/*
 * The seccomp program: the calls that it denies at once (denials.def), those that it sends to the
 * supervisor (calls.def), and those that it allows.
 *
 * It first tests the architecture, since numbers of another one mean other calls, then searches a tree over
 * the numbers, then tests the call's arguments.  A call that is always allowed is decided by its number
 * alone: the kernel remembers that and does not run the program for it any more (Linux 5.11,
 * seccomp_cache_prepare()).  Unknown numbers get ENOSYS.
 *
 * The filter cannot recognise the supervisor's threads, whose ids do not exist yet when it is built.  So
 * the supervisor judges the targets of signals where Landlock does not, and a process may set only its own
 * limits.  Landlock keeps processes from looking into pale at every ABI.
 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/msdos_fs.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "policy/programs/mark.h"
#include "policy/wire/wire.h"
#include "policy/base/util.h"

#include "filter.h"
#include "landlock.h"

#ifndef FILTER_ARCH
#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter knows the numbers of x86-64 and aarch64"
#endif
#endif
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "low() and high() are for little endian");

#define X32_BIT 0x40000000u

#define ALWAYS (ABI_MAX + 1)

#define CLONE_NEW_ANY                                                                                        \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET)
#define CLONE_NEW_TIME	0x80u /* for unshare; for clone it is a bit of the signal */
#define FASTOPEN	0x20000000u
#define IOPRIO_WHO_PGRP 2
#define IOPRIO_WHO_USER 3
#define TMPFILE_BIT	((unsigned)(O_TMPFILE & ~O_DIRECTORY))

/* --- conditions ------------------------------------------------------------------------------------- */

/* All 64 bits of args[arg] equal value. */
static unsigned if_whole(struct builder *b, unsigned arg, uint64_t value, unsigned yes, unsigned no)
{
	unsigned upper = bpf_test(&b->bpf, BPF_JEQ, (uint32_t)(value >> 32), yes, no);
	unsigned lower = bpf_test(&b->bpf, BPF_JEQ, (uint32_t)value, bpf_load(&b->bpf, high(arg), upper), no);

	return bpf_load(&b->bpf, low(arg), lower);
}

/* The low half of args[arg] is one of pale's processes, or the group that one of them leads. */
static unsigned if_own(struct builder *b, unsigned arg, unsigned yes, unsigned no)
{
	const struct filter_setup *s = b->setup;
	unsigned at = no;

	for (size_t i = s->n_own; i-- > 0;) {
		at = bpf_test(&b->bpf, BPF_JEQ, (uint32_t)-s->own[i], yes, at);
		at = bpf_test(&b->bpf, BPF_JEQ, (uint32_t)s->own[i], yes, at);
	}
	return bpf_load(&b->bpf, low(arg), at);
}

/* --- calls.def: what is sent to the supervisor ------------------------------------------------------ */

enum gate {
	NEVER,
	GATED,
	GATED_OPEN1,
	GATED_OPEN2,
	GATED_HOW,
	GATED_FD,
	COUNTED,
	ADDRESSED,
	SOCKET,
	PAIR,
	GATED_GETOPT,
	SETOPT,
	SCOPED,
	ROWS
};

static const struct {
	int nr;
	enum gate gate;
} calls[] = {
#define CALL(name, handler, gate) { __NR_##name, gate },
#include "calls.def"
#undef CALL
};

static bool gate_is_open(const struct filter_setup *s)
{
	return s->level == LEVEL_FULL && s->pass != 0;
}

/* An open without the pass, with its flags in args[arg].  O_PATH gives no access, and the kernel ignores
 * other flags beside it; the supervisor could not inject such a descriptor. */
static unsigned open_unpassed(struct builder *b, unsigned arg)
{
	const uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC | TMPFILE_BIT;
	unsigned rest = b->notify;

	/* `strict` sends every call, even where the policy leaves reads to the floor. */
	if (b->setup->reads == READS_FLOOR && b->setup->level == LEVEL_FULL)
		rest = bpf_mask(&b->bpf, writes, bpf_test(&b->bpf, BPF_JEQ, O_RDONLY, b->allow, b->notify));
	return bpf_load(&b->bpf, low(arg), bpf_test(&b->bpf, BPF_JSET, O_PATH, b->allow, rest));
}

/* An open with the pass.  Two kinds are still sent: truncation without write access, which Landlock does
 * not limit before ABI 3, and access mode 3, which opens for ioctl(2) alone and for which Landlock checks
 * no right. */
static unsigned open_passed(struct builder *b, unsigned arg)
{
	static const uint32_t never[] = { O_RDONLY | O_TRUNC, O_ACCMODE, O_ACCMODE | O_TRUNC };
	unsigned at = b->allow;

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		at = bpf_test(&b->bpf, BPF_JEQ, never[i], b->notify, at);
	return bpf_load(&b->bpf, low(arg), bpf_mask(&b->bpf, O_PATH | O_ACCMODE | O_TRUNC, at));
}

static unsigned gate_open(struct builder *b, unsigned arg)
{
	unsigned unpassed = open_unpassed(b, arg);

	if (!gate_is_open(b->setup))
		return unpassed;
	return if_whole(b, 5, b->setup->pass, open_passed(b, arg), unpassed);
}

/* The flags of openat2 are behind a pointer, so before ABI 3 the pass does not let the call through: with
 * the pass it gets ENOSYS, and the hook falls back to openat, whose flags are in a register; without the
 * pass the call is sent to the supervisor. */
static unsigned gate_how(struct builder *b)
{
	if (b->setup->landlock_abi >= LANDLOCK_TRUNCATE || !gate_is_open(b->setup))
		return b->passed;
	return if_whole(b, 5, b->setup->pass, answer_at(b, ENOSYS), b->notify);
}

static unsigned gate_of(struct builder *b, enum gate gate)
{
	switch (gate) {
	case GATED:
		return b->passed;
	case GATED_OPEN1:
		return gate_open(b, 1);
	case GATED_OPEN2:
		return gate_open(b, 2);
	case GATED_HOW:
		return gate_how(b);
	case GATED_FD:
		return gate_is_open(b->setup) ? if_whole(b, 1, 0, b->passed, b->notify) : b->notify;
	case COUNTED:
		return gate_is_open(b->setup) ? b->passed : b->allow;
	case ADDRESSED:
		return b->setup->level == LEVEL_STRICT ? b->notify : if_whole(b, 4, 0, b->allow, b->notify);
	case SOCKET:
		return filter_socket(b);
	case PAIR:
		return filter_socketpair(b);
	case GATED_GETOPT:
		return gate_is_open(b->setup) ? if_whole(b, 5, b->setup->pass, b->allow, filter_getsockopt(b))
					      : filter_getsockopt(b);
	case SETOPT:
		return filter_setsockopt(b);
	case SCOPED:
		return b->setup->landlock_abi >= LANDLOCK_SCOPES ? b->allow : b->notify;
	case ROWS:
		return b->allow; /* except where a row decides */
	case NEVER:
	default:
		return b->notify;
	}
}

/* --- denials.def ------------------------------------------------------------------------------------ */

static const struct denial {
	int nr, error;
} denials[] = {
#define DENY(name, error) { __NR_##name, error },
#define AIM(name, arg)
#define WHEN(name, arg, mask, value, answer, below)
#define ANY(name, arg, bits, answer)
#include "denials.def"
#undef DENY
#undef AIM
};

static const struct aim {
	int nr;
	unsigned arg;
} aims[] = {
#define DENY(name, error)
#define AIM(name, arg) { __NR_##name, arg },
#include "denials.def"
#undef AIM
#undef WHEN
#undef ANY
};

static const struct when {
	int nr;
	unsigned arg;
	uint16_t test;
	uint32_t mask, value;
	int answer, below;
} whens[] = {
#define AIM(name, arg)
#define WHEN(name, arg, mask, value, answer, below)                                                          \
	{ __NR_##name, arg, BPF_JEQ, mask, (uint32_t)(value), answer, below },
#define ANY(name, arg, bits, answer) { __NR_##name, arg, BPF_JSET, ~0u, bits, answer, ALWAYS },
#include "denials.def"
#undef DENY
#undef AIM
#undef WHEN
#undef ANY
};

/* Neighbours that test the same whole argument load it once. */
static bool shares_load(const struct when *above, const struct when *below)
{
	return above->nr == below->nr && above->arg == below->arg && above->mask == ~0u;
}

static void add_when(struct builder *b, const struct when *w, const struct when *above)
{
	unsigned at = bpf_test(&b->bpf, w->test, w->value, answer_at(b, w->answer), b->at[w->nr]);

	if (w->mask != ~0u)
		at = bpf_mask(&b->bpf, w->mask, at);
	if (!above || !shares_load(above, w))
		at = bpf_load(&b->bpf, low(w->arg), at);
	b->at[w->nr] = at;
}

/* Adds the rows from last to first: the first one is tested first. */
static void add_whens(struct builder *b)
{
	const struct when *held[NELEM(whens)];
	size_t n = 0;

	for (size_t i = 0; i < NELEM(whens); i++)
		if (whens[i].nr != NR_ABSENT && b->setup->landlock_abi < whens[i].below)
			held[n++] = &whens[i];
	while (n-- > 0)
		add_when(b, held[n], n ? held[n - 1] : NULL);
}

static void add_denials(struct builder *b)
{
	for (size_t i = 0; i < NELEM(aims); i++)
		if (aims[i].nr != NR_ABSENT)
			b->at[aims[i].nr] = if_own(b, aims[i].arg, answer_at(b, EPERM), b->at[aims[i].nr]);
	for (size_t i = 0; i < NELEM(denials); i++)
		if (denials[i].nr != NR_ABSENT)
			b->at[denials[i].nr] = answer_at(b, denials[i].error);
}

/* Calls whose verdict depends on two arguments. */
static void add_pairs(struct builder *b)
{
	struct bpf *p = &b->bpf;
	unsigned at, reads;

	/* The kernel refuses a second listener with this errno. */
	at = bpf_load(p, low(1),
		      bpf_test(p, BPF_JSET, SECCOMP_FILTER_FLAG_NEW_LISTENER, answer_at(b, EBUSY), b->allow));
	b->at[__NR_seccomp] =
		bpf_load(p, low(0), bpf_test(p, BPF_JEQ, SECCOMP_SET_MODE_FILTER, at, b->allow));

	/* The process keeps its dumpable state: the supervisor must be able to read its callers. */
	at = if_whole(b, 1, 0, answer_at(b, 0), if_whole(b, 1, 1, answer_at(b, 0), answer_at(b, EINVAL)));
	b->at[__NR_prctl] = bpf_load(p, low(0), bpf_test(p, BPF_JEQ, PR_SET_DUMPABLE, at, b->at[__NR_prctl]));

	/* Limits of another process may be read; no limit is set by a pid. */
	reads = if_whole(b, 2, 0, b->allow, answer_at(b, EPERM));
	at = bpf_load(p, low(0), bpf_test(p, BPF_JEQ, 0, b->allow, reads));
	at = bpf_test(p, BPF_JEQ, MARK_RESOURCE, reads, at);
	at = bpf_test(p, BPF_JEQ, RLIMIT_LOCKS, reads, at);
	b->at[__NR_prlimit64] = bpf_load(p, low(1), at);
}

/* --- the program -------------------------------------------------------------------------------------- */

/* The numbers that this architecture uses; those between are not calls. */
static const struct {
	int first, last;
} known[] = {
#if FILTER_ARCH == AUDIT_ARCH_X86_64
	{ 0, 336 },
#else
	{ 0, 243 },
	{ 260, 294 },
#endif
	{ __NR_pidfd_send_signal, NR_NEWEST },
};

static void fill_filter(struct builder *b)
{
	unsigned unknown = answer_at(b, ENOSYS);

	for (size_t i = 0; i < NUMBERS; i++)
		b->at[i] = unknown;
	for (size_t k = 0; k < NELEM(known); k++)
		for (int nr = known[k].first; nr <= known[k].last; nr++)
			b->at[nr] = b->allow;
	for (size_t i = 0; i < NELEM(calls); i++)
		if (calls[i].nr != NR_ABSENT)
			b->at[calls[i].nr] = gate_of(b, calls[i].gate);
	add_whens(b);
	add_pairs(b);
	add_denials(b);
}

/* start[i] is where the tests of the i-th run of numbers with the same tests begin. */
static unsigned search_tree(struct builder *b, const unsigned *start, size_t n)
{
	size_t half = n / 2;
	unsigned right, left;

	if (n == 1)
		return b->at[start[0]];
	right = search_tree(b, start + half, n - half);
	left = search_tree(b, start, half);
	return bpf_test(&b->bpf, BPF_JGE, start[half], right, left);
}

static unsigned by_number(struct builder *b)
{
	/* About half of the calls of a busy process are these; the tree would need eight steps for each. */
	static const int hot[] = { __NR_ioctl, __NR_openat, __NR_openat2 };
	unsigned start[NUMBERS + 1], at;
	size_t n = 0;

	for (unsigned nr = 0; nr < NUMBERS; nr++)
		if (nr == 0 || b->at[nr] != b->at[nr - 1])
			start[n++] = nr;
	at = search_tree(b, start, n);
	at = bpf_test(&b->bpf, BPF_JGE, NUMBERS, answer_at(b, ENOSYS), at);
	for (size_t i = 0; i < NELEM(hot); i++)
		at = bpf_test(&b->bpf, BPF_JEQ, (uint32_t)hot[i], b->at[hot[i]], at);
	return at;
}

/* An x32 number means another call; a negative number means no call. */
static unsigned by_architecture(struct builder *b)
{
	struct bpf *p = &b->bpf;
	unsigned kill = bpf_return(p, SECCOMP_RET_KILL_PROCESS), at = by_number(b);

	if (FILTER_ARCH == AUDIT_ARCH_X86_64) {
		unsigned negative = bpf_test(p, BPF_JGE, 2 * X32_BIT, answer_at(b, ENOSYS), kill);

		at = bpf_test(p, BPF_JGE, X32_BIT, negative, at);
	}
	at = bpf_load(p, offsetof(struct seccomp_data, nr), at);
	at = bpf_test(p, BPF_JEQ, FILTER_ARCH, at, kill);
	return bpf_load(p, offsetof(struct seccomp_data, arch), at);
}

static bool is_sane(const struct filter_setup *s)
{
	if ((s->level != LEVEL_FULL && s->level != LEVEL_STRICT) || s->n_own > OWN_PIDS_MAX)
		return false;
	/* 0 would mean the calling process.  1 is valid: in a container pale itself may be process 1. */
	for (size_t i = 0; i < s->n_own; i++)
		if (s->own[i] <= 0)
			return false;
	return true;
}

int filter_build(const struct filter_setup *s, struct sock_fprog *ret)
{
	struct builder b = { .setup = s };
	int r = bpf_init(&b.bpf);

	*ret = (struct sock_fprog){ 0 };
	if (r == 0 && !is_sane(s))
		r = -EINVAL;
	if (r == 0) {
		b.allow = bpf_return(&b.bpf, SECCOMP_RET_ALLOW);
		b.notify = bpf_return(&b.bpf, SECCOMP_RET_USER_NOTIF);
		b.passed = gate_is_open(s) ? if_whole(&b, 5, s->pass, b.allow, b.notify) : b.notify;
		fill_filter(&b);
		r = bpf_finish(&b.bpf, by_architecture(&b), ret);
	}
	bpf_done(&b.bpf);
	return r;
}
