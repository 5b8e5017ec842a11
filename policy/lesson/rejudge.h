/*
 * The effect of a change of the policy on the past: the evaluator judges recorded decisions again.
 *
 * A record has less than its request had: a command's file, a path's other spelling or a name's addresses
 * may be missing.  So the old image judges it too, and the verdict of the new image counts only if the old
 * one agrees with the record.  The other records are counted as unknown.  Allocates; no I/O.
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

/* 0, -EINVAL (no decision, or its record is not whole), -ENOMEM; then call deed_done() in all cases. */
int deed_init(struct deed *d, const struct record *r, const char *workspace);
void deed_done(struct deed *d);

/*
 * The decision of img on the deed of record r; workspace is its working directory.  0, -EINVAL (no
 * decision, or its record is not whole: cut, masked, or of a nested run), -ENOMEM.
 */
int record_judge(const struct image *img, const struct record *r, const char *workspace,
		 struct decision *ret);

#define CHANGE_NAMES 20
#define CHANGE_SEEN  4096 /* how many different deeds are judged; a power of two */

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
	const char *workspace; /* where the recorded commands ran, as far as is known */
	uint64_t judged;       /* different deeds */
	uint64_t unknown;      /* of them, those that a record does not have enough of */
	uint64_t beyond;       /* records that were ignored because there were too many different ones */
	uint64_t n[CHANGES];
	char *name[CHANGES][CHANGE_NAMES]; /* "write /etc/hosts", escaped as in the record; owned */
	uint64_t seen[CHANGE_SEEN];
};

/* Borrows its pointers until changes_done(). */
void changes_init(struct changes *c, const struct image *before, const struct image *after,
		  const char *workspace);
/* Judges one record again; ignores a record that is not a decision or whose deed was seen before.  0 or
 * -ENOMEM. */
int changes_add(struct changes *c, const struct record *r);
/* True if no verdict changes. */
bool changes_none(const struct changes *c);
void changes_done(struct changes *c);

#endif
