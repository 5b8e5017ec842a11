/* Findings about a policy that parses: rules that never decide, rules that give away too much. */
#ifndef PALE_LINT_H
#define PALE_LINT_H

#include "policy/image/image.h"
#include "policy/parse/parse.h"

/* What lint needs to know about the machine.  Each may be NULL; then its check is left out. */
struct lint_world {
	bool (*exists)(const char *path, void *ctx);
	bool (*writable_by_others)(const char *path,
				   void *ctx); /* group or others may write the file or its directory */
	bool (*public_suffix)(const char *domain, void *ctx);
	void *ctx;
};

/* Adds findings (warnings, notes) to d: 0 or -ENOMEM. */
int policy_lint(const struct policy *p, const struct bundle *b, const struct image *img,
		const struct lint_world *w, struct diags *d);

struct trace;
/*
 * Returns false if another rule decides everything that rule i of p names.  Otherwise fills trace with the
 * rules that match an example of it, itself first; trace is empty if the rule has no example, or if another
 * layer is stricter.  img is the compiled p.
 */
bool policy_rule_holds(const struct policy *p, const struct bundle *b, const struct image *img, size_t i,
		       struct trace *trace);

#endif
