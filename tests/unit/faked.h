/*
 * A kernel for the files of the preload: every system call that they make goes through a table by number.  A
 * call that has an answer there gets it and is not made; any other is made as it is.  All are kept, so that a
 * suite can say which calls were made, and with the pass or without.
 */
#ifndef UNIT_FAKED_H
#define UNIT_FAKED_H

#include <stdint.h>

#define FAKED_PATH 256

struct faked_call {
	long nr;
	long arg[5];
	uint64_t flags;	       /* of an open */
	uint64_t pass;	       /* the sixth argument, 0 for a plain call */
	char path[FAKED_PATH]; /* the path that the call names, "" where it names none */
	long result;
};

/* Forgets all calls and answers. */
void faked_reset(void);
/* The next `times` calls with this number get this result; 0: all of them do. */
void faked_answer(long nr, long result, unsigned times);
/* How many calls with this number were made since faked_reset(). */
unsigned faked_count(long nr);
/* The n-th of them, counted from 0.  The test fails if there are fewer. */
const struct faked_call *faked_call(long nr, unsigned n);

#endif
