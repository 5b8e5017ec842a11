/*
 * Private to floor*.c: granting a tree but for some places in it.
 *
 * Landlock only grants, and what it grants holds for all that lies below.  So where something
 * below a directory is barred, its children are granted one by one in its stead.
 */
#ifndef PALE_FLOOR_H
#define PALE_FLOOR_H

#include "confine.h"

/* A place that the policy denies, and what may therefore not be granted on it nor on what is above it. */
struct barred {
	char *path;
	unsigned grants;
};

/* What floor_look() found. */
struct look {
	char *path; /* NULL: free */
	int result;
};
#define LOOKS_MAX 512 /* remembered; what is more is looked at again */

/* The names in a directory, each with its NUL, and one more behind the last. */
struct listing {
	char *dir;
	char *names;
};
#define LISTINGS_MAX 16 /* remembered */

struct floor_walk {
	struct floor *floor;
	struct barred *list;
	size_t n;
	char path[LIMIT_PATH]; /* where it stands */
	struct look looks[LOOKS_MAX];
	struct listing listings[LISTINGS_MAX];
};

/* Adds a rule; path is copied.  0 or -ENOMEM. */
int floor_add(struct floor *f, const char *path, unsigned grants);
/* Adds a gap; path is copied.  0 or -ENOMEM. */
int floor_add_gap(struct floor *f, const char *path);
/* Sorts, and makes one rule of those about one path. */
void floor_sort(struct floor *f);

/* 0 or -ENOMEM. */
int walk_bar(struct floor_walk *w, const char *path, unsigned grants);
/* To be called between the last walk_bar() and the first walk_grant(). */
void walk_ready(struct floor_walk *w);
/* What is barred somewhere at or above path. */
unsigned walk_barred(const struct floor_walk *w, const char *path);
/*
 * Grants path, which leads through no symbolic link, and all below it but for what is barred.  What
 * lies inside a barred place and is granted all the same (a root of its own) is no contradiction.
 * 0 or -ENOMEM; a directory that cannot be listed is granted to nobody.
 */
int walk_grant(struct floor_walk *w, const char *path, unsigned grants);
void walk_done(struct floor_walk *w);

/* --- floor_reads.c: what the policy keeps from being read --- */

/*
 * Bars what the patterns of one directory (`~/.*_history`) deny there, and notes as gaps what is not there:
 * to be called before walk_ready().  0 or -ENOMEM.
 */
int reads_bar(const struct image *img, struct floor_walk *w);
/* Forgets the gaps in which nothing would be granted, and finds out whether the floor holds: afterwards. */
void reads_settle(const struct image *img, struct floor *f);
/* What a rule's pattern means: one path; names in one directory, which is named; anything else. */
enum names { NAMES_ONE, NAMES_SOME, NAMES_ANY };
/* Unquoted into path, for NAMES_SOME but for the last component, which stays the pattern it is. */
enum names floor_names(const struct image *img, const struct image_rule *rule, char path[LIMIT_PATH]);

/* --- floor_look.c --- */

/* Something is at path, through no symbolic link: 0; -ELOOP, -ENOENT, -errno.  As it was at the first look.
 */
int floor_look(struct floor_walk *w, const char *path);
/* The names in dir, as they were when they were first asked for; borrowed until looks_done().  NULL: they
 * cannot be had, or no more of them be remembered. */
const char *floor_list(struct floor_walk *w, const char *dir);
void looks_done(struct floor_walk *w);

#endif
