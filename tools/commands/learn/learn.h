/*
 * The parts of `pale learn`: what a ledger teaches (policy/lesson/lesson.h), and the policy that comes of it,
 * replayed.
 */
#ifndef PALE_LEARN_H
#define PALE_LEARN_H

#include "policy/lesson/lesson.h"
#include "tools/edit/edit.h"

struct learn {
	struct options o;
	char workspace[PATH_MAX], agent[64], from[160]; /* of the ledger; "session 3f.." */
	struct policy_file file;
	struct loaded now; /* the policy as it is */
	struct diags known;
	struct lessons lessons;
	char *text;	   /* what the file becomes */
	uint64_t replayed; /* events that are allowed by it */
};

/*
 * learn_text.c: makes l->text of all lessons and replays every event by it: a lesson whose own events it does
 * not allow, that lint complains of, or that lets something happen which is left out, is not taken; `why`
 * says so.  0 or -errno after telling.
 */
int learn_replay(struct learn *l);
/* How many lessons are taken. */
size_t learn_taken(const struct learn *l);
/* Their lines below the heads of their sections. */
void learn_print_lines(FILE *f, const struct learn *l);

/*
 * ledger_walk.c: calls fn with each record of the ledger at path, in order, until it returns a negative
 * number. Where the chain is broken nothing more is told: -EBADMSG, after telling where and what reads on all
 * the same (o->unverified).  0, -errno (told).  Some records may have been passed on by then.
 */
int ledger_walk(const struct options *o, const char *path, ledger_fn *fn, void *ctx);
/*
 * The ledgers that o (--session, --ledger) and the operands name, the newest of this workspace where they
 * name none.  Calls fn for each path.  0 or a negative number after telling; what fn returned.
 */
int ledgers_chosen(const struct options *o, int argc, char **argv, int (*fn)(const char *path, void *ctx),
		   void *ctx);

#endif
