/* The bundle: that it survives its journey, and what the parser takes from it besides the files. */
#include "policy/parse/parse.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))
#define BUILD_ID    "00112233445566778899aabbccddeeff00112233"

#include "parse_fixture.h"

Suite *suite_bundle(void);

START_TEST(bundle_journey)
{
	struct bundle c;
	size_t len;
	char *bytes;

	b.agent = strdup("na\"me");
	b.cwd = strdup("/\xff\xfe");
	b.danger = true;
	b.self_hide = calloc(1, sizeof(char *));
	b.self_hide[b.n_self_hide++] = strdup("/s");
	b.git_own = strdup("/r/worktrees/w");
	bundle_add_git_write(&b, "/r/objects");
	bundle_add_git_keep(&b, "/r/config");
	bundle_add_git_keep(&b, "/r/hooks");
	b.git_head = strdup("main");
	b.git_unborn = true;
	bundle_add_git_trunk(&b, "release/1");
	bundle_add_real(&b, "/a", "/\xff");
	bundle_add_ident(&b, "git", BUILD_ID);
	bundle_add_source(&b, SOURCE_PROJECT, "p", "x\0\xff", 3);
	bundle_add_source(&b, SOURCE_USER, "q", "", 0);
	b.sources[1].as = strdup("q sha256:1");
	b.sources[1].base = true;
	ck_assert_int_eq(bundle_encode(&b, &bytes, &len), 0);
	ck_assert_int_eq(bundle_decode(bytes, len, &c), 0);
	ck_assert_str_eq(c.agent, b.agent);
	ck_assert_str_eq(c.cwd, b.cwd);
	ck_assert_ptr_null(c.mode);
	ck_assert(c.danger && !c.no_prompt);
	ck_assert_str_eq(c.self_hide[0], "/s");
	ck_assert_str_eq(c.git_own, "/r/worktrees/w");
	ck_assert_ptr_null(c.git_common);
	ck_assert_str_eq(c.git_write[0], "/r/objects");
	ck_assert_uint_eq(c.n_git_keep, 2);
	ck_assert_str_eq(c.git_head, "main");
	ck_assert(c.git_unborn);
	ck_assert_uint_eq(c.n_git_trunk, 1);
	ck_assert_str_eq(c.git_trunk[0], "release/1");
	ck_assert_str_eq(c.reals[0].real, "/\xff");
	ck_assert_str_eq(c.idents[0].name, "git");
	ck_assert_str_eq(c.idents[0].build_id, BUILD_ID);
	ck_assert_int_eq(c.sources[0].layer, SOURCE_PROJECT);
	ck_assert_uint_eq(c.sources[0].len, 3);
	ck_assert_mem_eq(c.sources[0].text, "x\0\xff", 4);
	ck_assert(!c.sources[0].as && !c.sources[0].base);
	ck_assert_int_eq(c.sources[1].layer, SOURCE_USER);
	ck_assert_str_eq(c.sources[1].as, "q sha256:1");
	ck_assert(c.sources[1].base);
	bundle_done(&c);
	free(bytes);
}
END_TEST

/* The bundle that has the string "/" and nothing else. */
#define BUNDLE_LEN (8 + 6 + 9 * 4)

static void refused(const char *bytes, size_t len, const char *what)
{
	struct bundle c;

	ck_assert_msg(bundle_decode(bytes, len, &c) == -EINVAL, "%s", what);
	ck_assert_ptr_null(c.home);
}

START_TEST(bundle_refuses)
{
	static const struct {
		const char *what;
		size_t at;
		uint32_t value;
	} wrong[] = {
		{ "an unknown string", 0, 1u << 12 },
		{ "a string that is not there", 0, 3 },
		{ "an unknown flag", 4, 1u << 13 },
		{ "a string without its NUL", 8, 1 },
		{ "a string that is longer than all", 8, UINT32_MAX },
		{ "an empty string that has no NUL", 8, 0 },
		{ "a list that is too long", 14, 65537 },
		{ "a list that is not there", 14, 1 },
		{ "pairs that are not there", 38, 1 },
		{ "a source that is not there", 46, 1 },
	};
	struct bundle one = { .home = strdup("/") }, c;
	char *bytes, longer[BUNDLE_LEN + 16] = { 0 };
	size_t len;

	ck_assert_int_eq(bundle_encode(&one, &bytes, &len), 0);
	bundle_done(&one);
	ck_assert_uint_eq(len, BUNDLE_LEN);
	ck_assert_int_eq(bundle_decode(bytes, len, &c), 0);
	ck_assert_str_eq(c.home, "/");
	bundle_done(&c);
	for (size_t n = 0; n < len; n++)
		refused(bytes, n, "a part");
	for (int i = 0; i < ROWS(wrong); i++) {
		memcpy(longer, bytes, len);
		memcpy(longer + wrong[i].at, &wrong[i].value, sizeof(wrong[i].value));
		refused(longer, len, wrong[i].what);
	}
	memcpy(longer, bytes, len);
	refused(longer, len + 1, "a byte too many");
	longer[12] = '\0';
	refused(longer, len, "a NUL within a string");
	memcpy(longer, bytes, len);
	/* A source of layer 9, named "", of no bytes. */
	memcpy(longer + 46, (uint32_t[]){ 1, 9, 1 }, 12);
	longer[len + 9] = 1;
	refused(longer, len + 18, "an unknown layer");
	longer[50] = 1;
	ck_assert_int_eq(bundle_decode(longer, len + 18, &c), 0);
	ck_assert_int_eq(c.sources[0].layer, SOURCE_PRESET);
	bundle_done(&c);
	free(bytes);
}
END_TEST

START_TEST(idents_are_build_ids)
{
	static const char *const wrong[] = { "", "0011", "g0112233445566778899aabbccddeeff00112233",
					     "0G112233445566778899aabbccddeeff00112233" };

	ck_assert_int_eq(bundle_add_ident(&b, "git", BUILD_ID), 0);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(p.n_idents, 1);
	ck_assert_str_eq(p.idents[0].name, "git");
	ck_assert_mem_eq(p.idents[0].build_id,
			 "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
	for (int i = 0; i < ROWS(wrong); i++) {
		policy_done(&p);
		policy_init(&p);
		free(b.idents[0].build_id);
		b.idents[0].build_id = strdup(wrong[i]);
		ck_assert_int_eq(policy_parse(&b, &p, &d), -EINVAL);
	}
}
END_TEST

/* --mode: over the files, under the floor, and danger only with its flag. */
static const struct {
	const char *mode, *floor;
	bool danger;
	int result;
	enum mode want;
	const char *code;
} modes[] = {
	{ "read-only", NULL, false, 0, MODE_READ_ONLY, NULL },
	{ "workspace-write", NULL, false, 0, MODE_WORKSPACE_WRITE, NULL },
	{ "danger", NULL, true, 0, MODE_DANGER, NULL },
	{ "danger", NULL, false, -EBADMSG, 0, "danger" },
	{ "free", NULL, false, -EBADMSG, 0, "bad-value" },
	{ "danger", "[session]\nmode = read-only\n", true, 0, MODE_READ_ONLY, NULL },
};

START_TEST(launch_mode)
{
	const char *floor = modes[_i].floor;

	b.mode = strdup(modes[_i].mode);
	b.danger = modes[_i].danger;
	if (floor)
		bundle_add_source(&b, SOURCE_FLOOR, "floor.ini", floor, strlen(floor));
	ck_assert_int_eq(policy_parse(&b, &p, &d), modes[_i].result);
	if (modes[_i].result == 0) {
		ck_assert_int_eq(p.s.mode, modes[_i].want);
		return;
	}
	ck_assert_uint_eq(d.n, 1);
	ck_assert_str_eq(d.list[0].code, modes[_i].code);
	ck_assert_str_eq(d.list[0].file, "--mode");
}
END_TEST

START_TEST(launch_flags)
{
	b.no_prompt = b.allow_sensitive = b.allow_denylisted = b.allow_unhooked = b.danger = true;
	bundle_add_source(&b, SOURCE_USER, "u", "[session]\napprovals = ask\n", 26);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_int_eq(p.s.approvals, APPROVALS_NEVER);
	ck_assert(p.s.allow_sensitive && p.s.allow_denylisted && p.s.allow_unhooked && p.s.allow_danger);
}
END_TEST

/* What a project that is not trusted may set: only what is stricter than the user's. */
static const struct {
	const char *user, *project;
	bool taken;
} project_settings[] = {
	{ "[network]\nmode = open\n", "[network]\nmode = merge\n", true },
	{ "[network]\nmode = strict\n", "[network]\nmode = merge\n", false },
	{ "[network]\nmode = replace\n", "[network]\nmode = strict\n", false },
	{ "[network]\nmode = replace\n", "[network]\nmode = off\n", true },
	{ "[network]\ndefault = ask\n", "[network]\ndefault = deny\n", true },
	{ "[network]\ndefault = deny\n", "[network]\ndefault = ask\n", false },
	{ "[commands]\ndefault = ask\n", "[commands]\ndefault = deny\n", true },
	{ "[commands]\ndefault = ask\n", "[commands]\ndefault = allow\n", false },
	{ "[files]\npaths = any\n", "[files]\npaths = relative\n", true },
	{ "[files]\npaths = relative\n", "[files]\npaths = any\n", false },
	{ "[session]\ntimeout = 60s\n", "[session]\ntimeout = 30s\n", true },
	{ "[session]\ntimeout = 60s\n", "[session]\ntimeout = 1h\n", false },
	{ "[session]\nreads = notify\n", "[session]\nreads = floor\n", false },
	{ "[session]\nreads = floor\n", "[session]\nreads = notify\n", true },
	{ "[commands]\nread_only = deny\n", "[commands]\nread_only = rules\n", false },
	{ "[commands]\nread_only = rules\n", "[commands]\nread_only = deny\n", true },
};

START_TEST(project_setting)
{
	const char *user = project_settings[_i].user, *project = project_settings[_i].project;
	struct settings alone, both;

	bundle_add_source(&b, SOURCE_USER, "u", user, strlen(user));
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	memcpy(&alone, &p.s, sizeof(alone));
	policy_done(&p);
	policy_init(&p);
	bundle_add_source(&b, SOURCE_PROJECT, "p", project, strlen(project));
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	memcpy(&both, &p.s, sizeof(both));
	ck_assert_int_eq(memcmp(&alone, &both, sizeof(both)) != 0, project_settings[_i].taken);
	ck_assert_uint_eq(d.n, project_settings[_i].taken ? 0 : 1);
	if (!project_settings[_i].taken)
		ck_assert_str_eq(d.list[0].code, "project-loosens");
}
END_TEST

/* What cannot be named cannot be protected. */
START_TEST(own_paths_must_be_usable)
{
	char *deep = calloc(1, LIMIT_PATH + 8);

	memset(deep, 'a', LIMIT_PATH + 4);
	deep[0] = '/';
	b.self_write = calloc(1, sizeof(char *));
	b.self_write[b.n_self_write++] = deep;
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "bad-path");
	policy_done(&p);
	policy_init(&p);
	diags_done(&d);
	b.self_write[0] = strdup("/x");
	free(b.workspace);
	b.workspace = deep;
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "bad-path");
}
END_TEST

/* A file full of faults fills no memory, and is refused all the same. */
START_TEST(findings_are_counted)
{
	for (int i = 0; i < 1500; i++)
		ck_assert_int_eq(diag_add(&d, SEVERITY_ERROR, "x", NULL, 1, 1, "hint", "%d", i), 0);
	ck_assert_uint_eq(d.n_errors, 1500);
	ck_assert_uint_eq(d.n, 1000);
	ck_assert_str_eq(d.list[999].text, "999");
	ck_assert_str_eq(d.list[0].file, "");
	ck_assert_str_eq(d.list[0].hint, "hint");
}
END_TEST

static const struct {
	enum rule_kind kind;
	const char *section, *key;
	enum verdict verdict;
} kinds[] = {
	{ RULE_FILE_WRITE, "files", "write", VERDICT_ALLOW },
	{ RULE_FILE_KEEP, "files", "keep", VERDICT_DENY },
	{ RULE_CMD_ASK, "commands", "ask", VERDICT_ASK },
	{ RULE_CMD_DENYLIST, "commands", "denylist", VERDICT_DENY },
	{ RULE_NET_EXTRA, "network", "extra", VERDICT_ALLOW },
	{ RULE_NET_UDP, "network", "udp", VERDICT_ALLOW },
	{ RULE_NET_BIND, "network", "bind", VERDICT_ALLOW },
	{ RULE_BRANCH, "git", "protect", VERDICT_DENY },
	{ RULE_TOOL_ASK, "tools", "ask", VERDICT_ASK },
	{ RULE_KIND_COUNT, "?", "?", VERDICT_DENY },
};

START_TEST(names_of_kinds)
{
	ck_assert_str_eq(rule_section(kinds[_i].kind), kinds[_i].section);
	ck_assert_str_eq(rule_key(kinds[_i].kind), kinds[_i].key);
	ck_assert_int_eq(rule_verdict(kinds[_i].kind), kinds[_i].verdict);
}
END_TEST

Suite *suite_bundle(void)
{
	Suite *s = suite_create("bundle");
	TCase *tc = tcase_create("bundle");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, bundle_journey);
	tcase_add_test(tc, bundle_refuses);
	tcase_add_test(tc, idents_are_build_ids);
	tcase_add_loop_test(tc, launch_mode, 0, ROWS(modes));
	tcase_add_test(tc, launch_flags);
	tcase_add_loop_test(tc, project_setting, 0, ROWS(project_settings));
	tcase_add_test(tc, own_paths_must_be_usable);
	tcase_add_test(tc, findings_are_counted);
	tcase_add_loop_test(tc, names_of_kinds, 0, ROWS(kinds));
	suite_add_tcase(s, tc);
	return s;
}
