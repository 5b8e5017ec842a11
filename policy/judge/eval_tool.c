/*
 * Rules about an agent's own tools against the name of one, `*` standing for any characters.
 *
 * Upper and lower case are the same: what one agent calls WebFetch another calls webfetch.  Specificity: 2
 * for each character that is no `*`, 1 more where there is no `*`.  What no rule names is allowed: what a
 * tool then does is judged by the rules about files, commands and hosts.  The rules are read one after the
 * other, since a session uses few tools in a second.
 */
#include "eval.h"

#include <string.h>

#include "ballot.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Everything before pattern and name matches.  Where the rest does not, the last `*` takes one more
 * character. */
static bool tool_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *from = name;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (lower(*pattern) == lower(*name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static unsigned specificity(const char *pattern)
{
	unsigned spec = 0;
	bool exact = true;

	for (; *pattern; pattern++) {
		exact = exact && *pattern != '*';
		spec += *pattern == '*' ? 0 : 2;
	}
	return spec + exact;
}

/* A name that cannot be taken for a path or a pattern, and that a human can read. */
static bool is_name(const char *name)
{
	size_t n = 0;

	while (name[n] > ' ' && name[n] < 0x7f && name[n] != '*' && n < LIMIT_HOST)
		n++;
	return n > 0 && n < LIMIT_HOST && !name[n] && name[0] != '/';
}

void eval_tool(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	struct ballot b = { 0 };
	const struct image_rule *r;

	if (!req->path || !is_name(req->path))
		return;
	*d = (struct decision){ VERDICT_ALLOW, REASON_TOOL, RULE_NONE, 0 };
	for (uint32_t i = 0; (r = image_rule(img, i)); i++) {
		const char *pattern = image_str(img, r->pattern);
		enum verdict v = rule_verdict((enum rule_kind)r->kind);
		unsigned spec;

		if (!rule_is_tool((enum rule_kind)r->kind) || !tool_matches(pattern, req->path))
			continue;
		spec = specificity(pattern);
		ballot_cast(&b, r->layer, ballot_key(spec, r->rank, verdict_weight(v)), v, i);
		trace_add(t, i, v, spec);
	}
	(void)ballot_result(&b, d);
}

void eval_push(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	(void)t;
	if (req->path)
		*d = (struct decision){ (enum verdict)img->h->push, REASON_PUSH, RULE_NONE, 0 };
}

bool image_has_tools(const struct image *img)
{
	struct image at = *img;

	do {
		const struct image_rule *r;

		for (uint32_t i = 0; (r = image_rule(&at, i)); i++)
			if (rule_is_tool((enum rule_kind)r->kind))
				return true;
	} while (image_outer(&at, &at));
	return false;
}
