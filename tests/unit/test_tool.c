/* Rules about agents' tools: what a name matches, and which rule wins. */
#include "image_fixture.h"

Suite *suite_tool(void);

#define RULES_MAX 4

/* Keys and patterns, "deny WebFetch"; a key in capitals is one of the preset. */
static const struct {
	const char *rules[RULES_MAX], *tool;
	enum verdict verdict;
} rows[] = {
	{ { "deny WebFetch" }, "WebFetch", VERDICT_DENY },
	{ { "deny WebFetch" }, "webfetch", VERDICT_DENY },
	{ { "deny WebFetch" }, "WebFetcher", VERDICT_ALLOW },
	{ { "deny WebFetch" }, "Web", VERDICT_ALLOW },
	{ { "deny mcp__github__*" }, "mcp__github__push", VERDICT_DENY },
	{ { "deny mcp__github__*" }, "mcp__github__", VERDICT_DENY },
	{ { "deny mcp__github__*" }, "mcp__github", VERDICT_ALLOW },
	{ { "deny mcp__*__delete" }, "mcp__a__b__delete", VERDICT_DENY },
	{ { "deny mcp__*__delete" }, "mcp__a__deleted", VERDICT_ALLOW },
	{ { "deny *a*b" }, "xaab", VERDICT_DENY },
	{ { "deny *" }, "x", VERDICT_DENY },
	{ { "deny [a]" }, "a", VERDICT_ALLOW },
	/* The most specific, then the higher rank, then the strictest. */
	{ { "deny *", "allow Read" }, "Read", VERDICT_ALLOW },
	{ { "deny *", "allow Read" }, "Write", VERDICT_DENY },
	{ { "ask mcp__*", "allow mcp__github__get_*", "deny mcp__github__*" },
	  "mcp__github__get_x",
	  VERDICT_ALLOW },
	{ { "ask mcp__*", "allow mcp__github__get_*", "deny mcp__github__*" },
	  "mcp__github__x",
	  VERDICT_DENY },
	{ { "ask mcp__*", "allow mcp__github__get_*", "deny mcp__github__*" }, "mcp__x", VERDICT_ASK },
	{ { "allow x", "deny x" }, "x", VERDICT_DENY },
	{ { "DENY x", "allow x" }, "x", VERDICT_ALLOW },
	{ { "DENY xy", "allow x*" }, "xy", VERDICT_DENY },
	{ { "ask x", "deny x*" }, "x", VERDICT_ASK },
	/* What is no name of a tool, with a rule that allows all. */
	{ { "allow *" }, "", VERDICT_DENY },
	{ { "allow *" }, "/etc/passwd", VERDICT_DENY },
	{ { "allow *" }, "a b", VERDICT_DENY },
	{ { "allow *" }, "a*", VERDICT_DENY },
	{ { "allow *" }, "a\nb", VERDICT_DENY },
	{ { "allow *" }, "\xc3\xa4", VERDICT_DENY },
};

static void add(struct fixture *f, const char *text)
{
	enum rule_kind kind = (text[0] | 0x20) == 'd' ? RULE_TOOL_DENY
			      : text[1] == 's'	      ? RULE_TOOL_ASK
						      : RULE_TOOL_ALLOW;
	struct rule *r = fixture_rule(f, kind, strchr(text, ' ') + 1);

	r->rank = text[0] < 'a' ? RANK_PRESET : RANK_USER;
}

START_TEST(test_row)
{
	const struct request req = { .op = OP_TOOL, .path = rows[_i].tool };
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < RULES_MAX && rows[_i].rules[i]; i++)
		add(&f, rows[_i].rules[i]);
	fixture_compile(&f);
	ck_assert_msg(eval(&f.img, &req).verdict == rows[_i].verdict, "%s: %s", rows[_i].tool,
		      verdict_name(eval(&f.img, &req).verdict));
	ck_assert(image_has_tools(&f.img));
	fixture_done(&f);
}
END_TEST

/* Across layers the strictest wins, an allow of the project's counts for nothing, and no one is asked. */
START_TEST(test_layers)
{
	const struct request req = { .op = OP_TOOL, .path = "x" };
	struct fixture f;

	fixture_init(&f);
	fixture_compile(&f);
	ck_assert(!image_has_tools(&f.img));
	ck_assert_int_eq(eval(&f.img, &req).reason, REASON_TOOL);
	fixture_done(&f);
	fixture_init(&f);
	fixture_rule(&f, RULE_TOOL_ASK, "x*")->layer = LAYER_FLOOR;
	fixture_rule(&f, RULE_TOOL_ALLOW, "x")->layer = LAYER_PROJECT;
	fixture_rule(&f, RULE_TOOL_ALLOW, "x");
	f.p.s.approvals = APPROVALS_NEVER;
	fixture_compile(&f);
	ck_assert_int_eq(eval(&f.img, &req).verdict, VERDICT_DENY);
	ck_assert_int_eq(eval(&f.img, &req).reason, REASON_NEVER);
	fixture_done(&f);
}
END_TEST

/* The image of a nested run has the rules of the one around it too. */
START_TEST(test_nested)
{
	const struct request req = { .op = OP_TOOL, .path = "x" };
	struct fixture f, inner;

	fixture_init(&f);
	fixture_rule(&f, RULE_TOOL_DENY, "x");
	fixture_compile(&f);
	fixture_init(&inner);
	ck_assert_int_eq(fixture_try(&inner, &f.img), 0);
	ck_assert(image_has_tools(&inner.img));
	ck_assert_int_eq(eval(&inner.img, &req).verdict, VERDICT_DENY);
	fixture_done(&inner);
	fixture_done(&f);
}
END_TEST

Suite *suite_tool(void)
{
	Suite *s = suite_create("tool");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t, test_row, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(t, test_layers);
	tcase_add_test(t, test_nested);
	suite_add_tcase(s, t);
	return s;
}
