/*
 * Walking the trie of path rules: which rules cover this path, and who wins for each access.
 * eval_path.c turns what a walk found into a decision.  Private to policy/.
 */
#ifndef PALE_TRIE_H
#define PALE_TRIE_H

#include "ballot.h"
#include "eval.h"
#include "policy/image/layout.h"

#define MAX_ACTIVE 64u

/* Columns: the three accesses, and connecting to a socket file. */
#define COL_CONNECT 8u
#define N_COL	    4u

/* What such a rule names is known: it is there for the session, whatever may be done with it. */
#define OPENS_HOME                                                                                           \
	(1u << RULE_FILE_WRITE | 1u << RULE_FILE_READ | 1u << RULE_FILE_READONLY | 1u << RULE_FILE_KEEP |    \
	 1u << RULE_FILE_ASK | 1u << RULE_FILE_ASK_WRITE | 1u << RULE_FILE_SYSTEM | 1u << RULE_FILE_SELF)

/* What the rules on the way have said so far; a memo keeps this for the directory. */
struct tally {
	bool system;	 /* a system rule covers the path */
	uint32_t inside; /* the workspace's own rule, where it covers the path */
	uint32_t git;	 /* a rule of what git obeys, where it names this very path */
	uint32_t place;	 /* a rule of a directory of pale's own, likewise */
	bool one_place;	 /* and it names that one alone */
	/* The rule that closes the home, where it covers the path; the one that opens most of it, wherever it
	 * is; how specific they are. */
	uint32_t home, opener;
	uint64_t home_key, open_key;
	struct ballot col[N_COL];
	uint64_t hard_key[N_COL];
	uint32_t hard[N_COL];
};

struct walk {
	const struct image *img;
	const struct path_node *nodes;
	const struct path_edge *edges;
	const struct path_glob *globs;
	const struct path_ref *refs;
	const char *strings;
	size_t n_nodes, n_edges, n_globs, n_refs, n_strings;
	struct trace *trace;
	enum op op;    /* whose memo is looked for */
	unsigned want; /* columns */
	bool odd;      /* the path has empty components or dots */
	bool broken;   /* the image does not add up, or too many nodes are active */
	struct tally tally;
	/* With a memo: what the nodes above the last component know of names there. */
	uint64_t literal, suffix;
	bool unnamed; /* no rule speaks of the last component's name: all such names get one answer */
	unsigned n_next, turn;
	uint32_t active[2][MAX_ACTIVE]; /* by turns the nodes stood on and those reached from them */
};

/* Prepares a walk for the columns wanted; every field that is read before it is written is set. */
void walk_open(struct walk *w, const struct image *img, enum op op, unsigned want, struct trace *t);
/*
 * Walks an absolute, normalised path of len bytes.  Where memo is not NULL and one of its ways holds the
 * path's directory (same image, same columns) only the last component is walked; else the directory is
 * left there for the next.  w->broken where there is no verdict.
 */
void walk_path(struct walk *w, const char *path, size_t len, struct eval_memo *memo);
/* After a walk whose last component is unnamed: leaves the answer in the memo for others like it. */
void memo_answer(struct eval_memo *memo, const struct walk *w, const char *path, size_t len,
		 const struct decision *d);

#endif
