/* What the parts of lint share; no one else includes this. */
#ifndef PALE_LINT_IMPL_H
#define PALE_LINT_IMPL_H

#include "lint.h"
#include "policy/judge/eval.h"

#define LINT_WORDS 32

struct lint {
	const struct policy *p;
	const struct bundle *b;
	const struct image *img; /* may be NULL: what needs the evaluator is left out */
	const struct lint_world *w;
	struct diags *d;
};

/*
 * A command line that a rule matches: its words with wildcards filled in.  wild says which words
 * were wildcards; closed that the rule ends with `$`.
 */
struct sample {
	char text[512];
	const char *words[LINT_WORDS + 4];
	bool wild[LINT_WORDS + 4];
	size_t n;
	unsigned variants; /* how many samples show every alternative at least once */
	bool closed;
};

/* Fills s with variant number `variant` of the rule's words; false where it has none. */
bool sample_of(const char *rule, unsigned variant, struct sample *s);
/* The request that asks whether words[0..n) may run; words[n] must be NULL.  path backs req->path. */
void sample_request(const struct lint *l, const struct sample *s, char *path, size_t size,
		    struct request *req);

/* True for a rule that the reader of the findings can change: not a preset's beneath his own file. */
bool lint_own(const struct lint *l, const struct rule *r);
/* A finding at rule r. 0 or -ENOMEM. */
int lint_add(struct lint *l, enum severity sev, const struct rule *r, const char *code, const char *hint,
	     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The checks: 0 or -ENOMEM. */
int lint_twins(struct lint *l);
int lint_reach(struct lint *l);
int lint_broad(struct lint *l);
int lint_inside(struct lint *l);
int lint_missing(struct lint *l);
int lint_sources(struct lint *l);
int lint_escapes(struct lint *l);
int lint_suffixes(struct lint *l);
int lint_hosts(struct lint *l);

/*
 * A connection that host rule r is about, at the first of its ports or the last; host backs ret->host.  False
 * where one sample proves nothing: a wildcard, a network.
 */
bool lint_host_sample(const struct rule *r, bool last, char host[LIMIT_HOST], struct request *ret);

#endif
