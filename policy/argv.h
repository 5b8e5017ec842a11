/*
 * argv understood: what does this command line really run?  No allocation; async-signal-safe.
 */
#ifndef PALE_ARGV_H
#define PALE_ARGV_H

#include "op.h"

/* A command as rules see it: the program's names and its arguments (argv[0] left out). */
struct command {
	const char *program;  /* basename of the resolved file, or of argv[0] */
	const char *alias;    /* other basename it answers to (argv[0]'s, a busybox applet, ident), or NULL */
	const char *path;     /* resolved file, or NULL when only named (inside a wrapper) */
	const char *const *args;
	size_t n;
};

/*
 * Looks one wrapper deep: env, nice, nohup, timeout, xargs, sudo, doas, setsid, stdbuf, time, ionice,
 * chrt, taskset, command, exec, busybox APPLET, ld.so PROGRAM, git-SUBCOMMAND ...  True with the inner command
 * (args point into outer's); false where outer wraps nothing.
 */
bool command_unwrap(const struct command *outer, struct command *ret_inner);

/* argv as one line for people and the ledger: words that need it are single-quoted as a shell would.
 * Untruncated length without NUL; writes at most size-1 bytes and a NUL. */
size_t argv_join(const char *const *argv, size_t argc, char *buf, size_t size);

#endif
