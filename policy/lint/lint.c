/*
 * Findings about a policy that parses: the checks in their order, and those about files.
 *
 * Findings about what the policy allows come from the evaluator, never from a second
 * interpretation of the rules.  Looks at the file system through struct lint_world alone.
 */
#include "lint_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lint_own(const struct lint *l, const struct rule *r)
{
	if (r->line == 0)
		return false;
	return r->rank != RANK_PRESET || r->layer != LAYER_USER || l->b->n_sources == 0;
}

int lint_add(struct lint *l, enum severity sev, const struct rule *r, const char *code, const char *hint,
	     const char *fmt, ...)
{
	char *text;
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (err < 0)
		return -ENOMEM;
	err = diag_add(l->d, sev, code, r->file, r->line, r->col, hint, "%s", text);
	free(text);
	return err;
}

static bool is_file_rule(const struct rule *r)
{
	return strcmp(rule_section(r->kind), "files") == 0;
}

static bool is_literal(const char *pattern)
{
	return glob_is_literal(pattern, strlen(pattern));
}

/* A sensitive root below a writable directory is still refused, but not by the kernel's floor, which cannot
 * exclude a directory from one that it opens. */
int lint_inside(struct lint *l)
{
	const struct policy *p = l->p;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *w = &p->rules[i];
		const struct rule *first = NULL;
		size_t n = 0;

		if (w->kind != RULE_FILE_WRITE || !is_literal(w->pattern) || (w->line > 0 && !lint_own(l, w)))
			continue;
		for (size_t j = 0; j < p->n_rules; j++) {
			const struct rule *s = &p->rules[j];

			if (s->kind != RULE_FILE_SENSITIVE || !path_is_under(s->pattern, w->pattern))
				continue;
			first = first ? first : s;
			n++;
		}
		if (n > 0 &&
		    lint_add(l, SEVERITY_WARNING, w, "sensitive-inside", "choose a narrower directory",
			     "%s contains %zu sensitive root%s (%s): they stay closed, but Landlock does not "
			     "enforce that",
			     w->text, n, n == 1 ? "" : "s", first->text) < 0)
			return -ENOMEM;
	}
	return 0;
}

void lint_plain(const char *pattern, char buf[LIMIT_LINE])
{
	size_t n = 0;

	for (; *pattern && n + 1 < LIMIT_LINE; pattern++) {
		pattern += *pattern == '\\' && pattern[1];
		buf[n++] = *pattern;
	}
	buf[n] = '\0';
}

int lint_missing(struct lint *l)
{
	char path[LIMIT_LINE];

	if (!l->w->exists)
		return 0;
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];

		/* A preset names paths that a machine may lack. */
		if (r->rank == RANK_PRESET || !lint_own(l, r) ||
		    (!is_file_rule(r) && r->kind != RULE_NET_UNIX))
			continue;
		lint_plain(r->pattern, path);
		if (r->pattern[0] != '/' || !is_literal(r->pattern) || l->w->exists(path, l->w->ctx))
			continue;
		if (lint_add(l, SEVERITY_NOTE, r, "missing-path", NULL, "%s does not exist (yet)", path) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Shells have {a,b} for two words; a pattern has not. */
int lint_braces(struct lint *l)
{
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];
		const char *open = strchr(r->pattern, '{'), *comma = open ? strchr(open, ',') : NULL;

		if (!is_file_rule(r) || !lint_own(l, r) || !comma || !strchr(comma, '}') ||
		    (open > r->pattern && open[-1] == '\\'))
			continue;
		if (lint_add(l, SEVERITY_WARNING, r, "braces", "write a line for each",
			     "braces stand for themselves: %s matches only names with them", r->text) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int source_finding(struct lint *l, const char *path, const char *code, const char *hint,
			  const char *text)
{
	return diag_add(l->d, SEVERITY_WARNING, code, path, 0, 0, hint, "%s", text);
}

int lint_sources(struct lint *l)
{
	for (size_t i = 0; i < l->b->n_sources; i++) {
		const struct source *src = &l->b->sources[i];
		const struct request req = {
			.op = OP_WRITE, .access = ACCESS_WRITE, .path = src->path, .cwd = l->b->workspace
		};

		if (src->layer == SOURCE_PRESET || src->layer == SOURCE_ENV_PROJECT || src->path[0] != '/')
			continue;
		if (l->img && eval(l->img, &req).verdict == VERDICT_ALLOW &&
		    source_finding(l, src->path, "policy-writable", "move it out of the writable directories",
				   "this policy may be written from inside the fence") < 0)
			return -ENOMEM;
		if (l->w->writable_by_others && l->w->writable_by_others(src->path, l->w->ctx) &&
		    source_finding(l, src->path, "policy-others", "chmod go-w on the file and its directory",
				   "others than its owner may write this policy or replace it") < 0)
			return -ENOMEM;
	}
	return 0;
}

int policy_lint(const struct policy *p, const struct bundle *b, const struct image *img,
		const struct lint_world *w, struct diags *d)
{
	static int (*const checks[])(struct lint *) = {
		lint_twins,   lint_reach,   lint_broad, lint_inside,   lint_missing, lint_braces,
		lint_sources, lint_escapes, lint_below, lint_suffixes, lint_hosts,
	};
	struct lint l = { .p = p, .b = b, .img = img, .w = w, .d = d };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int err = checks[i](&l);

		if (err < 0)
			return err;
	}
	return 0;
}
