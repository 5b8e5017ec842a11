/*
 * The agent's standard output and error, written to files beside where they go: [session] logs.
 *
 * What is no terminal goes through a pipe of ours, which a thread empties: into the file that the operator
 * gave, and into the log.  The log is bounded and may fail; what the operator gave is written in each case.
 */
#ifndef PALE_OUTPUTS_H
#define PALE_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/tools.h"

enum output { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_COUNT };

/* --- outputs.c --- */

struct outputs;
/*
 * Logs of session id in dir, each of at most `bytes`.  NULL where nothing is to be logged, or cannot be,
 * after telling why: no command fails for its log.  What goes to a terminal is not logged, and that is told.
 */
struct outputs *outputs_open(const char *dir, const char *id, uint64_t bytes);
/* In the child that becomes the agent: its descriptors 1 and 2.  async-signal-safe; o may be NULL, as below.
 */
void outputs_child(const struct outputs *o);
/* In the parent after the fork: from now on what the agent writes is passed on. */
void outputs_start(struct outputs *o);
/* When the agent and all of its processes are gone: returns when what they wrote is where it belongs; in a
 * hurry, also where a reader stands still.  Tells what was not logged, or not passed on. */
void outputs_close(struct outputs *o, bool hurry);

/* --- outputs_log.c: one log --- */

struct outlog {
	int fd;	       /* -1: nothing is logged (any more) */
	uint64_t left; /* bytes until it is full */
	bool full;
	int error; /* why it ended: -errno */
};

/* dir/ID.stdout or dir/ID.stderr, made anew: nobody else's, no link.  0 or -errno. */
int outlog_open(struct outlog *l, int dirfd, const char *id, enum output which, uint64_t bytes);
/* Never fails; what does not fit is left out, and said so in the log. */
void outlog_write(struct outlog *l, const char *buf, size_t len);
void outlog_close(struct outlog *l);
/* A directory for logs, made where it is missing, that nobody but us may write: a descriptor or -errno. */
int outlog_dir(const char *dir);

#endif
