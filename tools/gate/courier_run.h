/* A program that runs to its end, with a deadline, and what it says. */
#ifndef PALE_COURIER_RUN_H
#define PALE_COURIER_RUN_H

#include <stddef.h>

struct run {
	const char *const *argv; /* argv[0] is the path */
	const char *const *env;
	size_t out_max;	  /* bytes of standard output; beyond them it is ended */
	unsigned seconds; /* then it is ended */
	char *out, *err;  /* what it said, ended by a NUL; of err the last part */
	size_t out_len;
	int status; /* the exit status; -1: it was ended by a signal, for time or for what it printed */
};

/* Runs in / with no standard input and no terminal.  0 or -errno where it could not start; then run_done().
 */
int run_program(struct run *r);
void run_done(struct run *r);

#endif
