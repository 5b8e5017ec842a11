/*
 * Command lines: their words and options, and the commands that they really run.
 *
 * argv understood: what does this command line really run?  No allocation; async-signal-safe.
 */
#ifndef PALE_ARGV_H
#define PALE_ARGV_H

#include "policy/base/op.h"

/* A command as rules see it: the program's names and its arguments (argv[0] left out). */
struct command {
	const char *program; /* basename of the resolved file, or of argv[0] */
	const char *alias;   /* other basename it answers to (argv[0]'s, a busybox applet, ident), or NULL */
	const char *called;  /* argv[0]'s basename where it is not the file's, else NULL */
	const char *path;    /* resolved file, or NULL when only named (inside a wrapper) */
	const char *const *args;
	size_t n;
	/* Words that stand before args and are not in the caller's vector; all NULL and 0 at first. */
	const char *first;	/* git-push: "push" */
	const char *const *pre; /* what env -S or a git alias was split into */
	size_t n_pre;
};

/* How many words follow the program, and the i-th of them ("" behind the end). */
size_t command_count(const struct command *c);
const char *command_arg(const struct command *c, size_t i);
/* Is it called that, by either of its names? */
bool command_is(const struct command *c, const char *name);

/*
 * Names c, whose words are there: program is the file's name (or called, where there is no file), called
 * argv[0]'s, ident what the file is by content, or NULL.  *ret_extra: a third name that it answers to, or
 * NULL.
 */
void command_name(struct command *c, const char *program, const char *called, const char *ident,
		  const char **ret_extra);
/* The outermost command of a request that has words. */
struct command command_of(const struct request *req, const char **ret_extra);
/* The words of c from index at on, under no name yet. */
struct command command_tail(const struct command *c, size_t at);

/* It is called as dynamic loaders are. */
bool command_is_loader(const struct command *c);
/*
 * command_unwrap() of c, the depth-th command of its request; of a loader for which loads.h has looked, what
 * that opens.  *ret_extra: as command_name().
 */
bool request_unwrap(const struct request *req, unsigned depth, const struct command *c,
		    struct command *ret_inner, const char **ret_extra);

/*
 * Looks one wrapper deep: env, nice, nohup, timeout, xargs, sudo, doas, setsid, stdbuf, time, ionice,
 * chrt, taskset, command, exec, busybox APPLET, ld.so PROGRAM, git-SUBCOMMAND ...  True with the inner
 * command (args point into outer's); false where outer wraps nothing.
 */
bool command_unwrap(const struct command *outer, struct command *ret_inner);

/* Room for a string that a program splits into words by itself. */
struct split {
	const char *words[32];
	char text[1024];
};

/*
 * The other wrappers, whose inner words are in no vector yet: `env -S STRING` (inner is env again, with
 * the words in place) and `git -c alias.NAME=WORDS NAME`.  1 with the inner command (borrows store and
 * outer's vector), 0 where there is none, -E2BIG where store cannot hold it: nobody can tell then
 * what runs.  One store serves one evaluation.  async-signal-safe.
 */
int command_unwrap_split(const struct command *outer, struct split *store, struct command *ret_inner);

/* argv as one line for people and the ledger: words that need it are single-quoted as a shell would.
 * Untruncated length without NUL; writes at most size-1 bytes and a NUL. */
size_t argv_join(const char *const *argv, size_t argc, char *buf, size_t size);

#endif
