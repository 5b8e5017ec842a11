/*
 * Command rules whose program is a path that leads to another file by symbolic links: /bin/cat where /bin
 * is a link to usr/bin, or /usr/bin/python3 that is a link to python3.11.  The evaluator compares the file
 * that is executed, so the rule is added for that file too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_impl.h"
#include "policy/base/path.h"
#include "policy/command/argv.h"
#include "policy/command/sentence.h"

struct program {
	struct parser *ps;
	const struct rule *proto;
	const char *rest; /* the words after the program */
};

static int add_as(const struct program *p, const char *program)
{
	char quote = strchr(program, '"') ? '\'' : '"', *pattern;
	int err;

	if (asprintf(&pattern, "%c%s%c%s", quote, program, quote, p->rest) < 0)
		return -ENOMEM;
	err = parser_add_plain(p->ps, p->proto, pattern);
	free(pattern);
	return err;
}

/* python3 and python3.11 are the same program; xzcat and xz are not, though both are one file. */
static bool is_same_program(const char *name, const char *real)
{
	size_t n = strlen(name);

	return strncmp(name, real, n) == 0 && real[n + strspn(real + n, "-.0123456789")] == '\0';
}

/* Adds the rule for the real file of one alternative of the first word. */
static int add_real(const struct sentence *s, void *ctx)
{
	const struct program *p = ctx;
	const struct word *w = &s->words[0];
	char path[LIMIT_PATH] UNINITIALIZED;
	const char *real = NULL, *why;
	int err;

	if (!strchr(w->text, '/') || (!w->quoted && !glob_is_literal(w->text, strlen(w->text))) ||
	    pattern_resolve(p->ps->b, w->text, path, sizeof(path), &why) < 0)
		return 0;
	err = parser_find_real(p->ps, path, &real);
	if (err < 0 || !real || strcmp(real, path) == 0)
		return err;
	if (p->proto->kind == RULE_CMD_ALLOW) {
		if (parser_is_unproven(p->ps, path) ||
		    !is_same_program(path_basename(path), path_basename(real)))
			return 0;
	} else if (command_is_multicall(path_basename(real))) {
		real = path_basename(path);
	}
	return add_as(p, real);
}

int parser_add_command(struct parser *ps, const struct rule *proto, const char *pattern)
{
	struct sentence s UNINITIALIZED;
	struct program p = { .ps = ps, .proto = proto };
	int err = parser_add_plain(ps, proto, pattern);

	/* compile_cmd() reports a pattern that cannot be read. */
	if (err < 0 || sentence_read(pattern, &s) < 0)
		return err;
	p.rest = pattern + s.first;
	s.n = 1;
	err = sentence_expand(&s, add_real, &p);
	return err == -ENOMEM ? err : 0;
}
