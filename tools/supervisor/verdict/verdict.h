/* What becomes of a call, alike for all of them: judged, asked about, recorded, and told to the caller. */
#ifndef PALE_VERDICT_H
#define PALE_VERDICT_H

#include <stdbool.h>

#include "policy/base/op.h"
#include "policy/file/resolve.h"
#include "policy/judge/eval.h"
#include "policy/wire/ring.h"

struct caller;
struct verdict_answer;

/* The verdict of the caller's image.  Nothing is asked or recorded. */
struct decision verdict_of(struct caller *c, const struct request *req);
/*
 * Acts on a verdict: asks the helper where needed (and passes the lead on), records it as via=kernel, and
 * prints a denial on the caller's stderr.  True: allowed.
 */
bool verdict_conclude(struct caller *c, const struct request *req, const char *target, struct decision d);
/* As verdict_conclude(), but does not print the operator's answer: it is in *ret, and the caller must print
 * it. */
bool verdict_conclude_told(struct caller *c, const struct request *req, const char *target, struct decision d,
			   struct verdict_answer *ret);
/* verdict_of() and verdict_conclude(). */
bool verdict_judge(struct caller *c, const struct request *req, const char *target);
/* Records that the act is allowed by an earlier answer of the operator. */
void verdict_granted(struct caller *c, const struct request *req, const char *target, struct decision d,
		     const char *approval);
/* Records that the act is allowed in a narrower form than requested, and prints that. */
void verdict_narrowed(struct caller *c, const struct request *req, const char *target, struct decision d);
/* Denies for a reason that is not a rule; recorded and printed. */
void verdict_refuse(struct caller *c, const struct request *req, const char *target, enum reason why);
/* The same; detail adds to the reason's text. */
void verdict_refuse_with(struct caller *c, const struct request *req, const char *target, enum reason why,
			 const char *detail);
/* The same for acts that libraries try by themselves and can do without: recorded once per process, never
 * printed. */
void verdict_refuse_once(struct caller *c, const struct request *req, const char *target, enum reason why);
/* True the first time that the process calls this with the same op and target. */
bool verdict_is_first(struct caller *c, enum op op, const char *target);
/* Sets the note for the next record of this caller. */
void verdict_note(struct caller *c, enum ring_note note);
/*
 * The kernel's own errors, which come before a denial: -ENOENT, -EEXIST, -ENOTEMPTY...; 0 where the policy
 * decides.
 */
int verdict_earlier(const struct decision *d, const struct request *req, const struct resolved *r);

#endif
