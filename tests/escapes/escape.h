/*
 * An escape: one attempt to do what the fence forbids, and the finding whether it was done.
 *
 * The same probes are built several times, and the way they make system calls is all that differs:
 *
 *   libc    dynamic, libc's functions: what the hooks see
 *   raw     dynamic, an own system call instruction: the hooks are there, and blind
 *   dig     as raw, with the pass of the gate, dug out of the policy image, in the sixth argument
 *   static  glibc linked statically        musl  musl linked statically
 */
#ifndef PALE_TESTS_ESCAPE_H
#define PALE_TESTS_ESCAPE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* What becomes of an attempt; also the exit status of its process. */
enum { WORKED = 0, STOPPED = 1, NOT_HERE = 2 };

#define PROBE(name)		      int probe_##name(void)
#define P(name, rows, rings, promise) PROBE(name);
#include "probes.def"
#undef P

/* DO(): a call that libc has a function for; SC(): any call by its number. */
#define SC_(nr, a, b, c, d, e, f, ...)                                                                       \
	escape_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SC(name, ...) SC_(__NR_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#if defined(ESCAPE_RAW) || defined(ESCAPE_DIG)
#define DO(name, ...) SC(name, __VA_ARGS__)
#else
#define DO(name, ...) name(__VA_ARGS__)
#endif
long escape_call(long nr, long a, long b, long c, long d, long e, long f);

/* --- what there is to be had; all of it made anew for each probe, by its name ------------------------- */

extern const char *escape_key;	 /* a file that must not be read */
extern const char *escape_name;	 /* of the probe: its directories bear it */
extern const char *escape_other; /* where the sockets of others are */
extern pid_t escape_pale;	 /* the supervisor, or who stands for it */
extern pid_t escape_helper;	 /* the helper, 0 where there is none */
extern pid_t escape_neighbour;	 /* a process of the same user, of no session */
extern int escape_port;		 /* a denied port where somebody listens, TCP and UDP */

/* NAME below the probe's own directory outside: `file`, `dir` (empty), `sub/inner`; a buffer used in turn. */
const char *outside(const char *name);
/* The key is what fd reads.  Closes it. */
bool is_key(int fd);
/* An open gave the key. */
int read_it(int fd);
/* WORKED where the call returned other than -1; NOT_HERE where the kernel does not know it. */
int if_done(long result);
/* Puts text into a file of the workspace. */
void put(const char *path, const char *text);
bool there(const char *path);

#endif
