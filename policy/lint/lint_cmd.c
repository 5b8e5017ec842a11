/*
 * Allowed commands that can do anything: programs that run what their arguments say, and words that make a
 * program run another one.  The evaluator decides whether the policy allows the command.
 */
#include "lint_impl.h"
#include "policy/command/cmd.h"
#include "policy/grant/grant_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A character that the class at *p matches (for `[!a-z]` one that few classes list).  Moves *p to the end
 * of the class. */
static char of_class(const char **p)
{
	char c = (*p)[1] == '!' ? '.' : (*p)[1];

	*p = strchr(*p, ']');
	return c;
}

/* Copies one word of the rule into the sample and fills its wildcards in.  Returns the end of the word. */
static const char *take_word(struct sample *s, size_t *used, const char *p, unsigned variant)
{
	char quote = *p == '"' || *p == '\'' ? *p : '\0';
	bool group = *p == '(';
	unsigned alts = 1, pick;
	const char *end = quote ? strchr(p + 1, quote) : group ? strchr(p, ')') : p + strcspn(p, " ");
	char *out = s->text + *used;
	size_t n = 0;

	if (!end)
		end = p + strlen(p);
	if (quote || group)
		p++;
	for (const char *q = p; group && q < end; q++)
		alts += *q == '|';
	s->variants = alts > s->variants ? alts : s->variants;
	for (pick = variant % alts; pick > 0; pick--)
		p = strchr(p, '|') + 1;
	for (; p < end && !(group && *p == '|') && *used + n + 3 < sizeof(s->text); p++)
		if (!quote && *p == '[' && memchr(p, ']', (size_t)(end - p)))
			out[n++] = of_class(&p);
		else
			out[n++] = !quote && *p == '*' ? 'x' : *p;
	if (!quote && n > 0 && out[n - 1] == '=')
		out[n++] = 'x';
	out[n] = '\0';
	*used += n + 1;
	s->words[s->n] = out;
	end += *end && (quote || group) ? 1 : 0;
	return end;
}

bool sample_of(const char *rule, unsigned variant, struct sample *s)
{
	const char *p = rule;
	size_t used = 0;

	memset(s, 0, sizeof(*s));
	s->variants = 1;
	while (*p && s->n < LINT_WORDS) {
		size_t n = strcspn(p, " ");

		if (n == 0 || (n == 3 && strncmp(p, "...", 3) == 0)) {
			/* A rule that begins with `...` is for any program. */
			p += n ? n : 1;
			if (n == 0 || s->n > 0)
				continue;
			s->words[s->n] = "x";
			s->wild[s->n++] = true;
			continue;
		}
		if (n == 1 && *p == '$') {
			s->closed = true;
			break;
		}
		s->wild[s->n] = n == 1 && *p == '*';
		if (strncmp(p, "<relative>", 10) == 0) {
			s->words[s->n++] = "file";
			p += n;
			continue;
		}
		p = take_word(s, &used, p, variant);
		s->n++;
	}
	return s->n > 0 && s->words[0][0] != '\0';
}

void sample_request(const struct lint *l, const struct sample *s, char *path, size_t size,
		    struct request *req)
{
	(void)snprintf(path, size, "%s%s", s->words[0][0] == '/' ? "" : "/usr/bin/", s->words[0]);
	*req = (struct request){ .op = OP_EXEC,
				 .path = path,
				 .argv = s->words,
				 .argc = s->n,
				 .cwd = l->b->workspace,
				 .git_branch = "topic" };
}

/* True if the rule has only the program, options and wildcards, so that it does not name a script. */
static bool says_nothing_more(const struct sample *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!s->wild[i] && s->words[i][0] != '-')
			return false;
	return true;
}

/* True if rule i allows this sample of its words, with one word more if the rule has no `$`. */
static bool lets_through(const struct lint *l, size_t i, struct sample *s)
{
	char path[LIMIT_LINE];
	struct request req;
	struct decision d;

	if (!s->closed) {
		s->words[s->n++] = "x";
		s->words[s->n] = NULL;
	}
	sample_request(l, s, path, sizeof(path), &req);
	d = eval(l->img, &req);
	return d.verdict == VERDICT_ALLOW && d.rule == i;
}

/* 1 if a finding was added, 0, or -ENOMEM. */
static int check_sample(struct lint *l, size_t i, struct sample *s)
{
	const struct rule *r = &l->p->rules[i];
	const char *program = path_basename(s->words[0]);
	const struct command c = { .program = program, .args = s->words + 1, .n = s->n - 1 };
	bool interprets = name_is_runner(program) && says_nothing_more(s) && !s->closed;
	struct command inner;
	int e;

	if (!interprets && (name_is_runner(program) || command_unwrap(&c, &inner) || !command_is_runner(&c)))
		return 0;
	if (!lets_through(l, i, s))
		return 0;
	if (interprets)
		e = lint_add(l, SEVERITY_WARNING, r, "interpreter", "name the script it may run, or ask",
			     "`%s` runs what its arguments say", program);
	else
		e = lint_add(l, SEVERITY_WARNING, r, "escape", "take that word out of the rule, or ask",
			     "with these words `%s` runs another program", program);
	return e < 0 ? e : 1;
}

/* The allowed programs whose options options.def does not have; one note reports all of them. */
struct unknown {
	const struct rule *first;
	char names[160];
	size_t n;
};

static void note_unknown(struct unknown *u, const struct rule *r, const struct sample *s)
{
	const char *program = path_basename(s->words[0]);
	size_t used = strlen(u->names);

	if (s->closed || cmd_options_find(program, NULL) ||
	    (s->n > 1 && cmd_options_find(program, s->words[1])) ||
	    word_in_list(u->names, program, strlen(program)))
		return;
	u->first = u->first ? u->first : r;
	u->n++;
	if (used + strlen(program) + 2 < sizeof(u->names))
		(void)snprintf(u->names + used, sizeof(u->names) - used, "%s%s", used ? " " : "", program);
}

static int check_rule(struct lint *l, size_t i, struct unknown *u)
{
	const struct rule *r = &l->p->rules[i];
	struct sample s;

	for (unsigned v = 0; sample_of(r->pattern, v, &s) && v < s.variants; v++) {
		int e;

		note_unknown(u, r, &s);
		e = check_sample(l, i, &s);
		if (e)
			return e < 0 ? e : 0;
	}
	return 0;
}

int lint_escapes(struct lint *l)
{
	struct unknown u = { 0 };

	/* If commands that no rule names may run, a rule that allows one changes nothing. */
	if (!l->img || l->p->s.cmd_default == VERDICT_ALLOW)
		return 0;
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];

		if (r->kind == RULE_CMD_ALLOW && lint_own(l, r) && check_rule(l, i, &u) < 0)
			return -ENOMEM;
	}
	if (!u.first)
		return 0;
	return lint_add(
		l, SEVERITY_NOTE, u.first, "options", "end a rule with `$` to cover only what it says",
		"pale does not know the options of %zu allowed program%s (%s): their rules allow any option",
		u.n, u.n == 1 ? "" : "s", u.names);
}

/* A program with a slash that begins neither with `/` nor with `~` is a file below the workspace. */
int lint_below(struct lint *l)
{
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];
		size_t n = strcspn(r->pattern, " ");
		bool has_dir = memchr(r->pattern, '/', n);

		if (r->kind < RULE_CMD_ALLOW || r->kind > RULE_CMD_DENYLIST || r->pattern[0] != '*' ||
		    !has_dir || !lint_own(l, r))
			continue;
		if (lint_add(l, SEVERITY_WARNING, r, "program-below",
			     "name the program without a directory to mean it wherever it lies",
			     "`%.*s` names a program below the workspace alone", (int)n, r->pattern) < 0)
			return -ENOMEM;
	}
	return 0;
}
