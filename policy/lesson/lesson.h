/*
 * What recorded decisions teach: rules that would allow them, and what another policy would have decided.
 *
 * Records of what was denied, asked about or only observed become groups, each with a line of a policy that
 * would allow its deeds.  A deed that should not be allowed only because it occurred gets no line, but a
 * reason.
 *
 * No line is proposed for a path that holds or seems to hold secrets, for a deed that a rule denies, for a
 * file that runs later, for a program that runs what its arguments say, for the home directory, for a
 * directory of the root or of the system, for all hosts, or for a public suffix.  The caller must replay
 * the lines that it takes: a proposed line is a guess, and only the evaluator shows what it does.
 *
 * No I/O.  Allocates; not for the preload.
 */
#ifndef PALE_LESSON_H
#define PALE_LESSON_H

#include "policy/grant/grant.h"
#include "policy/record/record.h"
#include "rejudge.h"

#define LESSON_EVENTS  4096 /* different deeds; a power of two is twice this */
#define LESSON_MAX     256  /* proposals */
#define LESSON_TARGETS 3

/* One deed, for all records of it; owns its strings. */
struct lesson_event {
	struct record r; /* only op, target, access, verdict and detail are set */
	uint64_t count;
	const char *why;       /* why no line is proposed for it, borrowed, or NULL */
	char root[GRANT_LINE]; /* deeds with the same root form a group */
	bool covered;	       /* the policy allows it now */
	bool directory;	       /* of files: the target is a directory */
};

/* One group. */
struct lesson {
	const char *section;   /* static */
	char line[GRANT_LINE]; /* "write = ~/build": the narrowest for all of its deeds */
	size_t *events;	       /* indices; owned */
	size_t n_events;
	uint64_t count; /* records */
	char why[512];	/* why the caller does not use it, or "" */
};

struct lessons {
	const struct image *img; /* the current policy */
	const char *workspace;
	struct lesson_event *events;
	size_t n_events;
	uint32_t *slots; /* hash table of indices + 1 */
	uint64_t beyond; /* records that were ignored because there were too many different ones */
	struct lesson *list;
	size_t n;
};

/* Borrows its pointers until lessons_done(), which the caller must call in both cases.  0 or -ENOMEM. */
int lessons_init(struct lessons *l, const struct image *img, const char *workspace);
/* Adds a record of something that was denied, asked about or observed; ignores others.  0 or -ENOMEM. */
int lessons_add(struct lessons *l, const struct record *r);
/* Judges and groups the records that were added.  0 or -ENOMEM. */
int lessons_group(struct lessons *l);
/* Why no line is proposed for a request with this decision: the reason, which no rule may override, as a
 * static sentence.  NULL if a rule may allow it, or if it is allowed. */
const char *lesson_why_not(const struct image *img, const struct decision *d, enum op op);
void lessons_done(struct lessons *l);

/* lesson_line.c: makes the group's line.  NULL, or why there is no line that grant_check() accepts (a
 * static sentence). */
const char *lesson_line(const struct lessons *l, struct lesson *g);
/* Writes to buf the directory that groups the deeds of a file: one of the user's, not above a project or a
 * program's cache, and without secrets.  False, with a static sentence, if no directory may be proposed. */
bool lesson_root(const struct image *img, const char *path, char *buf, size_t size, const char **ret_why);
/* Writes path to buf as in a policy: `~` for the home, wildcards escaped.  False if it does not fit. */
bool lesson_path_text(const struct image *img, const char *path, char *buf, size_t size);
/* Makes "KEY = VALUE" the group's line, or "" if it does not fit. */
void lesson_set_line(struct lesson *g, const char *key, const char *value);
/* True if root is a program's own directory (~/.cache/tool, ~/.tool), not a part of a tree of the
 * user's. */
bool lesson_root_is_own(const struct image *img, const char *root);

/*
 * lesson_net.c.  lesson_net_root() writes the root of a network deed to buf: NULL, or why no line is
 * proposed for the deed.  The next makes the line of such a group.  lesson_is_bind() is true for a `bind =`
 * line, which cannot be granted, but the operator may write it.
 */
const char *lesson_net_root(const struct image *img, const struct request *req, char *buf, size_t size);
void lesson_net_line(const struct lessons *l, struct lesson *g);
bool lesson_is_bind(const char *line);

#endif
