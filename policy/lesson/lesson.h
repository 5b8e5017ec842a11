/*
 * What recorded decisions teach: rules that would allow them, and what another policy would have decided.
 *
 * What a ledger teaches: from records of what was denied, asked or only observed to lines of a policy that
 * would allow it, grouped, each with the deeds that it is for; and what nobody should allow for having seen
 * it, with the reason.
 *
 * Never proposed: what holds secrets or looks as if it did, what a rule denies, what runs later or runs what
 * its arguments say, the home directory, a directory of the root or of the system, any host or everybody's
 * domain.  The caller replays what it takes: a line that is proposed is a guess, the evaluator's answer is
 * not.
 *
 * A value: no I/O.  Allocates; not for the preload.
 */
#ifndef PALE_LESSON_H
#define PALE_LESSON_H

#include "policy/grant/grant.h"
#include "policy/record/record.h"
#include "rejudge.h"

#define LESSON_EVENTS  4096 /* different deeds; a power of two is twice this */
#define LESSON_MAX     256  /* proposals */
#define LESSON_TARGETS 3

/* One deed, with all records of it folded into one; the strings are owned. */
struct lesson_event {
	struct record r; /* op, target, access, verdict and detail alone are set */
	uint64_t count;
	const char *why;       /* why nothing is proposed for it, borrowed, or NULL */
	char root[GRANT_LINE]; /* what it is grouped by */
	bool covered;	       /* the policy allows it by now */
	bool directory;	       /* of files: the target is a directory */
};

/* One group. */
struct lesson {
	const char *section;   /* static */
	char line[GRANT_LINE]; /* "write = ~/build": the narrowest that says all of it */
	size_t *events;	       /* indices; owned */
	size_t n_events;
	uint64_t count; /* records */
	char why[512];	/* why the caller does not take it, or "" */
};

struct lessons {
	const struct image *img; /* the policy as it is */
	const char *workspace;
	struct lesson_event *events;
	size_t n_events;
	uint32_t *slots; /* hash table of indices + 1 */
	uint64_t beyond; /* records that were not looked at any more: too many different ones */
	struct lesson *list;
	size_t n;
};

/* Pointers are borrowed until lessons_done(), which is called in each case.  0 or -ENOMEM. */
int lessons_init(struct lessons *l, const struct image *img, const char *workspace);
/* Takes a record where it tells of something that was denied, asked or observed.  0 or -ENOMEM. */
int lessons_add(struct lessons *l, const struct record *r);
/* Judges and groups what was taken.  0 or -ENOMEM. */
int lessons_group(struct lessons *l);
/* Why nothing is proposed for what img decides so: something says so that no rule may open (static).  NULL
 * where one may, or it is allowed. */
const char *lesson_why_not(const struct image *img, const struct decision *d, enum op op);
void lessons_done(struct lessons *l);

/* lesson_line.c: makes the group's line.  NULL, or why no line says it that grant_check() lets through
 * (static). */
const char *lesson_line(const struct lessons *l, struct lesson *g);
/* The place that a file's deed is grouped by: a directory of the user's, no higher than a project's or a
 * cache's, and none that holds a secret.  False with a static sentence where none may be proposed. */
bool lesson_root(const struct image *img, const char *path, char *buf, size_t size, const char **ret_why);
/* path as people write it: `~`, and wildcards to the letter.  False where it does not fit. */
bool lesson_path_text(const struct image *img, const char *path, char *buf, size_t size);
/* "KEY = VALUE" becomes the group's line, where it fits. */
void lesson_set_line(struct lesson *g, const char *key, const char *value);
/* That place is one program's own among many (~/.cache/tool, ~/.tool), not a part of a tree of the user's. */
bool lesson_root_is_own(const struct image *img, const char *root);

/*
 * lesson_net.c: what a deed of the network is grouped by, NULL, or why nothing is proposed for it; the line
 * of such a group; whether a line is one of `bind =`, which nobody may grant and the operator may write.
 */
const char *lesson_net_root(const struct image *img, const struct request *req, char *buf, size_t size);
void lesson_net_line(const struct lessons *l, struct lesson *g);
bool lesson_is_bind(const char *line);

#endif
