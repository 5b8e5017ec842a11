/*
 * The gate: how the filter distinguishes a call that a hook has allowed from any other.
 *
 * At level full the policy image holds the session's pass, a random word that such a call carries in its
 * sixth argument.  At the other levels the pass is zero, and these are plain calls.  Only calls that
 * Landlock restricts (names and opens) and readlinkat(2) go through the gate.  The gate is for speed and is
 * not a barrier: code in this process that finds the pass is still restricted by Landlock (the floor), but
 * it can read where a link in a closed directory leads.
 *
 * A call that the gate does not take is made as the plain call, with the caller's own arguments: the
 * supervisor judges it, asks about it, performs it and records it.
 */
#ifndef PALE_PRELOAD_GATE_H
#define PALE_PRELOAD_GATE_H

#include <errno.h>
#include <linux/openat2.h>

#include "raw.h"
#include "session.h"

/* The address of the pass, or of a zero if there is no image. */
static inline const uint64_t *gate_pass(void)
{
	static const uint64_t closed = 0;

	return session.img.h ? &session.img.h->pass : &closed;
}

#define gate1(nr, a)	      raw_pass(gate_pass(), nr, RAW_ARG(a), 0, 0, 0, 0)
#define gate2(nr, a, b)	      raw_pass(gate_pass(), nr, RAW_ARG(a), RAW_ARG(b), 0, 0, 0)
#define gate3(nr, a, b, c)    raw_pass(gate_pass(), nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), 0, 0)
#define gate4(nr, a, b, c, d) raw_pass(gate_pass(), nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), 0)
#define gate5(nr, a, b, c, d, e)                                                                             \
	raw_pass(gate_pass(), nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), RAW_ARG(e))

/* openat2, if it is available.  valgrind lacks it, and writes a warning to the program's stderr each
 * time. */
static inline long gate_openat2(int dirfd, const char *path, const struct open_how *how)
{
	return session.in_valgrind ? -ENOSYS : gate4(SYS_openat2, dirfd, path, how, sizeof *how);
}

/* True if a call can be left to the supervisor. */
static inline bool gate_stands(void)
{
	return level_now() != LEVEL_HOOKS;
}

/*
 * True if r may be Landlock's answer and not the final one, so that the plain call is to be made: it may
 * succeed (EACCES and EXDEV come from Landlock), it is less strict than openat2 about flags, and it needs
 * no descriptor to hold a place.
 */
static inline bool gate_refused(long r)
{
	const uint64_t errors = 1ull << EPERM | 1ull << E2BIG | 1ull << EACCES | 1ull << EXDEV |
				1ull << EINVAL | 1ull << ENFILE | 1ull << EMFILE;

	return r < 0 && r > -64 && errors >> -r & 1 && gate_stands();
}

/*
 * Makes the plain call.  A signal can interrupt it before the supervisor has received it.  The call was not
 * done then and is made again; the calls made here never return EINTR themselves.
 */
long gate_carried(long nr, long a, long b, long c, long d, long e);
#define carried2(nr, a, b)	 gate_carried(nr, RAW_ARG(a), RAW_ARG(b), 0, 0, 0)
#define carried3(nr, a, b, c)	 gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), 0, 0)
#define carried4(nr, a, b, c, d) gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), 0)
#define carried5(nr, a, b, c, d, e)                                                                          \
	gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), RAW_ARG(e))

/* The limit of such repetitions, so that neither a storm of signals nor an error of ours repeats a call for
 * ever. */
#define GATE_ROUNDS 1000

#endif
