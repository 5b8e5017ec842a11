/*
 * A rule, a protected branch and a command line from the input: compiled and judged, never a crash.
 *
 * Also: the verdict is one of three, the same twice, and the image with a bit turned over is
 * refused or judged, nothing else.  Input: three lines, the third split at tabs.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/command/argv.h"
#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

#define MAX_ARGS 40

static void add_rule(struct policy *p, enum rule_kind kind, const char *pattern)
{
	struct rule *r = policy_add(p);

	REQUIRE(r);
	r->kind = kind;
	r->layer = LAYER_USER;
	r->rank = RANK_USER;
	r->pattern = strdup(pattern);
	r->text = strdup(pattern);
	r->file = strdup("f");
}

/* Cuts *s at the next c; the piece before it. */
static char *cut(char **s, char c)
{
	char *piece = *s, *at = strchr(piece, c);

	if (at)
		*at = '\0';
	*s = at ? at + 1 : piece + strlen(piece);
	return piece;
}

static void judge(const uint8_t *bytes, size_t size, const char *const *argv, size_t argc)
{
	struct request req = { .op = OP_EXEC,
			       .access = ACCESS_READ,
			       .path = "/usr/bin/git",
			       .argv = argv,
			       .argc = argc,
			       .git_branch = "feature" };
	struct decision a, b;
	struct image img;

	if (image_open(&img, bytes, size) < 0)
		return;
	a = eval(&img, &req);
	REQUIRE(a.verdict == VERDICT_ALLOW || a.verdict == VERDICT_ASK || a.verdict == VERDICT_DENY);
	b = eval(&img, &req);
	REQUIRE(a.verdict == b.verdict && a.rule == b.rule);
	(void)command_wants_branch(&req);
	/* by its own name too, where wrappers are looked through */
	req.path = argv[0];
	(void)eval(&img, &req);
	(void)command_wants_branch(&req);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *s = text, *rule = cut(&s, '\n'),
	     *branch = cut(&s, '\n');
	const char *argv[MAX_ARGS + 1];
	struct policy p;
	struct diags d;
	uint8_t *bytes = NULL;
	size_t n = 0, len = 0;
	char line[128];

	policy_init(&p);
	diags_init(&d);
	p.workspace = strdup("/ws");
	p.s.mode = MODE_WORKSPACE_WRITE;
	p.s.cmd_default = VERDICT_ALLOW;
	add_rule(&p, RULE_CMD_DENY, rule);
	add_rule(&p, RULE_BRANCH, branch);
	do {
		argv[n++] = cut(&s, '\t');
	} while (*s && n < MAX_ARGS);
	argv[n] = NULL;
	(void)argv_join(argv, n, line, sizeof(line));
	if (image_compile(&p, NULL, &d, &bytes, &len) == 0) {
		judge(bytes, len, argv, n);
		bytes[size * 31 % len] ^= (uint8_t)(1u << (size % 8));
		judge(bytes, len, argv, n);
	}
	free(bytes);
	policy_done(&p);
	diags_done(&d);
	free(text);
	return 0;
}
