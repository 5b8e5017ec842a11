/*
 * The agent's standard output and error, written to files beside where they go: [session] logs.
 *
 * A stream that is no terminal goes through our pipe, which a thread copies to the operator's file and to
 * the log.  The log is bounded and may fail; the operator's file is written in each case.
 */
#ifndef PALE_OUTPUTS_H
#define PALE_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum output { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_COUNT };

/* --- outputs.c --- */

struct outputs;
/*
 * Opens the logs of session id in dir, each of at most `bytes`.  NULL where nothing is to be logged, or
 * nothing can be, after a message: no command fails for its log.  A stream that goes to a terminal is not
 * logged, which is reported.
 */
struct outputs *outputs_open(const char *dir, const char *id, uint64_t bytes);
/* In the child that becomes the agent: its descriptors 1 and 2.  async-signal-safe; o may be NULL, as below.
 */
void outputs_child(const struct outputs *o);
/* In the parent after the fork: starts to pass on the agent's output. */
void outputs_start(struct outputs *o);
/* When all processes of the agent are gone: returns when their output is written; with hurry, also where a
 * reader is blocked.  Reports what was not logged or not passed on. */
void outputs_close(struct outputs *o, bool hurry);

/* --- outputs_log.c: one log --- */

struct outlog {
	int fd;	       /* -1: nothing is logged (any more) */
	uint64_t left; /* bytes until it is full */
	bool full;
	int error; /* why it ended: -errno */
};

/* Makes dir/ID.stdout or dir/ID.stderr as a new file; no existing file or link is opened.  0 or -errno. */
int outlog_open(struct outlog *l, int dirfd, const char *id, enum output which, uint64_t bytes);
/* Never fails; what does not fit is left out, which the log says. */
void outlog_write(struct outlog *l, const char *buf, size_t len);
void outlog_close(struct outlog *l);
/* Opens a directory for logs, which is made if missing and which no other user may write: a descriptor or
 * -errno. */
int outlog_dir(const char *dir);

#endif
