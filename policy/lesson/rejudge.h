/*
 * What a change of the policy would have meant: recorded decisions judged anew, by the one evaluator.
 *
 * A record is less than the request was: a command's file, a path's other spelling, a name's addresses may be
 * missing.  So the old image judges it too, and only where that gives what was recorded does the new one's
 * answer count; what cannot be judged so is counted apart and said.  Allocates; no I/O.
 */
#ifndef PALE_REJUDGE_H
#define PALE_REJUDGE_H

#include "policy/judge/eval.h"
#include "policy/record/record.h"

/* A request made of a record, and what it points to. */
struct deed {
	struct request req;
	char *text; /* the target, unescaped; words and names point into it */
	const char **words;
};

/* 0, -EINVAL (no decision, or one that its record does not tell), -ENOMEM; deed_done() in each case. */
int deed_init(struct deed *d, const struct record *r, const char *workspace);
void deed_done(struct deed *d);

/*
 * What img says of the deed that r tells, in that workspace where the record does not say more.  0, -EINVAL
 * (no decision, or one that its record does not tell whole: cut, masked, a nested run's), -ENOMEM.
 */
int record_judge(const struct image *img, const struct record *r, const char *workspace,
		 struct decision *ret);

#define CHANGE_NAMES 20
#define CHANGE_SEEN  4096 /* different deeds that are looked at; a power of two */

enum change {
	CHANGE_OPENED, /* denied, would now be allowed */
	CHANGE_ASKED,  /* denied, would now be asked */
	CHANGE_CLOSED, /* allowed, would now be denied */
	CHANGE_DOUBT,  /* allowed, would now be asked */
	CHANGES
};

/* Sentence fragments: "past denials would now be allowed". */
const char *change_text(enum change c);

struct changes {
	const struct image *before, *after;
	const char *workspace; /* where commands of records ran, as far as is known */
	uint64_t judged;       /* different deeds */
	uint64_t unknown;      /* of them, those that a record does not say enough of */
	uint64_t beyond;       /* records that were not looked at any more: too many different ones */
	uint64_t n[CHANGES];
	char *name[CHANGES][CHANGE_NAMES]; /* "write /etc/hosts", escaped as in the record; owned */
	uint64_t seen[CHANGE_SEEN];
};

/* Pointers are borrowed until changes_done(). */
void changes_init(struct changes *c, const struct image *before, const struct image *after,
		  const char *workspace);
/* Judges one record anew; what is no decision, or was seen before, is passed over.  0 or -ENOMEM. */
int changes_add(struct changes *c, const struct record *r);
/* Nothing is different. */
bool changes_none(const struct changes *c);
void changes_done(struct changes *c);

#endif
