/*
 * Rules that never decide: twins of a stricter rule, and rules that lose for exactly what they
 * name.  For the second kind the evaluator judges a sample of what the rule matches.
 */
#include "lint_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE (LIMIT_PATH + 16)

/* Rules of one family with the same pattern match the same requests. */
static int family(enum rule_kind kind)
{
	if (kind == RULE_NET_UNIX || kind == RULE_NET_BIND || kind == RULE_NET_UDP || kind == RULE_BRANCH)
		return 10 + (int)kind;
	return rule_section(kind)[0];
}

/* 0 for two rules that match the same and are of equal strength. */
static int compare_families(const struct rule *x, const struct rule *y)
{
	int n = family(x->kind) - family(y->kind);

	if (n == 0)
		n = strcmp(x->pattern, y->pattern);
	if (n == 0)
		n = (int)x->layer - (int)y->layer;
	return n ? n : (int)x->rank - (int)y->rank;
}

static int compare_rules(const void *a, const void *b)
{
	const struct rule *x = *(const struct rule *const *)a, *y = *(const struct rule *const *)b;
	int n = compare_families(x, y);

	return n ? n : (x->line > y->line) - (x->line < y->line);
}

static bool is_hard(enum rule_kind kind)
{
	return kind == RULE_FILE_SENSITIVE || kind == RULE_CMD_DENYLIST || kind == RULE_FILE_SELF ||
	       kind == RULE_FILE_HIDDEN;
}

/* True if both decide the same access differently.  `keep`, `read` and `system` leave accesses
 * undecided. */
static bool contradict(enum rule_kind a, enum rule_kind b)
{
	const unsigned narrow = 1u << RULE_FILE_KEEP | 1u << RULE_FILE_READ | 1u << RULE_FILE_SYSTEM;
	bool all = a == RULE_FILE_DENY || b == RULE_FILE_DENY || a == RULE_FILE_ASK || b == RULE_FILE_ASK;

	if (rule_verdict(a) == rule_verdict(b) || is_hard(a) || is_hard(b))
		return false;
	return family(a) != 'f' || all || ((1u << a | 1u << b) & narrow) == 0;
}

/* "policy.ini:9"; what is built in has no line. */
static const char *place(const struct rule *r, char at[PLACE])
{
	(void)snprintf(at, PLACE, r->line ? "%s:%u" : "%s", r->file, r->line);
	return at;
}

static int report_twins(struct lint *l, const struct rule *x, const struct rule *y)
{
	char at[PLACE];
	enum verdict strict = verdict_strictest(rule_verdict(x->kind), rule_verdict(y->kind));
	const struct rule *loser = rule_verdict(y->kind) == strict ? x : y, *winner = loser == x ? y : x;

	if (x->line == y->line && strcmp(x->file, y->file) == 0)
		return 0;
	if (!lint_own(l, loser))
		return 0;
	if (x->kind == y->kind)
		return lint_add(l, SEVERITY_WARNING, y, "duplicate", "delete it", "%s says the same",
				place(x, at));
	if (!contradict(x->kind, y->kind))
		return 0;
	return lint_add(l, SEVERITY_WARNING, loser, "tied", "delete one of the two",
			"never decides: `%s` at %s is as specific and stricter", rule_key(winner->kind),
			place(winner, at));
}

int lint_twins(struct lint *l)
{
	size_t n = l->p->n_rules;
	const struct rule **sorted;
	int err = 0;

	if (n < 2)
		return 0;
	sorted = calloc(n, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &l->p->rules[i];
	qsort(sorted, n, sizeof(*sorted), compare_rules);
	for (size_t i = 1; i < n && err == 0; i++) {
		const struct rule *x = sorted[i - 1], *y = sorted[i];

		if (compare_families(x, y) == 0)
			err = report_twins(l, x, y);
	}
	free(sorted);
	return err;
}

static const struct {
	enum op op;
	unsigned access;
} asks[RULE_KIND_COUNT] = {
	[RULE_FILE_WRITE] = { OP_WRITE, ACCESS_WRITE },
	[RULE_FILE_READ] = { OP_READ, ACCESS_READ },
	[RULE_FILE_DENY] = { OP_READ, ACCESS_READ },
	[RULE_FILE_READONLY] = { OP_WRITE, ACCESS_WRITE },
	[RULE_FILE_KEEP] = { OP_DELETE, ACCESS_DELETE },
	[RULE_FILE_ASK] = { OP_READ, ACCESS_READ },
	[RULE_FILE_ASK_WRITE] = { OP_WRITE, ACCESS_WRITE },
	[RULE_CMD_ALLOW] = { OP_EXEC, 0 },
	[RULE_CMD_ASK] = { OP_EXEC, 0 },
	[RULE_CMD_DENY] = { OP_EXEC, 0 },
	[RULE_NET_ALLOW] = { OP_CONNECT, 0 },
	[RULE_NET_ASK] = { OP_CONNECT, 0 },
	[RULE_NET_DENY] = { OP_CONNECT, 0 },
	[RULE_NET_UDP] = { OP_CONNECT, 0 },
	[RULE_TOOL_ALLOW] = { OP_TOOL, 0 },
	[RULE_TOOL_ASK] = { OP_TOOL, 0 },
	[RULE_TOOL_DENY] = { OP_TOOL, 0 },
};

/* The rule that decides the sample instead of rule i; NULL if rule i or no rule decides it. */
static const struct rule *winner_over(const struct lint *l, size_t i, const struct request *req)
{
	const struct rule *self = &l->p->rules[i], *other;
	struct trace t = { .n = 0 };
	struct decision d = eval(l->img, req);
	bool twin;

	if (d.reason == REASON_GIT)
		d = eval_trace(l->img, req, &t);
	d.rule = decision_decider(&d, &t);
	if (d.nested || d.rule == RULE_NONE || d.rule == i || d.rule >= l->p->n_rules)
		return NULL;
	other = &l->p->rules[d.rule];
	/* Another spelling of the same line, or a twin, which is reported as a twin. */
	twin = other->layer == self->layer && other->rank == self->rank && !is_hard(other->kind) &&
	       strcmp(other->pattern, self->pattern) == 0;
	if (twin || (other->line == self->line && strcmp(other->file, self->file) == 0))
		return NULL;
	return other;
}

/* Makes a request for the path or the tool that the rule names, as lint_plain() writes it.  False if the rule
 * names more than one path. */
static bool name_sample(const struct lint *l, size_t i, char name[LIMIT_LINE], struct request *ret)
{
	const struct rule *r = &l->p->rules[i];
	bool tool = asks[r->kind].op == OP_TOOL;

	lint_plain(r->pattern, name);
	for (char *s = name; tool && (s = strchr(s, '*'));)
		*s = 'x';
	*ret = (struct request){
		.op = asks[r->kind].op, .access = asks[r->kind].access, .path = name, .cwd = l->b->workspace
	};
	return tool || glob_is_literal(r->pattern, strlen(r->pattern));
}

static const struct rule *name_winner(const struct lint *l, size_t i)
{
	char name[LIMIT_LINE];
	struct request req;

	return name_sample(l, i, name, &req) ? winner_over(l, i, &req) : NULL;
}

/* True if the rule matches exactly its words, without more after them. */
static bool is_closed(const struct rule *r)
{
	size_t n = strlen(r->pattern);

	return n > 2 && strcmp(r->pattern + n - 2, " $") == 0;
}

static const struct rule *sample_winner(const struct lint *l, size_t i, struct sample *s)
{
	const struct rule *winner;
	char path[LIMIT_LINE];
	struct request req;

	sample_request(l, s, path, sizeof(path), &req);
	winner = winner_over(l, i, &req);
	if (!winner || s->closed || (winner->kind != RULE_BRANCH && !is_closed(winner)))
		return winner;
	/* The winner matches only its exact words, so try with one word more. */
	if (is_closed(winner)) {
		s->words[s->n++] = "another";
		req.argc = s->n;
		return winner_over(l, i, &req);
	}
	/* A push without a refspec may go to a protected branch, so try with another branch. */
	s->words[s->n++] = "origin";
	s->words[s->n++] = "topic";
	req.argc = s->n;
	return winner_over(l, i, &req);
}

/* The rule loses only if each of its alternatives loses. */
static const struct rule *command_winner(const struct lint *l, size_t i)
{
	const struct rule *winner = NULL;
	struct sample s;

	for (unsigned v = 0; v == 0 || v < s.variants; v++) {
		if (!sample_of(l->p->rules[i].pattern, v, &s))
			return NULL;
		winner = sample_winner(l, i, &s);
		if (!winner)
			return NULL;
	}
	return winner;
}

/* The rule loses only if it loses at its first and its last port to the same rule. */
static const struct rule *host_winner(const struct lint *l, size_t i)
{
	const struct rule *winner[2] = { NULL, NULL };
	char host[LIMIT_HOST];
	struct request req;

	for (unsigned last = 0; last < 2; last++)
		if (lint_host_sample(&l->p->rules[i], last, host, &req))
			winner[last] = winner_over(l, i, &req);
	return winner[0] == winner[1] ? winner[0] : NULL;
}

static const struct rule *winner_of(const struct lint *l, size_t i)
{
	enum op op = asks[l->p->rules[i].kind].op;

	if (op == OP_EXEC)
		return command_winner(l, i);
	return op == OP_CONNECT ? host_winner(l, i) : name_winner(l, i);
}

/* Judges an example of what rule i names.  False if the rule has no example. */
static bool trace_sample(const struct lint *l, size_t i, struct decision *d, struct trace *t)
{
	const struct rule *r = &l->p->rules[i];
	char path[LIMIT_LINE], host[LIMIT_HOST];
	struct request req;
	struct sample s;
	bool any;

	if (asks[r->kind].op == OP_CONNECT)
		any = lint_host_sample(r, false, host, &req);
	else if (asks[r->kind].op == OP_EXEC)
		any = sample_of(r->pattern, 0, &s);
	else
		any = asks[r->kind].op != OP_NONE && name_sample(l, i, path, &req);
	if (any && asks[r->kind].op == OP_EXEC)
		sample_request(l, &s, path, sizeof(path), &req);
	if (!any)
		return false;
	*d = eval_trace(l->img, &req, t);
	d->rule = decision_decider(d, t);
	return true;
}

bool policy_rule_holds(const struct policy *p, const struct bundle *b, const struct image *img, size_t i,
		       struct trace *trace)
{
	const struct lint l = { .p = p, .b = b, .img = img };
	struct decision d;

	trace->n = 0;
	if (asks[p->rules[i].kind].op != OP_NONE && winner_of(&l, i))
		return false;
	if (trace_sample(&l, i, &d, trace) && d.rule == i)
		return true;
	/* A twin is no finding of its own, but the stricter of the two decides. */
	if (trace->n > 0 && d.rule < p->n_rules && compare_families(&p->rules[i], &p->rules[d.rule]) == 0 &&
	    contradict(p->rules[i].kind, p->rules[d.rule].kind))
		return false;
	trace->n = 0;
	return true;
}

static int report_reach(struct lint *l, const struct rule *r, const struct rule *winner)
{
	bool same = rule_verdict(r->kind) == rule_verdict(winner->kind);
	char at[PLACE];

	if (winner->kind == RULE_CMD_DENYLIST && !same)
		return lint_add(l, SEVERITY_WARNING, r, "denylisted-allow",
				"only --allow-denylisted-commands lifts it",
				"never decides: %s denylists `%s`", place(winner, at), winner->text);
	return lint_add(l, same ? SEVERITY_NOTE : SEVERITY_WARNING, r, "unreachable", NULL,
			"never decides: `%s = %s` at %s does", rule_key(winner->kind), winner->text,
			place(winner, at));
}

int lint_reach(struct lint *l)
{
	if (!l->img)
		return 0;
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i], *winner;

		if (!lint_own(l, r) || asks[r->kind].op == OP_NONE)
			continue;
		winner = winner_of(l, i);
		/* A base exists to be overridden. */
		if (winner && r->rank == RANK_BASE && winner->rank > RANK_BASE && winner->layer == r->layer)
			continue;
		if (winner && report_reach(l, r, winner) < 0)
			return -ENOMEM;
	}
	return 0;
}
