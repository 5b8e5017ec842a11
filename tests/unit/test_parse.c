/*
 * The text of a policy: what is refused and where, what it becomes, and how layers meet.
 */
#include "policy/parse/parse.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_fixture.h"

Suite *suite_parse(void);

static void add(enum source_layer layer, const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, layer, "policy.ini", text, strlen(text)), 0);
}

static int parse(enum source_layer layer, const char *text)
{
	add(layer, text);
	return policy_parse(&b, &p, &d);
}

/* What a policy must not say: one line each, the place and the code of the finding. */
static const struct {
	const char *text, *code;
	unsigned line, col;
} bad[] = {
	{ "[files]\nwrite = /a ; b\n", "inline-comment", 2, 12 },
	{ "[files]\nwrite = ;b\n", "inline-comment", 2, 9 },
	{ "[files]\n; b\n", "bad-key", 2, 1 },
	{ ";deny = b\n", "bad-key", 1, 1 },
	{ "[files]\n write = /a\n", "leading-blank", 2, 1 },
	{ "[files]\nwrite = /a\n  /b\n", "leading-blank", 3, 1 },
	{ "[files\nwrite = /a\n", "bad-header", 1, 6 },
	{ "[files] # x\n", "bad-header", 1, 8 },
	{ "[]\n", "bad-header", 1, 2 },
	{ "[agent commands]\n", "bad-header", 1, 2 },
	{ "[agent \"x\" comands]\n", "unknown-section", 1, 2 },
	{ "[a123456789012345678901234567890123456789012345678901234567890]\n", "bad-header", 1, 50 },
	{ "[files]\nwrite /a\n", "missing-equals", 2, 7 },
	{ "[files]\nwrite: /a\n", "missing-equals", 2, 6 },
	{ "[files]\n= /a\n", "bad-key", 2, 1 },
	{ "[files]\nwrite =\n", "empty-value", 2, 8 },
	{ "[files]\nwrite = /a\r\n", "control-byte", 2, 11 },
	{ "[files]\nwrite = /a\x01\n", "control-byte", 2, 11 },
	{ "[files]\nwrite = /a\tb\n", "control-byte", 2, 9 },
	{ "[files]\nwrite = /\xff\n", "bad-utf8", 2, 10 },
	{ "[files]\nwrite = /\xc0\xaf\n", "bad-utf8", 2, 10 },
	{ "[files]\nwrite = /\xed\xa0\x80\n", "bad-utf8", 2, 10 },
	{ "[files]\nwrite = /\xe2\x80\xae\n", "hidden-character", 2, 10 },
	{ "[flies]\nwrite = /a\n", "unknown-section", 1, 2 },
	{ "[files]\nwriet = /a\n", "unknown-key", 2, 1 },
	{ "write = /a\n", "unknown-key", 1, 1 },
	{ "[files]\nsensitive = /a\n", "hard-key", 2, 13 },
	{ "[commands]\ndenylist = x\n", "hard-key", 2, 12 },
	{ "[network]\nextra = x\n", "hard-key", 2, 9 },
	{ "[network]\nallow = *.com\n", "public-suffix", 2, 9 },
	{ "[network]\nask = *.CO.uk:443\n", "public-suffix", 2, 7 },
	{ "[network]\nudp = *.org:5\n", "public-suffix", 2, 7 },
	{ "[network]\nallow = *.\xd1\x80\xd1\x84\n", "public-suffix", 2, 9 },
	{ "[network]\ncore = x\n", "hard-key", 2, 8 },
	{ "[files]\nwrite = ~root/x\n", "bad-path", 2, 9 },
	{ "[files]\nwrite = a*/../../b\n", "bad-path", 2, 9 },
	{ "[files]\ndeny = [a-\n", "bad-pattern", 2, 8 },
	{ "[files]\ndeny = ~/x[a/b]\n", "bad-pattern", 2, 8 },
	{ "[git]\nprotect = release/[0-9\n", "bad-pattern", 2, 11 },
	{ "[files]\npaths = none\n", "bad-value", 2, 9 },
	{ "[files]\npaths = any\npaths = any\n", "duplicate-key", 3, 9 },
	{ "[files]\npaths = any\n[git]\n[files]\npaths = any\n", "duplicate-key", 5, 9 },
	{ "[session]\nmode = danger\n", "danger", 2, 8 },
	{ "[agent \"other\" session]\nmode = danger\n", "danger", 2, 8 },
	{ "[session]\ntimeout = 0s\n", "bad-value", 2, 11 },
	{ "[session]\ntimeout = 120\n", "bad-value", 2, 11 },
	{ "[session]\ntimeout = 25h\n", "bad-value", 2, 11 },
	{ "[session]\ntimeout = 99999999999999999999s\n", "bad-value", 2, 11 },
	{ "[network]\ndefault = allow\n", "bad-value", 2, 11 },
	{ "[network]\nallow = https://x.org\n", "bad-host", 2, 9 },
	{ "[network]\nallow = a b\n", "bad-host", 2, 9 },
	{ "[network]\nallow = xn--\xc3\xa4.org\n", "bad-host", 2, 9 },
	{ "[git]\nprotect = a..b\n", "bad-branch", 2, 11 },
	{ "[git]\nprotect = -f\n", "bad-branch", 2, 11 },
	{ "[git]\nprotect = \"release\"\n", "quoted-value", 2, 11 },
	{ "[files]\ndeny = 'a b'\n", "quoted-value", 2, 8 },
	{ "[network]\ndeny = \"example.org\"\n", "quoted-value", 2, 8 },
	{ "[commands]\nask = \"git fetch\"\n", "quoted-value", 2, 7 },
	{ "[environment]\npass = A=B\n", "bad-value", 2, 8 },
	{ "[environment]\npass = LD_PRELOAD\n", "bad-value", 2, 8 },
	{ "[commands]\nmessage = x\n", "stray-message", 2, 11 },
	{ "[commands]\ndeny = a\n[files]\nmessage = x\n", "stray-message", 4, 11 },
	{ "[commands]\ndeny = a\nmessage = x\nmessage = y\n", "duplicate-key", 4, 11 },
	{ "preset = agnet\n", "unknown-preset", 1, 10 },
	{ "preset = ci\npreset = ci\n", "duplicate-key", 2, 10 },
};

START_TEST(refuses)
{
	ck_assert_int_eq(parse(SOURCE_USER, bad[_i].text), -EBADMSG);
	for (size_t i = 0; i < d.n; i++) {
		if (d.list[i].severity != SEVERITY_ERROR)
			continue;
		ck_assert_str_eq(d.list[i].code, bad[_i].code);
		ck_assert_uint_eq(d.list[i].line, bad[_i].line);
		ck_assert_uint_eq(d.list[i].col, bad[_i].col);
		return;
	}
	ck_abort_msg("no error");
}
END_TEST

START_TEST(long_line)
{
	char text[400] = "[files]\ndeny = /";

	memset(text + strlen(text), 'x', 190 - strlen("deny = /"));
	strcat(text, "\n");
	ck_assert_int_eq(parse(SOURCE_USER, text), 0);
	ck_assert_uint_eq(d.n, 0);
	policy_done(&p);
	text[strlen(text) - 1] = 'x';
	strcat(text, "\ndeny = /b\n");
	ck_assert_int_eq(parse(SOURCE_USER, text), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "line-too-long");
	ck_assert_uint_eq(d.list[0].col, 191);
}
END_TEST

START_TEST(nul_and_no_newline)
{
	bundle_add_source(&b, SOURCE_USER, "f", "[files]\ndeny = /a\0b\n", 20);
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "control-byte");
	teardown();
	setup();
	ck_assert_int_eq(parse(SOURCE_USER, "[files]\ndeny = /a"), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_DENY, "/a"));
}
END_TEST

START_TEST(reports_all_and_keeps_none)
{
	ck_assert_int_eq(
		parse(SOURCE_USER, "[files]\nwriet = /a\nwrite = /good\n[flies]\nx = y\n[git]\nprotect=..\n"),
		-EBADMSG);
	ck_assert_uint_eq(d.n_errors, 3);
	ck_assert_str_eq(d.list[0].hint, "did you mean `write`?");
	ck_assert_str_eq(d.list[1].hint, "did you mean [files]?");
	ck_assert_ptr_null(find_rule(RULE_FILE_WRITE, "/good"));
}
END_TEST

START_TEST(key_of_other_section)
{
	ck_assert_int_eq(parse(SOURCE_USER, "[files]\nprotect = main\n"), -EBADMSG);
	ck_assert_str_eq(d.list[0].hint, "`protect =` stands in [git]");
}
END_TEST

START_TEST(examples_are_no_keys)
{
	ck_assert_int_eq(parse(SOURCE_USER, "[files]\ndeny = /a\nmatch = read /a\nnot_match = read /b\n"),
			 -EBADMSG);
	ck_assert_uint_eq(d.n_errors, 2);
	for (size_t i = 0; i < d.n; i++) {
		ck_assert_str_eq(d.list[i].code, "unknown-key");
		ck_assert_ptr_nonnull(strstr(d.list[i].hint, "pale explain"));
	}
}
END_TEST

/* After a header that does not parse, keys belong to nobody: never to the section before. */
START_TEST(bad_header_takes_its_keys)
{
	ck_assert_int_eq(parse(SOURCE_USER, "[files]\nwrite = /a\n[network\nallow = x\n"), -EBADMSG);
	ck_assert_uint_eq(d.n, 1);
	ck_assert_ptr_null(find_rule(RULE_FILE_WRITE, "/a"));
}
END_TEST

static const struct {
	const char *written, *pattern;
} paths[] = {
	{ "/etc//x/../hosts/", "/etc/hosts" },
	{ "~", "/home/u" },
	{ "~/.ssh", "/home/u/.ssh" },
	{ "~//a/", "/home/u/a" },
	{ ".", "/home/u/ws" },
	{ "./a/./b", "/home/u/ws/a/b" },
	{ "../.env", "/home/u/.env" },
	{ ".git/hooks", "/home/u/ws/.git/hooks" },
	{ "**/*.sqlite", "/home/u/ws/**/*.sqlite" },
	{ "/", "/" },
	{ "a # b", "/home/u/ws/a # b" },
	{ "a;b", "/home/u/ws/a;b" },
	{ "\xc3\xa4", "/home/u/ws/\xc3\xa4" },
};

START_TEST(path_patterns)
{
	char text[256] = "[files]\ndeny = ";

	strcat(text, paths[_i].written);
	ck_assert_int_eq(parse(SOURCE_USER, text), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_DENY, paths[_i].pattern));
	ck_assert_str_eq(find_rule(RULE_FILE_DENY, paths[_i].pattern)->text, paths[_i].written);
}
END_TEST

START_TEST(both_spellings)
{
	bundle_add_real(&b, "/home/u/.ssh", "/data/keys");
	bundle_add_real(&b, "/home/u/ws", "/vol/ws");
	ck_assert_int_eq(parse(SOURCE_USER, "[files]\ndeny = ~/.ssh\nmessage = no\nkeep = **/*.db\n"), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_DENY, "/home/u/.ssh"));
	ck_assert_str_eq(find_rule(RULE_FILE_DENY, "/data/keys")->message, "no");
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_SENSITIVE, "/data/keys"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_KEEP, "/vol/ws/**/*.db"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_WRITE, "/vol/ws"));
}
END_TEST

static int find_keys(void *ctx, struct bundle *grown, const char *prefix)
{
	ck_assert_int_eq(prefix[0], '/');
	++*(int *)ctx;
	return strcmp(prefix, "/home/u/.ssh") == 0 ? bundle_add_real(grown, prefix, "/data/keys") : 0;
}

/* Found on the way or known before: the same policy. */
START_TEST(finds_reals)
{
	static const char text[] = "[files]\ndeny = ~/.ssh\nmessage = no\nkeep = **/*.db\n";
	struct policy known;
	int n = 0;

	bundle_add_source(&b, SOURCE_USER, "p.ini", text, sizeof(text) - 1);
	ck_assert_int_eq(policy_parse_finding(&b, &p, &d, find_keys, &n), 0);
	ck_assert_int_ge(n, 3);
	ck_assert_uint_eq(b.n_reals, 1);
	policy_init(&known);
	ck_assert_int_eq(policy_parse(&b, &known, &d), 0);
	ck_assert_uint_eq(p.n_rules, known.n_rules);
	for (size_t i = 0; i < p.n_rules; i++) {
		ck_assert_int_eq(p.rules[i].kind, known.rules[i].kind);
		ck_assert_str_eq(p.rules[i].pattern, known.rules[i].pattern);
	}
	ck_assert_str_eq(find_rule(RULE_FILE_DENY, "/data/keys")->message, "no");
	policy_done(&known);
}
END_TEST

START_TEST(hosts)
{
	ck_assert_int_eq(parse(SOURCE_USER, "[network]\nallow = *.b\xc3\xbc"
					    "cher.example:443\nunix = @x\n"),
			 0);
	ck_assert_ptr_nonnull(find_rule(RULE_NET_ALLOW, "*.xn--bcher-kva.example:443"));
	ck_assert_ptr_nonnull(find_rule(RULE_NET_UNIX, "@x"));
}
END_TEST

START_TEST(messages)
{
	ck_assert_int_eq(
		parse(SOURCE_USER, "[commands]\ndeny = curl\nmessage = use `make deploy`\ndeny = wget\n"), 0);
	ck_assert_str_eq(find_rule(RULE_CMD_DENY, "curl")->message, "use `make deploy`");
	ck_assert_ptr_null(find_rule(RULE_CMD_DENY, "wget")->message);
	ck_assert_uint_eq(find_rule(RULE_CMD_DENY, "wget")->line, 4);
}
END_TEST

#define AGENT_TEXT                                                                                           \
	"[session]\nmode = workspace-write\n[agent \"reviewer\" session]\nmode = read-only\n"                \
	"[agent \"reviewer\" commands]\ndeny = x\nmessage = m\n"

START_TEST(agent_sections)
{
	ck_assert_int_eq(parse(SOURCE_USER, AGENT_TEXT), 0);
	ck_assert_int_eq(p.s.mode, MODE_WORKSPACE_WRITE);
	ck_assert_ptr_null(find_rule(RULE_CMD_DENY, "x"));
	policy_done(&p);
	b.agent = strdup("reviewer");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(p.s.mode, MODE_READ_ONLY);
	ck_assert_str_eq(find_rule(RULE_CMD_DENY, "x")->message, "m");
	ck_assert_ptr_null(find_rule(RULE_FILE_WRITE, "/home/u/ws"));
}
END_TEST

START_TEST(user_over_preset)
{
	ck_assert_int_eq(parse(SOURCE_USER, "preset = ci\n[session]\ntimeout = 2m\n[network]\nmode = open\n"),
			 0);
	ck_assert_str_eq(p.preset, "ci");
	ck_assert_int_eq(p.s.approvals, APPROVALS_NEVER);
	ck_assert_uint_eq(p.s.timeout_s, 120);
	ck_assert_int_eq(p.s.network, NETWORK_OPEN);
	ck_assert_int_eq(p.s.cmd_default, VERDICT_DENY);
}
END_TEST

START_TEST(project_only_tightens)
{
	add(SOURCE_USER, "[session]\nmode = read-only\ntimeout = 60s\n[network]\nmode = replace\n");
	ck_assert_int_eq(parse(SOURCE_PROJECT,
			       "[session]\nmode = workspace-write\ntimeout = 30s\napprovals = never\n"
			       "[commands]\ndefault = deny\n[network]\nmode = merge\n"
			       "[environment]\npass = X_TOKEN\n"),
			 0);
	ck_assert_int_eq(p.s.mode, MODE_READ_ONLY);
	ck_assert_uint_eq(p.s.timeout_s, 30);
	ck_assert_int_eq(p.s.approvals, APPROVALS_NEVER);
	ck_assert_int_eq(p.s.cmd_default, VERDICT_DENY);
	ck_assert_int_eq(p.s.network, NETWORK_REPLACE);
	for (size_t i = 0; i < p.n_environ; i++)
		ck_assert_str_ne(p.environ[i].pattern, "X_TOKEN");
	ck_assert_uint_eq(d.n, 3);
	ck_assert_str_eq(d.list[0].code, "project-loosens");
}
END_TEST

START_TEST(project_chooses_no_preset)
{
	ck_assert_int_eq(parse(SOURCE_PROJECT, "preset = agent\n"), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "preset-here");
}
END_TEST

/* In the list of sources it stands right before the file that takes it in. */
START_TEST(no_policy_without_its_base)
{
	static const char line[] =
		"b sha256:0000000000000000000000000000000000000000000000000000000000000000";
	char text[128];

	snprintf(text, sizeof(text), "extends = %s\n", line);
	ck_assert_int_eq(parse(SOURCE_USER, text), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "take-in");
	teardown();
	setup();
	add(SOURCE_USER, "[files]\ndeny = /b\n");
	b.sources[0].as = strdup(line);
	b.sources[0].base = true;
	ck_assert_int_eq(parse(SOURCE_USER, text), 0);
	ck_assert_int_eq(find_rule(RULE_FILE_DENY, "/b")->rank, RANK_BASE);
	teardown();
	setup();
	ck_assert_int_eq(parse(SOURCE_FLOOR, text), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "take-here");
}
END_TEST

START_TEST(trusted_project)
{
	add(SOURCE_PROJECT_TRUSTED, "preset = review\n[commands]\nallow = make\n");
	ck_assert_int_eq(parse(SOURCE_USER, "preset = ci\n"), 0);
	ck_assert_str_eq(p.preset, "review");
	ck_assert_int_eq(find_rule(RULE_CMD_ALLOW, "make")->layer, LAYER_USER);
	ck_assert_int_eq(find_rule(RULE_CMD_ALLOW, "make")->rank, RANK_PROJECT);
}
END_TEST

START_TEST(floor_holds)
{
	add(SOURCE_FLOOR, "[session]\nmode = read-only\n[files]\nsensitive = /srv/keys\n");
	add(SOURCE_FLOOR, "[session]\nmode = workspace-write\n");
	b.mode = strdup("workspace-write");
	ck_assert_int_eq(parse(SOURCE_USER, "[session]\nmode = workspace-write\n"), 0);
	ck_assert_int_eq(p.s.mode, MODE_READ_ONLY);
	ck_assert_int_eq(find_rule(RULE_FILE_SENSITIVE, "/srv/keys")->layer, LAYER_FLOOR);
}
END_TEST

START_TEST(danger_needs_the_flag)
{
	b.mode = strdup("danger");
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "danger");
	policy_done(&p);
	b.danger = b.no_prompt = b.allow_sensitive = true;
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(p.s.mode, MODE_DANGER);
	ck_assert_int_eq(p.s.approvals, APPROVALS_NEVER);
	ck_assert(p.s.allow_danger && p.s.allow_sensitive && !p.s.allow_denylisted);
}
END_TEST

START_TEST(own_files)
{
	b.self_write = calloc(1, sizeof(char *));
	b.self_hide = calloc(1, sizeof(char *));
	b.self_write[b.n_self_write++] = strdup("/home/u/.config/pale");
	b.self_hide[b.n_self_hide++] = strdup("/run/user/1/pale");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(find_rule(RULE_FILE_SELF, "/home/u/.config/pale")->layer, LAYER_FLOOR);
	ck_assert_int_eq(find_rule(RULE_FILE_HIDDEN, "/run/user/1/pale")->rank, RANK_BUILTIN);
	ck_assert_str_eq(find_rule(RULE_FILE_WRITE, "/home/u/ws")->file, "built in");
}
END_TEST

START_TEST(presets_parse)
{
	b.preset = strdup(preset_name((size_t)_i));
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(d.n, 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_SENSITIVE, "/home/u/.ssh"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_SENSITIVE, "/home/u/.npmrc"));
	ck_assert_ptr_nonnull(find_rule(RULE_BRANCH, "main"));
}
END_TEST

START_TEST(near_words)
{
	static const char *const words[] = { "status", "log", "explain", NULL };

	ck_assert_str_eq(nearest_word("statsu", words), "status");
	ck_assert_str_eq(nearest_word("lgo", words), "log");
	ck_assert_ptr_null(nearest_word("zebra", words));
	ck_assert_ptr_null(nearest_word("", words));
}
END_TEST

START_TEST(findings_are_bounded)
{
	for (int i = 0; i < 3000; i++)
		ck_assert_int_eq(diag_add(&d, SEVERITY_ERROR, "x", "f", 1, 1, NULL, "n"), 0);
	ck_assert_uint_eq(d.n_errors, 3000);
	ck_assert_uint_le(d.n, 1000);
}
END_TEST

#define ROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

static TCase *text_case(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, refuses, 0, ROWS(bad));
	tcase_add_loop_test(tc, path_patterns, 0, ROWS(paths));
	tcase_add_test(tc, long_line);
	tcase_add_test(tc, nul_and_no_newline);
	tcase_add_test(tc, reports_all_and_keeps_none);
	tcase_add_test(tc, key_of_other_section);
	tcase_add_test(tc, examples_are_no_keys);
	tcase_add_test(tc, bad_header_takes_its_keys);
	tcase_add_test(tc, both_spellings);
	tcase_add_test(tc, finds_reals);
	tcase_add_test(tc, hosts);
	tcase_add_test(tc, messages);
	tcase_add_test(tc, agent_sections);
	tcase_add_test(tc, near_words);
	tcase_add_test(tc, findings_are_bounded);
	return tc;
}

Suite *suite_parse(void)
{
	Suite *s = suite_create("parse");
	TCase *tc = tcase_create("layers");
	int presets = 0;

	while (preset_name((size_t)presets))
		presets++;
	suite_add_tcase(s, text_case());
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, user_over_preset);
	tcase_add_test(tc, project_only_tightens);
	tcase_add_test(tc, project_chooses_no_preset);
	tcase_add_test(tc, no_policy_without_its_base);
	tcase_add_test(tc, trusted_project);
	tcase_add_test(tc, floor_holds);
	tcase_add_test(tc, danger_needs_the_flag);
	tcase_add_test(tc, own_files);
	tcase_add_loop_test(tc, presets_parse, 0, presets);
	suite_add_tcase(s, tc);
	return s;
}
