/* The records of a call: its verdict, and how it ended. */
#ifndef PALE_CALL_RECORD_H
#define PALE_CALL_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/judge/eval.h"
#include "policy/wire/ring.h"

struct caller;
struct supervisor;

/* Approvals under which one call was done: each end of a rename may have its own. */
#define APPROVED_MAX 4
struct approved {
	enum op op;
	char id[APPROVED_MAX][40];
	size_t n;
};

/* Records a process that is seen for the first time, to count the processes with and without hooks. */
void verdict_attach(struct caller *c, const char *exe, enum ring_note note);

/*
 * Records an act on req->path that is allowed and begins now: the record is read even where this process is
 * killed before ring_end(), which the caller must call.
 */
void record_act(struct caller *c, const struct request *req, const struct decision *d, struct ring_hold *ret);
void record_decision(struct caller *c, const struct request *req, const char *target,
		     const struct decision *d, const char *approval);
/* A denial, with the reason `why` beside the rule: recorded, and reported to the process under the record's
 * id. */
void record_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		   const char *approval, const char *why);
/* Records a denial that the caller's hooks report (claim.c).  The id of the record, or 0: it was not
 * written. */
uint32_t record_claim(struct caller *c, struct ring_record *rec);

/*
 * The outcome of the call: a record for each approval under which it was done.  result is 0, an errno or
 * RING_HANDED_ON.  Called once, when the call is answered.
 */
void record_outcome(struct caller *c, uint32_t result);
/* The same for a call whose caller is not available any more. */
void record_approved(struct supervisor *s, const struct approved *a, pid_t tgid, uint32_t result);
/* Records which program the caller runs and which process is its parent, where the program has changed since
 * the last time.  To be called before each record of the caller. */
void record_exe(struct caller *c);

#endif
