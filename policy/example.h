/*
 * Examples inside a policy: what the rule above decides (`match =`) and what it does not (`not_match =`).
 *
 * They are judged by the evaluator itself, as the policy stands, and by text alone: a path is the one that
 * is written, a program the one of /usr/bin, so that the answer is the same on every machine.
 */
#ifndef PALE_EXAMPLE_H
#define PALE_EXAMPLE_H

#include "eval.h"
#include "parse.h"

#define EXAMPLE_WORDS 64

/* The request that an example stands for, with the memory it borrows. */
struct example_request {
	struct request req;
	char path[LIMIT_PATH], host[LIMIT_HOST], text[LIMIT_LINE];
	const char *words[EXAMPLE_WORDS + 1];
};

/*
 * Reads an example below a rule of that kind: `OPERATION PATH` for files, a command's words for commands and
 * [git], HOST[:PORT] and perhaps its address for hosts, ADDRESS:PORT below `bind`, a socket below `unix`.
 * 0, -EINVAL with a sentence in *ret_why, -ENOMEM.  *ret must not move afterwards.
 */
int example_parse(const struct bundle *b, enum rule_kind kind, const char *text, struct example_request *ret,
		  const char **ret_why);

enum example_result {
	EXAMPLE_HOLDS,
	EXAMPLE_FAILS,
	EXAMPLE_SILENT /* the rule does not speak in these modes, so there is nothing to judge */
};

/* What became of one example.  why is a sentence for people, "" where it holds. */
struct example_verdict {
	enum example_result result;
	struct decision d;
	char why[512];
};

/* Judges one example of p by img, which was compiled from it.  0, -ENOMEM, -EINVAL (cannot be read). */
int example_judge(const struct policy *p, const struct bundle *b, const struct image *img,
		  const struct policy_example *e, struct example_verdict *ret);

/* "holds", "fails", "silent". */
const char *example_result_name(enum example_result r);

#endif
