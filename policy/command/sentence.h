/*
 * The text of a command rule as words.  Only quotes, (a|b) and `$` have a meaning.
 *
 * Private to policy/.  No allocation.
 */
#ifndef PALE_SENTENCE_H
#define PALE_SENTENCE_H

#include "policy/base/op.h"

#define SENTENCE_WORDS 64

/* A word of a rule without its quotes; quoted says that it had some. */
struct word {
	const char *text;
	bool quoted;
};

struct sentence {
	const char *fault; /* what is wrong with it, static, or NULL */
	struct word words[SENTENCE_WORDS];
	size_t n;
	size_t first;		   /* where the first word ends in the text */
	bool closed;		   /* `$` */
	size_t used;		   /* of pool */
	char pool[4 * LIMIT_LINE]; /* texts of the words, then those of the expanded words */
};

/* 0, or -EBADMSG with s->fault. */
int sentence_read(const char *text, struct sentence *s);

/*
 * Calls fn for each choice of the alternatives, until it returns a negative number, which is
 * returned; -EBADMSG with s->fault where the alternatives are malformed or too many.
 */
int sentence_expand(struct sentence *s, int (*fn)(const struct sentence *s, void *ctx), void *ctx);

#endif
