/*
 * Private to floor*.c: grants a tree except for some places in it.
 *
 * Landlock can only grant, and a grant covers everything below its path.  So where something below a
 * directory is barred, the directory's children are granted one by one instead.
 */
#ifndef PALE_FLOOR_H
#define PALE_FLOOR_H

#include "confine.h"

/* A place that the policy denies, and the grants that neither it nor anything above it may get. */
struct barred {
	char *path;
	unsigned grants;
};

/* What floor_look() found. */
struct look {
	char *path; /* NULL: free */
	int result;
};
#define LOOKS_MAX 512 /* remembered; further places are looked up each time */

/* The names in a directory, each with its NUL, and one more NUL after the last. */
struct listing {
	char *dir;
	char *names;
};
#define LISTINGS_MAX 16 /* remembered */

struct floor_walk {
	struct floor *floor;
	struct barred *list;
	size_t n;
	char path[LIMIT_PATH]; /* the place that the walk has reached */
	struct look looks[LOOKS_MAX];
	struct listing listings[LISTINGS_MAX];
};

/* Adds a rule; path is copied.  0 or -ENOMEM. */
int floor_add(struct floor *f, const char *path, unsigned grants);
/* Adds a gap; path is copied.  0 or -ENOMEM. */
int floor_add_gap(struct floor *f, const char *path);
/* Sorts the rules, and joins those for the same path. */
void floor_sort(struct floor *f);

/* 0 or -ENOMEM. */
int walk_bar(struct floor_walk *w, const char *path, unsigned grants);
/* Must be called after the last walk_bar() and before the first walk_grant(). */
void walk_ready(struct floor_walk *w);
/* The grants that are barred on path or on a place above it. */
unsigned walk_barred(const struct floor_walk *w, const char *path);
/*
 * Grants path, which must lead through no symbolic link, and everything below it except what is barred.  A
 * place inside a barred one may still be granted by a call of its own.  0 or -ENOMEM; a directory that
 * cannot be listed is not granted.
 */
int walk_grant(struct floor_walk *w, const char *path, unsigned grants);
void walk_done(struct floor_walk *w);

/* --- floor_reads.c: what the policy denies to read ---------- */

/* Bars what the patterns of one directory (`~/.*_history`) deny in it, and notes missing places as gaps.
 * Must be called before walk_ready().  0 or -ENOMEM. */
int reads_bar(const struct image *img, struct floor_walk *w);
/* Must be called after the walk: drops the gaps in which nothing would be granted, and finds out whether
 * the floor holds all reads. */
void reads_settle(const struct image *img, struct floor *f);
/* What a rule's pattern means: one path; some names in one directory; anything else. */
enum names { NAMES_ONE, NAMES_SOME, NAMES_ANY };
/* Writes the pattern to path, unquoted; for NAMES_SOME the last component stays a pattern. */
enum names floor_names(const struct image *img, const struct image_rule *rule, char path[LIMIT_PATH]);

/* --- floor_look.c --- */

/* Whether something exists at path, through no symbolic link: 0; -ELOOP, -ENOENT, -errno.  The first result
 * is kept. */
int floor_look(struct floor_walk *w, const char *path);
/* The names in dir at the first call; borrowed until looks_done().  NULL where dir cannot be listed, or no
 * further list can be remembered. */
const char *floor_list(struct floor_walk *w, const char *dir);
void looks_done(struct floor_walk *w);

#endif
