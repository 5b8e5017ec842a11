/*
 * The sweep of what sessions leave behind: the interface for its callers (gc.h is for its parts).
 */
#ifndef PALE_SWEEP_H
#define PALE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/rules/rule.h"

struct bundle;
struct options;

/* The policy's settings for it (settings.gc, expiry_s, logs); strings are owned. */
struct gc_policy {
	enum gc scope;
	int64_t expiry_s;
	uint64_t log_bytes;
	char *workspace, *logs;
	char *state; /* the agent's state, below the workspace or absolute; NULL where it stays in the home */
};

/* Copies the settings of p for the session of b: 0 or -ENOMEM.  The caller must zero ret before. */
int gc_policy_take(struct gc_policy *ret, const struct policy *p, const struct bundle *b);
void gc_policy_done(struct gc_policy *g);

#define GC_SUMMARY_MAX 192

/*
 * The sweep at a start: bounded in time, with a message on standard error where something was found.  ret
 * gets the summary for the ledger; "" where nothing was removed.
 */
void gc_start(const struct gc_policy *policy, bool quiet, char *ret, size_t size);

/* `pale session gc`. */
struct gc_wish {
	bool dry_run, json;
};

/* Runs without a time limit.  Returns an exit code. */
int gc_command(const struct gc_policy *policy, const struct gc_wish *wish);

/* session_gc.c: the subcommand.  Exit code. */
int session_gc(const struct options *o, int argc);

#endif
