/*
 * Examples inside a policy: what is one, and when it holds.
 */
#include "policy/example.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/lint.h"
#include "parse_fixture.h"

Suite *suite_example(void);

static int parse(const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "p.ini", text, strlen(text)), 0);
	return policy_parse(&b, &p, &d);
}

/* What becomes of the only example of text. */
static enum example_result judged(const char *text, struct example_verdict *v)
{
	struct image img;
	uint8_t *bytes;
	size_t size;

	ck_assert_msg(parse(text) == 0, "%s%s", text, d.n ? d.list[0].text : "");
	ck_assert_uint_eq(p.n_examples, 1);
	ck_assert_int_eq(image_compile(&p, NULL, &d, &bytes, &size), 0);
	ck_assert_int_eq(image_open(&img, bytes, size, IMAGE_CHECK_ALL), 0);
	ck_assert_int_eq(example_judge(&p, &b, &img, &p.examples[0], v), 0);
	free(bytes);
	return v->result;
}

#define PUSH  "[commands]\ndeny = git push origin (main|master)\n"
#define FILES "[files]\nwrite = ~/out\ndeny = ~/x\n"

static const struct {
	const char *text;
	enum example_result result;
} cases[] = {
	{ PUSH "match = git push origin main\n", EXAMPLE_HOLDS },
	{ PUSH "match = git -C d push --force origin 'main'\n", EXAMPLE_HOLDS },
	{ PUSH "match = env A=b git push origin master\n", EXAMPLE_HOLDS },
	{ PUSH "match = git push origin feature\n", EXAMPLE_FAILS },
	{ PUSH "not_match = git push origin feature\n", EXAMPLE_HOLDS },
	{ PUSH "not_match = git push origin main\n", EXAMPLE_FAILS },
	/* What a more specific rule takes away is not decided here. */
	{ "[commands]\nallow = npm run build\ndeny = npm\nmatch = npm run build\n", EXAMPLE_FAILS },
	{ "[commands]\nallow = npm run build\ndeny = npm\nnot_match = npm run build\n", EXAMPLE_HOLDS },
	{ "[commands]\nallow = npm run build\ndeny = npm\nmatch = npm ci\n", EXAMPLE_HOLDS },
	{ "[commands]\nask = make\nmatch = make all\n", EXAMPLE_HOLDS },
	{ "[session]\napprovals = never\n[commands]\nask = make\nmatch = make all\n", EXAMPLE_HOLDS },
	{ "[session]\nmode = read-only\n[commands]\nread_only = deny\nallow = make\nmatch = make\n",
	  EXAMPLE_SILENT },
	{ FILES "match = read ~/x/y\n", EXAMPLE_HOLDS },
	{ FILES "match = delete ~/x\n", EXAMPLE_HOLDS },
	{ FILES "match = read ~/xy\n", EXAMPLE_FAILS },
	{ FILES "not_match = write ~/out/f\n", EXAMPLE_HOLDS },
	{ "[files]\nreadonly = notes\nmatch = write notes/a b\n", EXAMPLE_HOLDS },
	{ "[files]\nreadonly = notes\nnot_match = read notes/a b\n", EXAMPLE_HOLDS },
	{ "[files]\nkeep = **/*.sqlite\nmatch = delete db/a.sqlite\n", EXAMPLE_HOLDS },
	{ "[files]\nkeep = **/*.sqlite\nnot_match = write db/a.sqlite\n", EXAMPLE_HOLDS },
	{ "[files]\nwrite = ~/.ssh/known_hosts\nmatch = write ~/.ssh/known_hosts\n", EXAMPLE_FAILS },
	{ "[network]\nallow = *.example.org:443\nmatch = a.example.org\n", EXAMPLE_HOLDS },
	{ "[network]\nallow = *.example.org:443\nnot_match = example.org\n", EXAMPLE_HOLDS },
	{ "[network]\nallow = *.example.org:443\nmatch = a.example.org:80\n", EXAMPLE_FAILS },
	{ "[network]\nallow = a.example.org\nnot_match = a.example.org:443 10.0.0.1\n", EXAMPLE_HOLDS },
	{ "[network]\nudp = a.example.org:123\nmatch = a.example.org:123\n", EXAMPLE_HOLDS },
	{ "[network]\nunix = ~/agent.sock\nmatch = ~/agent.sock\n", EXAMPLE_HOLDS },
	{ "[network]\nbind = 8080\nmatch = 0.0.0.0:8080\n", EXAMPLE_HOLDS },
	{ "[network]\nmode = strict\nallow = a.example.org\nmatch = a.example.org\n", EXAMPLE_SILENT },
	{ "[network]\nmode = strict\ndeny = github.com\nmatch = github.com\n", EXAMPLE_HOLDS },
	{ "[network]\nmode = off\nallow = a.example.org\nmatch = a.example.org\n", EXAMPLE_SILENT },
	{ "[git]\nprotect = release/*\nmatch = git push origin release/1\n", EXAMPLE_HOLDS },
	{ "[git]\nprotect = release/*\nnot_match = git push origin topic\n", EXAMPLE_HOLDS },
};

START_TEST(holds_where_the_rule_decides)
{
	struct example_verdict v;
	enum example_result r = judged(cases[_i].text, &v);

	ck_assert_msg(r == cases[_i].result, "%s%s: %s", cases[_i].text, example_result_name(r), v.why);
	ck_assert_int_eq(v.why[0] == '\0', r == EXAMPLE_HOLDS);
}
END_TEST

static const struct {
	const char *text, *code;
	unsigned line;
} bad[] = {
	{ "[files]\nmatch = read x\n", "stray-example", 2 },
	{ "[files]\ndeny = x\n[commands]\nmatch = x\n", "stray-example", 4 },
	{ "[files]\ndeny = x\nmatch = x\n", "bad-example", 3 },
	{ "[files]\ndeny = x\nmatch = connect x\n", "bad-example", 3 },
	{ "[files]\ndeny = x\nmatch = exec x\n", "bad-example", 3 },
	{ "[commands]\ndeny = x\nmatch = x && y\n", "bad-example", 3 },
	{ "[commands]\ndeny = x\nmatch = x 'y\n", "bad-example", 3 },
	{ "[commands]\ndeny = x\nmatch = x $(y)\n", "bad-example", 3 },
	{ "[network]\ndeny = x.org\nmatch = https://x.org\n", "bad-example", 3 },
	{ "[network]\ndeny = x.org\nmatch = x.org:99999\n", "bad-example", 3 },
	{ "[network]\ndeny = x.org\nmatch = x.org 1.2.3\n", "bad-example", 3 },
	{ "[network]\nbind = 80\nmatch = x.org:80\n", "bad-example", 3 },
	/* Another agent's section is read as strictly. */
	{ "[agent \"z\" files]\ndeny = x\nmatch = x\n", "bad-example", 3 },
};

START_TEST(what_is_no_example_refuses_the_file)
{
	ck_assert_int_ne(parse(bad[_i].text), 0);
	ck_assert_msg(d.n_errors == 1 && strcmp(d.list[0].code, bad[_i].code) == 0 &&
			      d.list[0].line == bad[_i].line,
		      "%s%zu errors, first %s in line %u", bad[_i].text, d.n_errors,
		      d.n ? d.list[0].code : "none", d.n ? d.list[0].line : 0);
	ck_assert_uint_eq(p.n_examples, 0);
}
END_TEST

START_TEST(belongs_to_the_agent_that_runs)
{
	ck_assert_int_eq(parse("[agent \"z\" files]\ndeny = x\nmatch = read x\n"), 0);
	ck_assert_uint_eq(p.n_examples, 0);
}
END_TEST

START_TEST(lint_tells_where_it_fails)
{
	const struct lint_world world = { NULL, NULL, NULL, NULL };
	struct image img;
	uint8_t *bytes;
	size_t size, n = 0;

	ck_assert_int_eq(parse("[commands]\ndeny = zap\nmatch = zap\nmatch =  zip\n"), 0);
	ck_assert_int_eq(image_compile(&p, NULL, &d, &bytes, &size), 0);
	ck_assert_int_eq(image_open(&img, bytes, size, IMAGE_CHECK_ALL), 0);
	ck_assert_int_eq(policy_lint(&p, &b, &img, &world, &d), 0);
	free(bytes);
	for (size_t i = 0; i < d.n; i++) {
		if (strcmp(d.list[i].code, "example") != 0)
			continue;
		n++;
		ck_assert_uint_eq(d.list[i].line, 4);
		ck_assert_str_eq(d.list[i].file, "p.ini");
	}
	ck_assert_uint_eq(n, 1);
}
END_TEST

Suite *suite_example(void)
{
	Suite *s = suite_create("example");
	TCase *tc = tcase_create("example");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, holds_where_the_rule_decides, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, what_is_no_example_refuses_the_file, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, belongs_to_the_agent_that_runs);
	tcase_add_test(tc, lint_tells_where_it_fails);
	suite_add_tcase(s, tc);
	return s;
}
