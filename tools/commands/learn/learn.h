/*
 * The parts of `pale learn`: what a ledger teaches (policy/lesson/lesson.h), and the policy that comes of it,
 * replayed.
 */
#ifndef PALE_LEARN_H
#define PALE_LEARN_H

#include "policy/lesson/lesson.h"

#include "tools/base/options.h"
#include "tools/edit/edit.h"
#include "tools/gather/load.h"
#include "tools/ledgers/ledgers.h"

struct learn {
	struct options o;
	char workspace[PATH_MAX], agent[64], from[160]; /* of the ledger; "session 3f.." */
	struct policy_file file;
	struct loaded now; /* the policy as it is */
	struct diags known;
	struct lessons lessons;
	char *text;	   /* the new text of the file */
	uint64_t replayed; /* events that the new text allows */
};

/*
 * learn_text.c: makes l->text from all lessons and replays every event by it.  A lesson is not taken if the
 * text does not allow the lesson's own events, if lint has a finding on it, or if it allows an event that
 * is left out; `why` then says so.  0 or -errno after a message.
 */
int learn_replay(struct learn *l);
/* The number of lessons that are taken. */
size_t learn_taken(const struct learn *l);
/* Prints the lines of the lessons taken, by section. */
void learn_print_lines(FILE *f, const struct learn *l);

/*
 * ledger_walk.c: calls fn with each record of the ledger at path, in order, until it returns a negative
 * number.  Where the chain is broken it stops with -EBADMSG, after a message that says where, and how to
 * read on all the same (o->unverified).  0, or -errno after a message.  Some records may have been passed
 * to fn by then.
 */
int ledger_walk(const struct options *o, const char *path, ledger_fn *fn, void *ctx);
/*
 * Calls fn with the path of each ledger that o (--session, --ledger) and the operands name, or of the
 * newest of this workspace where they name none.  0, or a negative number after a message, or what fn
 * returned.
 */
int ledgers_chosen(const struct options *o, int argc, char **argv, int (*fn)(const char *path, void *ctx),
		   void *ctx);

#endif
