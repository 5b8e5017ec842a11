/*
 * Walks the trie of path rules: which rules cover a path, and which one wins for each access.  eval_path.c
 * turns what a walk found into a decision.  Private to policy/.
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

/*
 * The kinds of rules that open a closed home: what they name exists for the session, whatever it may do
 * with it.
 */
#define OPENS_HOME                                                                                           \
	(1u << RULE_FILE_WRITE | 1u << RULE_FILE_READ | 1u << RULE_FILE_READONLY | 1u << RULE_FILE_KEEP |    \
	 1u << RULE_FILE_ASK | 1u << RULE_FILE_ASK_WRITE | 1u << RULE_FILE_SYSTEM | 1u << RULE_FILE_SELF)

/* The result of the rules so far; a memo keeps it for the directory. */
struct tally {
	bool system;	 /* a system rule covers the path */
	uint32_t inside; /* the workspace's own rule, where it covers the path */
	uint32_t git;	 /* a rule for files that git obeys, where it names this very path */
	uint32_t place;	 /* a rule for a directory of pale's own, where it names this very path */
	bool one_place;	 /* that rule names this one path, not a pattern */
	/*
	 * The rule that closes the home, where it covers the path; the strongest rule that opens the path;
	 * and the keys of both, by which they are compared.
	 */
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
	enum op op;    /* the operation whose memo is used */
	unsigned want; /* columns */
	bool odd;      /* the path has empty components or dots */
	bool broken;   /* the image is inconsistent, or too many nodes are active */
	struct tally tally;
	/* With a memo: the bits of the names in the directory that the active nodes know. */
	uint64_t literal, suffix;
	bool unnamed; /* no rule concerns the last component's name: all such names get one answer */
	unsigned n_next, turn;
	uint32_t active[2][MAX_ACTIVE]; /* in turn the current nodes and those reached from them */
};

/* Prepares a walk for the columns wanted; every field that is read before it is written is set. */
void walk_open(struct walk *w, const struct image *img, enum op op, unsigned want, struct trace *t);
/*
 * Walks an absolute, normalised path of len bytes.  Where memo is not NULL and one of its ways holds the
 * path's directory (same image, same columns), only the last component is walked; otherwise the memo keeps
 * the directory for the next walk.  Sets w->broken where there is no verdict.
 */
void walk_path(struct walk *w, const char *path, size_t len, struct eval_memo *memo);
/* After a walk whose last component is unnamed: stores the answer in the memo, for other unnamed names. */
void memo_answer(struct eval_memo *memo, const struct walk *w, const char *path, size_t len,
		 const struct decision *d);

#endif
