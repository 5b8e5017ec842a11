/*
 * The gate: how the filter tells a call that a hook has allowed from any other.
 *
 * At level full the policy image holds the session's pass, a random word that such a call carries in
 * its sixth argument; at the other levels the pass is zero, and these are plain calls.  Only what
 * Landlock bounds goes through (names and opens), and readlinkat(2).  The gate is speed, no wall: code in
 * this process that digs the pass out still stands on the floor, and can see where a closed link leads.
 *
 * What the gate does not take goes down as the plain call, with the caller's own words: the
 * supervisor judges, asks, performs and records it.
 */
#ifndef PALE_PRELOAD_GATE_H
#define PALE_PRELOAD_GATE_H

#include "internal.h"

/* Where the word stands; a zero where there is no image. */
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

/* openat2 where there is one.  valgrind has none, and says so on the program's stderr each time. */
static inline long gate_openat2(int dirfd, const char *path, const struct open_how *how)
{
	return session.in_valgrind ? -ENOSYS : gate4(SYS_openat2, dirfd, path, how, sizeof *how);
}

/* Is there somebody below whom a call can be left to? */
static inline bool gate_stands(void)
{
	return level_now() != LEVEL_HOOKS;
}

/*
 * The result of a call through the gate is perhaps the floor's and not the last word: the plain call
 * may do better (EACCES and EXDEV are Landlock's), is less strict (openat2 is of flags), or needs no
 * descriptor to hold a place by.
 */
static inline bool gate_refused(long r)
{
	const uint64_t errors = 1ull << EPERM | 1ull << E2BIG | 1ull << EACCES | 1ull << EXDEV |
				1ull << EINVAL | 1ull << ENFILE | 1ull << EMFILE;

	return r < 0 && r > -64 && errors >> -r & 1 && gate_stands();
}

/*
 * The plain call.  A signal can reach a caller who still waits to be heard by the supervisor: the call
 * was not done then, and is made again, for what comes here never returns EINTR by itself.
 */
long gate_carried(long nr, long a, long b, long c, long d, long e);
#define carried2(nr, a, b)	 gate_carried(nr, RAW_ARG(a), RAW_ARG(b), 0, 0, 0)
#define carried3(nr, a, b, c)	 gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), 0, 0)
#define carried4(nr, a, b, c, d) gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), 0)
#define carried5(nr, a, b, c, d, e)                                                                          \
	gate_carried(nr, RAW_ARG(a), RAW_ARG(b), RAW_ARG(c), RAW_ARG(d), RAW_ARG(e))

/* Rounds of such a repetition: a storm of signals ends, a fault of ours must end too. */
#define GATE_ROUNDS 1000

#endif
