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

#include "tools.h"

enum output { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_COUNT };

/* --- outputs.c --- */

struct outputs;
struct terminal;
/*
 * Logs of session id in dir, each of at most `bytes`; t: the agent's own terminal.  NULL where nothing is to
 * be logged, or cannot be, after telling why: nobody's command fails for its log.
 */
struct outputs *outputs_open(const char *dir, const char *id, uint64_t bytes, const struct terminal *t);
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
/* ".stdout", ".stderr" */
const char *output_suffix(enum output which);

/* --- outputs_place.c --- */

/* Writes down that the logs of session id are dir/ID.stdout and dir/ID.stderr.  0 or -errno. */
int outputs_note(const char *id, const char *dir);
/* The logs of session id without their ending: 0, -ENOENT, -errno. */
int outputs_find(const char *id, char ret[PATH_MAX]);
/* The logs of session id in dir were made by pale: it was written down. */
bool outputs_is_ours(const char *id, const char *dir);
/* They are gone. */
void outputs_forget(const char *id);
/* The newest session whose id begins with prefix: 0, -ENOENT, -EEXIST (several do; prefix is not empty). */
int outputs_pick(const char *prefix, char ret[SESSION_ID_MAX]);

#endif
