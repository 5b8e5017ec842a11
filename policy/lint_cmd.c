/*
 * Allowed commands that can do anything: interpreters, and programs with an option that runs
 * another program or writes a file of choice.  Whether the policy lets the option through is asked
 * of the evaluator, so a `deny = find -exec` beside `allow = find` silences the finding.
 */
#include "lint_impl.h"
#include "path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum escape_kind {
	ESCAPE_CODE,   /* runs code of the caller's choice within itself */
	ESCAPE_OPTION, /* an option or word makes it run something else */
	ESCAPE_GLOBAL, /* as above, but the option stands in front of the subcommand */
};

static const struct escape {
	const char *program; /* glob */
	enum escape_kind kind;
	const char *args[3];
} escapes[] = {
	{ "python*", ESCAPE_CODE, { "-c", "x" } },
	{ "pypy*", ESCAPE_CODE, { "-c", "x" } },
	{ "perl*", ESCAPE_CODE, { "-e", "x" } },
	{ "ruby*", ESCAPE_CODE, { "-e", "x" } },
	{ "php*", ESCAPE_CODE, { "-r", "x" } },
	{ "lua*", ESCAPE_CODE, { "-e", "x" } },
	{ "node", ESCAPE_CODE, { "-e", "x" } },
	{ "nodejs", ESCAPE_CODE, { "-e", "x" } },
	{ "deno", ESCAPE_CODE, { "eval", "x" } },
	{ "bun", ESCAPE_CODE, { "-e", "x" } },
	{ "awk", ESCAPE_CODE, { "x" } },
	{ "[gmn]awk", ESCAPE_CODE, { "x" } },
	{ "gdb", ESCAPE_CODE, { "-ex", "x" } },
	{ "vi", ESCAPE_CODE, { "-c", "!x" } },
	{ "vim", ESCAPE_CODE, { "-c", "!x" } },
	{ "nvim", ESCAPE_CODE, { "-c", "!x" } },
	{ "ex", ESCAPE_CODE, { "-c", "!x" } },
	{ "emacs", ESCAPE_CODE, { "--eval", "x" } },
	{ "less", ESCAPE_CODE, { "x" } },
	{ "more", ESCAPE_CODE, { "x" } },
	{ "man", ESCAPE_OPTION, { "-P", "x", "x" } },
	{ "ed", ESCAPE_CODE, { "x" } },
	{ "sqlite3", ESCAPE_CODE, { "x" } },
	{ "sed", ESCAPE_CODE, { "e" } },
	{ "make", ESCAPE_OPTION, { "--eval=x" } },
	{ "find", ESCAPE_OPTION, { "-exec", "x" } },
	{ "find", ESCAPE_OPTION, { "-delete" } },
	{ "tar", ESCAPE_OPTION, { "--to-command=x" } },
	{ "tar", ESCAPE_OPTION, { "--checkpoint-action=exec=x" } },
	{ "git", ESCAPE_GLOBAL, { "-c", "core.pager=x" } },
	{ "rg", ESCAPE_OPTION, { "--pre=x" } },
	{ "sort", ESCAPE_OPTION, { "--compress-program=x" } },
	{ "env", ESCAPE_OPTION, { "x" } },
	{ "xargs", ESCAPE_OPTION, { "x" } },
	{ "ssh", ESCAPE_OPTION, { "-o", "ProxyCommand=x", "x" } },
	{ "scp", ESCAPE_OPTION, { "-S", "x", "x" } },
	{ "rsync", ESCAPE_OPTION, { "-e", "x" } },
	{ "zip", ESCAPE_OPTION, { "-TT", "x" } },
	{ "split", ESCAPE_OPTION, { "--filter=x" } },
	{ "tcpdump", ESCAPE_OPTION, { "-z", "x" } },
	{ "parallel", ESCAPE_OPTION, { "x" } },
	{ "busybox", ESCAPE_OPTION, { "sh" } },
	{ "docker", ESCAPE_OPTION, { "run", "x" } },
	{ "npx", ESCAPE_OPTION, { "x" } },
};

/* Copies one word of the rule into the sample, wildcards filled in; returns what follows it. */
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
			/* A rule that starts with any words is one for any program. */
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

/* Nothing but the program, its options and wildcards: the rule does not say which script. */
static bool says_nothing_more(const struct sample *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!s->wild[i] && s->words[i][0] != '-')
			return false;
	return true;
}

static void insert_args(struct sample *s, const struct escape *e)
{
	size_t n = 0, at = e->kind == ESCAPE_GLOBAL ? 1 : s->n;

	while (n < 3 && e->args[n])
		n++;
	memmove(&s->words[at + n], &s->words[at], (s->n - at) * sizeof(s->words[0]));
	memcpy(&s->words[at], e->args, n * sizeof(s->words[0]));
	s->n += n;
	s->words[s->n] = NULL;
}

/* Whether rule i lets the escape through. */
static bool lets_through(const struct lint *l, size_t i, const struct escape *e, unsigned variant)
{
	char path[LIMIT_LINE];
	struct request req;
	struct decision d;
	struct sample s;

	if (!sample_of(l->p->rules[i].pattern, variant, &s) || s.closed)
		return false;
	if (!glob_match(e->program, strlen(e->program), s.words[0], strlen(s.words[0])))
		return false;
	if (e->kind == ESCAPE_CODE && !says_nothing_more(&s))
		return false;
	insert_args(&s, e);
	sample_request(l, &s, path, sizeof(path), &req);
	d = eval(l->img, &req);
	return d.verdict == VERDICT_ALLOW && d.rule == i;
}

static int report_escape(struct lint *l, const struct rule *r, const struct escape *e, const char *program)
{
	char hint[128];

	if (e->kind == ESCAPE_CODE)
		return lint_add(l, SEVERITY_WARNING, r, "interpreter", "name the script it may run, or ask",
				"`%s` runs whatever code it is given", program);
	(void)snprintf(hint, sizeof(hint), "add `deny = %s %s`, or ask", program, e->args[0]);
	return lint_add(l, SEVERITY_WARNING, r, "escape", hint, "`%s %s` can run or do something else",
			program, e->args[0]);
}

/* An option is told of once, at the first rule that lets it through: one `deny` silences them all. */
static int check_rule(struct lint *l, size_t i, bool *told)
{
	const struct rule *r = &l->p->rules[i];
	struct sample s;

	for (size_t k = 0; k < NELEM(escapes); k++) {
		if (told[k] && escapes[k].kind != ESCAPE_CODE)
			continue;
		for (unsigned v = 0; sample_of(r->pattern, v, &s) && v < s.variants; v++) {
			if (!lets_through(l, i, &escapes[k], v))
				continue;
			if (report_escape(l, r, &escapes[k], s.words[0]) < 0)
				return -ENOMEM;
			told[k] = true;
			break;
		}
	}
	return 0;
}

int lint_escapes(struct lint *l)
{
	bool told[NELEM(escapes)] = { false };

	/* Where unnamed commands run anyway, naming one gives nothing away. */
	if (!l->img || l->p->s.cmd_default == VERDICT_ALLOW)
		return 0;
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];

		if (r->kind == RULE_CMD_ALLOW && lint_own(l, r) && check_rule(l, i, told) < 0)
			return -ENOMEM;
	}
	return 0;
}
