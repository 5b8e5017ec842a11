/*
 * The parts of `pale learn`: what a ledger teaches (policy/lesson.h), what is taken of it, and the policy
 * that comes of that, replayed.
 */
#ifndef PALE_LEARN_H
#define PALE_LEARN_H

#include "edit.h"
#include "policy/lesson.h"

/* What is made of one lesson. */
struct taken {
	bool is_taken;
	size_t at;	       /* which of its lines */
	char line[GRANT_LINE]; /* that line */
	char why[512];	       /* why it cannot be taken, or "" */
	bool answered;	       /* by what was taken for another: it was not asked about */
};

struct learn {
	struct options o;
	char workspace[PATH_MAX], agent[64], from[160]; /* of the ledger; "session 3f.. (2 ledgers)" */
	struct policy_file file;
	struct loaded now; /* the policy as it is */
	struct diags known;
	struct lessons lessons;
	struct taken *taken; /* one a lesson */
	char *text;	     /* what the file becomes */
	uint64_t replayed;   /* events that are allowed now */
	char **reasons;	     /* that are pointed to by events; owned */
	size_t n_reasons;
};

/*
 * learn_text.c: makes l->text of what is taken and replays every event by it: a lesson whose own events it
 * does not allow, that lint complains of, or that lets something happen which is left out, is taken back,
 * with the reason in `why`.  0 or -errno after telling.
 */
int learn_replay(struct learn *l);
#define LEARN_ALL SIZE_MAX
/* The file with all that is taken, or with that one lesson only (caller frees).  0 or -ENOMEM. */
int learn_build(const struct learn *l, size_t only, char **ret);
/* The policy with all that is taken so far.  0 or -errno; loaded_done() in each case. */
int learn_load(const struct learn *l, struct loaded *ret);
/* All that lesson i is for is allowed by that policy. */
bool learn_is_answered(const struct learn *l, const struct loaded *after, size_t i);
/* It is not taken, for that reason. */
void learn_take_back(struct taken *t, const char *why);
/* How many lessons are taken. */
size_t learn_taken(const struct learn *l);
/* The lines that are taken, with their sections. */
void learn_print_new(FILE *f, const struct learn *l);

/*
 * learn_lint.c: takes the lines that `pale lint` would complain of out of the lessons, and lessons that have
 * none left out of the list; all that are left are not taken yet.  0 or -ENOMEM.
 */
int learn_propose(struct learn *l);
/* Takes back the lines of text that lint says something of (d).  Whether there was one. */
bool learn_check_lint(struct learn *l, const char *text, const struct diags *d);

/* learn_review.c: asks about each.  1 to save, 0 to leave all as it is. */
int learn_review(struct learn *l);
/* "12 things (38 times)", with a few of them below. */
void learn_print_lesson(FILE *f, const struct learn *l, size_t i);

/*
 * ledger_walk.c: calls fn with each record of the ledger at path, in order, until it returns a negative
 * number. Where the chain is broken nothing more is told: -EBADMSG, after telling where and what reads on all
 * the same (o->unverified).  0, -errno (told).  Some records may have been passed on by then.
 */
typedef int ledger_fn(const struct record *r, void *ctx);
int ledger_walk(const struct options *o, const char *path, ledger_fn *fn, void *ctx);
/*
 * The ledgers that o (--session, --ledger) and the operands name, the newest of this workspace where they
 * name none.  Calls fn for each path.  0 or a negative number after telling; what fn returned.
 */
int ledgers_chosen(const struct options *o, int argc, char **argv, int (*fn)(const char *path, void *ctx),
		   void *ctx);

#endif
