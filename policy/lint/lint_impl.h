/* What the parts of lint share; no other file includes this. */
#ifndef PALE_LINT_IMPL_H
#define PALE_LINT_IMPL_H

#include "lint.h"
#include "policy/judge/eval.h"

#define LINT_WORDS 32

struct lint {
	const struct policy *p;
	const struct bundle *b;
	const struct image *img; /* may be NULL: then the checks that need the evaluator are left out */
	const struct lint_world *w;
	struct diags *d;
};

/*
 * A command line that a rule matches: its words with wildcards filled in.  wild marks the words that
 * were wildcards; closed is true if the rule ends with `$`.
 */
struct sample {
	char text[512];
	const char *words[LINT_WORDS + 4];
	bool wild[LINT_WORDS + 4];
	size_t n;
	unsigned variants; /* how many samples show every alternative at least once */
	bool closed;
};

/* Fills s with variant number `variant` of the rule's words; false if the rule has no words. */
bool sample_of(const char *rule, unsigned variant, struct sample *s);
/* The request that asks whether words[0..n) may run; words[n] must be NULL.  path backs req->path. */
void sample_request(const struct lint *l, const struct sample *s, char *path, size_t size,
		    struct request *req);

/* True for a rule that the operator can change: not a rule of a preset beneath the operator's own file. */
bool lint_own(const struct lint *l, const struct rule *r);
/* Adds a finding at rule r: 0 or -ENOMEM. */
int lint_add(struct lint *l, enum severity sev, const struct rule *r, const char *code, const char *hint,
	     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* What a pattern without wildcards names, in buf: a backslash in it says that the next byte stands for
 * itself. */
void lint_plain(const char *pattern, char buf[LIMIT_LINE]);

/* The checks: 0 or -ENOMEM. */
int lint_twins(struct lint *l);
int lint_reach(struct lint *l);
int lint_broad(struct lint *l);
int lint_inside(struct lint *l);
int lint_missing(struct lint *l);
int lint_braces(struct lint *l);
int lint_sources(struct lint *l);
int lint_escapes(struct lint *l);
int lint_below(struct lint *l);
int lint_suffixes(struct lint *l);
int lint_hosts(struct lint *l);

/*
 * Makes a request that host rule r is about, at the first of its ports or the last; host backs ret->host.
 * False if one sample proves nothing, as for a wildcard or a network.
 */
bool lint_host_sample(const struct rule *r, bool last, char host[LIMIT_HOST], struct request *ret);

#endif
