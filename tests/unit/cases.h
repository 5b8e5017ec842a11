/* The cases drawn from other tools' tests, as values; the parts of their suite. */
#ifndef PALE_TEST_CASES_H
#define PALE_TEST_CASES_H

#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

#define CASES_HOME	"/home/u"
#define CASES_WORKSPACE "/home/u/ws"

/* One row; the strings are unescaped and borrowed. */
struct kase {
	unsigned row; /* line of the file, the heading is 1 */
	const char *source, *category, *setup, *action, *expected;
};

/* How the rows of a source and category are run. */
struct plan {
	const char *source, *category; /* globs */
	const char *preset;	       /* name of an embedded preset, or NULL for none */
	const char *base;	       /* policy text that stands before what the setup adds */
	const char *(*run)(const struct image *img, const struct kase *c);
};

/* The plan of a row, or NULL where the row does not fit. */
const struct plan *case_plan(const struct kase *c);

/* Compiles the row's policy.  0 with *img in *ret_bytes (caller frees), or what image_compile() said. */
int case_compile(const struct kase *c, const struct plan *plan, struct image *img, uint8_t **ret_bytes);

/* Runners: "allow", "ask" or "deny". */
const char *run_shell(const struct image *img, const struct kase *c); /* every exec of a shell line */
const char *run_effects(const struct image *img,
			const struct kase *c); /* and what the programs would touch */
const char *run_host(const struct image *img, const struct kase *c);
const char *run_path(const struct image *img, const struct kase *c);
const char *run_valid(const struct image *img, const struct kase *c);

/* What an operand of an action names, absolute: ~, cwd/, relative to base. */
void case_path(const char *base, const char *word, char *buf, size_t size);
enum verdict judge_path(const struct image *img, enum op op, const char *path);
enum verdict judge_url(const struct image *img, const char *url);
const char *verdict_word(enum verdict v);

#endif
