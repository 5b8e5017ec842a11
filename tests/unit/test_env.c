/* A .env file: what is read, what is refused and where, and what it becomes under and over other files. */
#include "policy/parse/envfile.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_fixture.h"

Suite *suite_env(void);

static int collect(void *ctx, const struct env_pair *pair)
{
	char *all = ctx;
	size_t n = strlen(all);

	(void)snprintf(all + n, 512 - n, "%s=%s@%u:%u;", pair->key, pair->value, pair->line, pair->value_col);
	return 0;
}

static const struct {
	const char *text, *want;
} good[] = {
	{ "A=b\n", "A=b@1:3;" },
	{ "A=b", "A=b@1:3;" },
	{ "\n# x\n  # y\nA=b\r\nC=d\r\n", "A=b@4:3;C=d@5:3;" },
	{ "export A=b\nexport=c\n", "A=b@1:10;export=c@2:8;" },
	{ " A = b c # d\n", "A=b c@1:6;" },
	{ "A=b#c\nB=\nC= # d\n", "A=b#c@1:3;B=@2:3;C=@3:4;" },
	{ "A='b # c \\n' # d\n", "A=b # c \\n@1:3;" },
	{ "A=\"b\\\"c\\\\d\\$e\"\n", "A=b\"c\\d$e@1:3;" },
	{ "K=\"-----BEGIN\\nX=Y\"\nA=b\n", "K=-----BEGIN\nX=Y@1:3;A=b@2:3;" },
	{ "A=$(rm -rf /)`x`\n", "A=$(rm -rf /)`x`@1:3;" },
	{ "a_1=\xc3\xa4\n", "a_1=\xc3\xa4@1:5;" },
	{ "\xef\xbb\xbf"
	  "A=b\n",
	  "A=b@1:3;" },
	{ "", "" },
};

START_TEST(test_good)
{
	char all[512] = "";

	ck_assert_int_eq(env_read(".env", good[_i].text, strlen(good[_i].text), collect, all, &d), 0);
	ck_assert_str_eq(all, good[_i].want);
}
END_TEST

static const struct {
	const char *text;
	size_t len;
	unsigned line, col;
} bad[] = {
#define TEXT(s) s, sizeof(s) - 1
	{ TEXT("A\n"), 1, 2 },
	{ TEXT("\n=b\n"), 2, 1 },
	{ TEXT("1A=b\n"), 1, 1 },
	{ TEXT("A b=c\n"), 1, 3 },
	{ TEXT("A: b\n"), 1, 2 },
	{ TEXT("A='b\nC=d\n"), 1, 3 },
	{ TEXT("B=1\n  A= \"b\nC=\\"), 2, 6 },
	{ TEXT("K=\"-----BEGIN\n# c\n\nA=b\n"), 1, 3 },
	{ TEXT("A=\"b\\q\"\n"), 1, 6 },
	{ TEXT("A='b'c\n"), 1, 6 },
	{ TEXT("A=b\0c\n"), 1, 4 },
	{ TEXT("export -n A\n"), 1, 8 },
	{ TEXT("A-B=c\n"), 1, 2 },
	{ TEXT("A=\"b\0c\"\n"), 1, 5 },
	{ TEXT("A=b\n\xef\xbb\xbf"
	       "C=d\n"),
	  2, 1 },
};

START_TEST(test_bad)
{
	char all[512] = "";

	ck_assert_int_eq(env_read(".env", bad[_i].text, bad[_i].len, collect, all, &d), -EBADMSG);
	ck_assert_uint_eq(d.n, 1);
	ck_assert_uint_eq(d.list[0].line, bad[_i].line);
	ck_assert_uint_eq(d.list[0].col, bad[_i].col);
}
END_TEST

static void add(enum source_layer layer, const char *path, const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, layer, path, text, strlen(text)), 0);
}

static const struct rule *find(const char *pattern)
{
	for (size_t i = 0; i < p.n_rules; i++)
		if (p.rules[i].kind == RULE_NET_ALLOW && strcmp(p.rules[i].pattern, pattern) == 0)
			return &p.rules[i];
	return NULL;
}

START_TEST(test_domains)
{
	const struct rule *r;

	add(SOURCE_ENV, "/w/.env",
	    "SECRET=x\nWHITE_LIST_DOMAINS=\"a.example, *.b.example  b\xc3\xbc"
	    "cher.example,\"\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	r = find("*.b.example");
	ck_assert_ptr_nonnull(r);
	ck_assert(r->layer == LAYER_USER && r->rank == RANK_USER);
	ck_assert_str_eq(r->file, "/w/.env");
	ck_assert_uint_eq(r->line, 2);
	ck_assert_ptr_nonnull(find("a.example"));
	ck_assert_ptr_nonnull(find("xn--bcher-kva.example"));
	ck_assert_int_eq(p.s.network, NETWORK_MERGE);
}
END_TEST

static const char *const bad_values[] = {
	"SANDBOX_NETWORK_MODE=strictly\n",
	"SANDBOX_NETWORK_MODE=open\n",
	"SANDBOX_NETWORK_MODE=STRICT REPLACE\n",
	"SANDBOX_NETWORK_MODE=STRICTSTRICTSTRICT\n",
	"SANDBOX_NETWORK_MODE=STRICT\nSANDBOX_NETWORK_MODE=MERGE\n",
	"WHITE_LIST_DOMAINS=*\n",
	"WHITE_LIST_DOMAINS=https://a.example\n",
	"WHITE_LIST_DOMAINS=a.example:443\n",
	"WHITE_LIST_DOMAINS=10.0.0.1\n",
	"WHITE_LIST_DOMAINS=[::1]\n",
	"WHITE_LIST_DOMAINS=*.com\n",
	"WHITE_LIST_DOMAINS=*.co.uk\n",
	"WHITE_LIST_DOMAINS=*.\n",
	"WHITE_LIST_DOMAINS=a.*.example\n",
	"WHITE_LIST_DOMAINS=a.example/24\n",
	"SESSION_EXPIRY_HOURS=0\n",
	"SESSION_EXPIRY_HOURS=000\n",
	"SESSION_EXPIRY_HOURS=-1\n",
	"SESSION_EXPIRY_HOURS=1.5\n",
	"SESSION_EXPIRY_HOURS=48h\n",
	"SESSION_EXPIRY_HOURS=100000\n",
};

START_TEST(test_bad_values)
{
	add(SOURCE_ENV, ".env", bad_values[_i]);
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].file, ".env");
	ck_assert_uint_gt(d.list[0].line, 0);
	ck_assert_uint_gt(d.list[0].col, 0);
}
END_TEST

/* Who says what, and which mode comes of it. */
static const struct {
	const char *preset, *env, *project_env, *user;
	enum network want;
	const char *file;
} modes[] = {
	{ "agent", "SANDBOX_NETWORK_MODE=STRICT\n", NULL, NULL, NETWORK_STRICT, "/w/.env" },
	{ "agent", "SANDBOX_NETWORK_MODE=replace\n", NULL, NULL, NETWORK_REPLACE, "/w/.env" },
	{ "agent", "SANDBOX_NETWORK_MODE=Merge\n", NULL, NULL, NETWORK_MERGE, "/w/.env" },
	{ "agent", "SANDBOX_NETWORK_MODE=\n", NULL, NULL, NETWORK_MERGE, "preset" },
	{ "agent", "SANDBOX_NETWORK_MODE=OFF\n", NULL, NULL, NETWORK_OFF, "/w/.env" },
	{ "agent", "SANDBOX_NETWORK_MODE=STRICT\n", NULL, "[network]\nmode = open\n", NETWORK_OPEN,
	  "policy.ini" },
	{ "agent", NULL, "SANDBOX_NETWORK_MODE=STRICT\n", NULL, NETWORK_STRICT, "/ws/.env" },
	{ "agent", NULL, "SANDBOX_NETWORK_MODE=MERGE\n", "[network]\nmode = strict\n", NETWORK_STRICT,
	  "policy.ini" },
	{ "agent", "SANDBOX_NETWORK_MODE=REPLACE\n", "SANDBOX_NETWORK_MODE=MERGE\n", NULL, NETWORK_REPLACE,
	  "/w/.env" },
	{ "ci", "SANDBOX_NETWORK_MODE=MERGE\n", NULL, NULL, NETWORK_MERGE, "/w/.env" },
	/* A preset without a network keeps none. */
	{ "review", "SANDBOX_NETWORK_MODE=MERGE\n", NULL, NULL, NETWORK_OFF, "preset" },
	{ "review", "SANDBOX_NETWORK_MODE=MERGE\n", NULL, "[network]\nmode = merge\n", NETWORK_MERGE,
	  "policy.ini" },
};

START_TEST(test_modes)
{
	b.preset = strdup(modes[_i].preset);
	if (modes[_i].env)
		add(SOURCE_ENV, "/w/.env", modes[_i].env);
	if (modes[_i].project_env)
		add(SOURCE_ENV_PROJECT, "/ws/.env", modes[_i].project_env);
	if (modes[_i].user)
		add(SOURCE_USER, "policy.ini", modes[_i].user);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(p.s.network, modes[_i].want);
	ck_assert_str_eq(p.network_file, modes[_i].file);
}
END_TEST

static const struct {
	const char *text;
	unsigned hours;
} expiries[] = {
	{ "SESSION_EXPIRY_HOURS=2\n", 2 },
	{ "SESSION_EXPIRY_HOURS=\n", 48 },
	{ "SESSION_EXPIRY_HOURS=00012\n", 12 },
	{ "SECRET=x\n", 48 },
};

START_TEST(test_expiry)
{
	add(SOURCE_ENV, "/w/.env", expiries[_i].text);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(p.s.expiry_s, expiries[_i].hours * 3600);
}
END_TEST

static bool is_protected(const char *branch)
{
	for (size_t i = 0; i < p.n_rules; i++)
		if (p.rules[i].kind == RULE_BRANCH && strcmp(p.rules[i].pattern, branch) == 0)
			return true;
	return false;
}

/* They come beside the preset's own. */
START_TEST(test_branches)
{
	add(SOURCE_ENV, "/w/.env", "PRIMARY_BRANCH_PATTERNS=\"trunk | release/*||stable,\"\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert(is_protected("main") && is_protected("trunk"));
	ck_assert(is_protected("release/*") && is_protected("stable"));
	ck_assert(!is_protected(""));
}
END_TEST

/* What lies in the workspace opens nothing. */
START_TEST(test_project)
{
	add(SOURCE_ENV_PROJECT, "/ws/.env", "WHITE_LIST_DOMAINS=a.example\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(find("a.example")->layer, LAYER_PROJECT);
}
END_TEST

Suite *suite_env(void)
{
	Suite *s = suite_create("env");
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_good, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(t, test_bad, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_loop_test(t, test_expiry, 0, (int)(sizeof(expiries) / sizeof(expiries[0])));
	tcase_add_test(t, test_branches);
	tcase_add_loop_test(t, test_bad_values, 0, (int)(sizeof(bad_values) / sizeof(bad_values[0])));
	tcase_add_loop_test(t, test_modes, 0, (int)(sizeof(modes) / sizeof(modes[0])));
	tcase_add_test(t, test_domains);
	tcase_add_test(t, test_project);
	suite_add_tcase(s, t);
	return s;
}
