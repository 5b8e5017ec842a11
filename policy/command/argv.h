/*
 * Command lines: their words and options, and the commands that they really run.
 *
 * No function here allocates; all are async-signal-safe.
 */
#ifndef PALE_ARGV_H
#define PALE_ARGV_H

#include "policy/base/op.h"

/* A command as rules see it: the program's names and its arguments (argv[0] left out). */
struct command {
	const char *program; /* basename of the resolved file, or of argv[0] */
	const char *alias;   /* a second name: argv[0]'s, an applet's of busybox, or ident; NULL: none */
	const char *called;  /* argv[0]'s basename where it is not the file's, else NULL */
	const char *path;    /* resolved file, or NULL when only named (inside a wrapper) */
	const char *const *args;
	size_t n;
	/* Words that stand before args and are not in the caller's vector; all NULL and 0 at first. */
	const char *first;	/* "push" where the program is git-push */
	const char *const *pre; /* what env -S or a git alias was split into */
	size_t n_pre;
};

/* The number of words after the program, and word i of them ("" past the end). */
size_t command_count(const struct command *c);
const char *command_arg(const struct command *c, size_t i);
/* True where program or alias is name. */
bool command_is(const struct command *c, const char *name);

/*
 * Sets the names of c, whose words are set already.  program: the basename of the file, or called where no
 * file is known.  called: the basename of argv[0].  ident: what the file is by its content, or NULL.
 * *ret_extra is a third name by which rules match the command, or NULL.  The strings are borrowed.
 */
void command_name(struct command *c, const char *program, const char *called, const char *ident,
		  const char **ret_extra);
/* The outermost command of a request that has words.  It borrows them. */
struct command command_of(const struct request *req, const char **ret_extra);
/* The words of c from index at on, as a command whose names are not set. */
struct command command_tail(const struct command *c, size_t at);

/* True if a file of that name is many programs, and the name that starts it selects one. */
bool command_is_multicall(const char *name);
/* True where one of its names is that of a dynamic loader (ld.so, ld-linux-x86-64.so.2). */
bool command_is_loader(const struct command *c);
/*
 * As command_unwrap() of c, the command at this depth of its request.  Where loads.h has found the program
 * that a loader at depth 0 opens, the inner command is that program.  *ret_extra: as in command_name().
 */
bool request_unwrap(const struct request *req, unsigned depth, const struct command *c,
		    struct command *ret_inner, const char **ret_extra);

/*
 * Unwraps one wrapper: env, nice, nohup, timeout, xargs, sudo, doas, setsid, stdbuf, time, ionice, chrt,
 * taskset, command, exec, busybox APPLET, ld.so PROGRAM, git-SUBCOMMAND ...  True with the inner command,
 * whose args point into outer's; false where outer wraps no command.
 */
bool command_unwrap(const struct command *outer, struct command *ret_inner);

/* Storage for a string that a program itself splits into words. */
struct split {
	const char *words[32];
	char text[1024];
};

/*
 * The wrappers whose inner words are part of one string: `env -S STRING` (inner is env again, with the
 * words in place) and `git -c alias.NAME=WORDS NAME`.  1 with the inner command, which borrows store and
 * outer's vector; 0 where outer is no such wrapper; -E2BIG where store cannot hold the words, so it is
 * unknown what runs.  One store serves one evaluation.  async-signal-safe.
 */
int command_unwrap_split(const struct command *outer, struct split *store, struct command *ret_inner);

/*
 * Writes argv as one line for people and the ledger; a word with characters that a shell interprets is in
 * single quotes.  Writes at most size - 1 bytes and a NUL.  Returns the length of the whole line without
 * the NUL.
 */
size_t argv_join(const char *const *argv, size_t argc, char *buf, size_t size);

#endif
