/*
 * The sweep of what sessions leave behind, for who starts it (gc.h is for its parts).
 */
#ifndef PALE_SWEEP_H
#define PALE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/base/tools.h"

/* What the policy says of it (settings.gc, expiry_s, logs); strings are owned. */
struct gc_policy {
	enum gc scope;
	int64_t expiry_s;
	uint64_t log_bytes;
	char *workspace, *logs;
	char *state; /* of the agent, below the workspace; NULL where it stays in the home */
};

/* A copy of what p says about the session of b: 0 or -ENOMEM; ret is zeroed before. */
int gc_policy_take(struct gc_policy *ret, const struct policy *p, const struct bundle *b);
void gc_policy_done(struct gc_policy *g);

#define GC_SUMMARY_MAX 192

/*
 * The sweep of a start: bounded in time, told on standard error where there is something to tell.  What went,
 * for the ledger, in ret; "" where nothing did.
 */
void gc_start(const struct gc_policy *policy, bool quiet, char *ret, size_t size);

/* `pale session gc`. */
struct gc_wish {
	bool dry_run, json;
};

/* Without a limit in time.  Exit code. */
int gc_command(const struct gc_policy *policy, const struct gc_wish *wish);

/* session_gc.c: the subcommand.  Exit code. */
int session_gc(const struct options *o, int argc);

#endif
