/* The judge of an environment: names and values against the reason that each shall have. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/parse/parse.h"
#include "policy/rules/environ.h"

Suite *suite_environ(void);

static struct bundle b;
static struct policy p;
static struct diags d;

static int parse(enum source_layer layer, const char *text)
{
	int err = bundle_add_source(&b, layer, "/p.ini", text, strlen(text));

	ck_assert_int_eq(err, 0);
	return policy_parse(&b, &p, &d);
}

static void setup(void)
{
	bundle_init(&b);
	policy_init(&p);
	diags_init(&d);
	b.home = strdup("/home/u");
	b.workspace = strdup("/ws");
	b.cwd = strdup("/ws");
	b.agent = strdup("");
	b.session = strdup("none");
}

static void teardown(void)
{
	policy_done(&p);
	bundle_done(&b);
	diags_done(&d);
}

struct row {
	const char *name, *value;
	enum environ_why why;
};

static void judge(const struct row *row, enum environ_asked asked)
{
	const struct environ_question q = { .name = row->name, .value = row->value, .asked = asked };
	struct environ_verdict v = environ_judge(&p, &q);

	if (v.why != row->why)
		printf("%s=%s: %s\n", row->name, row->value, environ_why_text(v.why));
	ck_assert_int_eq(v.why, row->why);
	ck_assert_int_eq(v.given, row->why < WHY_UNNAMED);
}

static const struct row everyday[] = {
	{ "PATH", "/usr/bin:/home/u/token=x/bin", WHY_STANDARD },
	{ "HOME", "/home/u", WHY_STANDARD },
	{ "TERM", "xterm-256color", WHY_STANDARD },
	{ "LANG", "de_DE.UTF-8", WHY_STANDARD },
	{ "LC_ALL", "C", WHY_STANDARD },
	{ "LC_SECRET", "x", WHY_SECRET_NAME },
	{ "LC_MINE", "x", WHY_UNNAMED },
	{ "XDG_DATA_HOME", "/home/u/d", WHY_STANDARD },
	{ "EDITOR", "vim", WHY_STANDARD },
	{ "EDITOR", "vim --token abcdef", WHY_SECRET_VALUE },
	{ "GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z", WHY_STANDARD },
	/* Proxies: whoever stands before the host. */
	{ "http_proxy", "http://proxy.example:3128", WHY_STANDARD },
	{ "HTTPS_PROXY", "proxy.example:3128", WHY_STANDARD },
	{ "http_proxy", "http://ana:pw@proxy.example:3128", WHY_PROXY },
	{ "http_proxy", "ana:pw@proxy.example:3128", WHY_PROXY },
	{ "ALL_PROXY", "socks5h://tok3n@proxy.example", WHY_PROXY },
	{ "https_proxy", "tok3n@proxy.example", WHY_PROXY },
	{ "no_proxy", "localhost,.example.org", WHY_STANDARD },
	/* The toolchain's. */
	{ "CARGO_HOME", "/home/u/.cargo", WHY_TOOLCHAIN },
	{ "CFLAGS", "-O2 -DNDEBUG", WHY_TOOLCHAIN },
	{ "CFLAGS", "-O2 -DAPI_TOKEN=abc", WHY_SECRET_VALUE },
	{ "CFLAGS", "-DKEY=ghp_0123456789abcdef0123456789abcdef0123", WHY_SECRET_VALUE },
	{ "GOPROXY", "https://proxy.golang.org,direct", WHY_TOOLCHAIN },
	{ "GOPROXY", "https://tok3n@goproxy.example/,direct", WHY_SECRET_VALUE },
	{ "PIP_INDEX_URL", "https://u:p@pypi.example/simple", WHY_SECRET_VALUE },
	{ "npm_config_registry", "https://registry.npmjs.org/", WHY_TOOLCHAIN },
	{ "npm_config__auth", "x", WHY_SECRET_NAME },
	/* The preset's list. */
	{ "GH_TOKEN", "ghp_0123456789abcdef", WHY_RULE },
	{ "GH_TOKEN", "", WHY_EMPTY },
	{ "ANTHROPIC_API_KEY", "sk-ant-0123456789ab", WHY_RULE },
	{ "GCLOUD_PROJECT", "p", WHY_RULE },
	/* Secrets by name. */
	{ "GITHUB_TOKEN", "x", WHY_SECRET_NAME },
	{ "MY_SECRET", "x", WHY_SECRET_NAME },
	{ "STRIPE_KEY", "x", WHY_SECRET_NAME },
	{ "DB_PASSWORD", "x", WHY_SECRET_NAME },
	{ "DB_PASSWD", "x", WHY_SECRET_NAME },
	{ "CONDA_PW", "x", WHY_SECRET_NAME },
	{ "SMTP_PASS", "x", WHY_SECRET_NAME },
	{ "APP_CREDENTIALS", "x", WHY_SECRET_NAME },
	{ "MYTOKEN", "x", WHY_SECRET_NAME },
	{ "dbpassword", "x", WHY_SECRET_NAME },
	{ "AWS_PROFILE", "x", WHY_SECRET_NAME },
	{ "AZURE_TENANT_ID", "x", WHY_SECRET_NAME },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "/k.json", WHY_SECRET_NAME },
	{ "DATABASE_URL", "postgres://u:p@h/d", WHY_SECRET_NAME },
	{ "PGPASSWORD", "x", WHY_SECRET_NAME },
	{ "MYSQL_PWD", "x", WHY_SECRET_NAME },
	{ "CONDA_PW", "x", WHY_SECRET_NAME },
	{ "SMTP_PASS", "x", WHY_SECRET_NAME },
	{ "X_CREDENTIALS", "x", WHY_SECRET_NAME },
	{ "REPORTS_DSN", "x", WHY_SECRET_NAME },
	{ "NPM_CONFIG__AUTH", "x", WHY_SECRET_NAME },
	{ "npm_config__auth", "x", WHY_SECRET_NAME },
	{ "npm_config_//registry.npmjs.org/:_authToken", "x", WHY_NEVER },
	{ "TEAMS_WEBHOOK", "x", WHY_SECRET_NAME },
	/* Who knows the address may post there. */
	{ "DISCORD_WEBHOOK_URL", "https://discord.example/api/1/x", WHY_SECRET_NAME },
	{ "ALERT_WEBHOOKS_FILE", "x", WHY_SECRET_NAME },
	/* What runs code. */
	{ "LD_LIBRARY_PATH", "/x", WHY_CODE },
	{ "NODE_OPTIONS", "--require x", WHY_CODE },
	{ "BASH_ENV", "/x", WHY_CODE },
	{ "ENV", "/x", WHY_CODE },
	{ "PROMPT_COMMAND", "x", WHY_CODE },
	{ "PYTHONSTARTUP", "/x", WHY_CODE },
	{ "PYTHONPATH", "/x", WHY_CODE },
	{ "PERL5OPT", "-Mx", WHY_CODE },
	{ "RUBYOPT", "-rx", WHY_CODE },
	{ "JAVA_TOOL_OPTIONS", "-javaagent:x", WHY_CODE },
	{ "GIT_SSH_COMMAND", "x", WHY_CODE },
	{ "GIT_EXTERNAL_DIFF", "x", WHY_CODE },
	{ "GIT_EDITOR", "x", WHY_CODE },
	{ "GIT_CONFIG_COUNT", "1", WHY_CODE },
	{ "GIT_CONFIG_KEY_0", "core.hooksPath", WHY_CODE },
	{ "LESSOPEN", "|x", WHY_CODE },
	/* What leads out. */
	{ "SSH_AUTH_SOCK", "/x", WHY_DOOR },
	{ "SSH_ASKPASS", "/x", WHY_DOOR },
	{ "GPG_AGENT_INFO", "/x", WHY_DOOR },
	{ "DBUS_SESSION_BUS_ADDRESS", "unix:path=/x", WHY_DOOR },
	{ "DISPLAY", ":0", WHY_DOOR },
	{ "WAYLAND_DISPLAY", "wayland-0", WHY_DOOR },
	{ "TMUX", "/tmp/tmux,1,0", WHY_DOOR },
	{ "DOCKER_HOST", "tcp://x", WHY_DOOR },
	/* Never. */
	{ "LD_PRELOAD", "/x.so", WHY_NEVER },
	{ "LD_AUDIT", "/x.so", WHY_NEVER },
	{ "PALE_SESSION_DIR", "/x", WHY_NEVER },
	{ "PALE_PROMPT", "1", WHY_NEVER },
	{ "GLIBC_TUNABLES", "x", WHY_NEVER },
	{ "BASH_FUNC_git%%", "() { x; }", WHY_NEVER },
	{ "A-B", "x", WHY_NEVER },
	/* And all the rest. */
	{ "FOO", "x", WHY_UNNAMED },
	{ "", "x", WHY_NEVER },
};

START_TEST(test_everyday)
{
	ck_assert_int_eq(parse(SOURCE_USER, ""), 0);
	judge(&everyday[_i], ASKED_NOT);
}
END_TEST

START_TEST(test_rules)
{
	static const struct row rows[] = {
		{ "FOO", "x", WHY_RULE },
		{ "FOO_TOKEN", "x", WHY_RULE },
		{ "APP_PORT", "1", WHY_RULE },
		{ "APP_KEY", "x", WHY_SECRET_NAME },
		{ "APP_WEBHOOK_URL", "https://h/x", WHY_SECRET_NAME },
		{ "APP_URL", "https://u:p@h/", WHY_SECRET_VALUE },
		{ "APP_HIDDEN", "x", WHY_DENIED },
		{ "EDITOR", "vim", WHY_DENIED },
		{ "GH_TOKEN", "x", WHY_DENIED },
		{ "AWS_REGION", "x", WHY_SECRET_NAME },
		{ "SSH_AUTH_SOCK", "/x", WHY_RULE },
	};

	ck_assert_int_eq(parse(SOURCE_USER,
			       "[environment]\npass = FOO\npass = FOO_TOKEN\npass = APP_*\npass = AWS_*\n"
			       "deny = *_HIDDEN\ndeny = EDITOR\ndeny = GH_TOKEN\n"
			       "pass = SSH_AUTH_SOCK\n"),
			 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		judge(&rows[i], ASKED_NOT);
}
END_TEST

START_TEST(test_asked)
{
	static const struct row named[] = {
		{ "FOO", "x", WHY_ASKED },	  { "FOO", "", WHY_EMPTY },
		{ "MY_TOKEN", "x", WHY_ASKED },	  { "NODE_OPTIONS", "x", WHY_ASKED },
		{ "LD_PRELOAD", "x", WHY_NEVER }, { "PALE_PROMPT", "x", WHY_NEVER },
		{ "KEPT_AWAY", "x", WHY_DENIED },
	};
	static const struct row matched[] = {
		{ "FOO", "x", WHY_ASKED },
		{ "MY_TOKEN", "x", WHY_SECRET_NAME },
		{ "FOO", "ghp_0123456789abcdef", WHY_SECRET_VALUE },
	};

	ck_assert_int_eq(parse(SOURCE_USER, "[environment]\ndeny = KEPT_*\n"), 0);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		judge(&named[i], ASKED_BY_NAME);
	for (size_t i = 0; i < sizeof(matched) / sizeof(matched[0]); i++)
		judge(&matched[i], ASKED_BY_PATTERN);
}
END_TEST

START_TEST(test_project_may_only_deny)
{
	static const struct row rows[] = { { "FOO", "x", WHY_UNNAMED }, { "EDITOR", "vim", WHY_DENIED } };

	ck_assert_int_eq(parse(SOURCE_PROJECT, "[environment]\npass = FOO\nset = X=1\ndeny = EDITOR\n"), 0);
	ck_assert_uint_eq(d.n, 2);
	for (size_t i = 0; i < 2; i++)
		judge(&rows[i], ASKED_NOT);
}
END_TEST

START_TEST(test_bad_lines)
{
	static const char *const bad[] = {
		"pass = A=B",	     "pass = 1A",	   "pass = A B", "pass = [AB]",
		"pass = LD_PRELOAD", "pass = PALE_PROMPT", "set = A",	 "set = =x",
		"set = A*=x",	     "set = LD_AUDIT=x",   "deny = -",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[128];

		teardown();
		setup();
		snprintf(text, sizeof(text), "[environment]\n%s\n", bad[i]);
		ck_assert_msg(parse(SOURCE_USER, text) == -EBADMSG, "%s", bad[i]);
		ck_assert_str_eq(d.list[0].code, "bad-value");
		ck_assert_uint_eq(d.list[0].line, 2);
	}
}
END_TEST

START_TEST(test_set_keeps_its_value)
{
	size_t n;

	ck_assert_int_eq(parse(SOURCE_USER, "[environment]\nset = A=b=c d\n"), 0);
	n = p.n_environ;
	ck_assert_uint_gt(n, 0);
	for (size_t i = 0; i < n; i++)
		if (p.environ[i].kind == ENVIRON_SET) {
			ck_assert_str_eq(p.environ[i].pattern, "A");
			ck_assert_str_eq(p.environ[i].value, "b=c d");
			ck_assert_uint_eq(p.environ[i].line, 2);
			return;
		}
	ck_abort_msg("nothing is set");
}
END_TEST

START_TEST(test_never_is_a_class)
{
	static const char *const names[] = { "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES",
					     "PALE_X",	   "PALE_",    "LD_PRELOADX",
					     "LD_PRELOA",  "PATH",     "AWS_KEY",
					     "X",	   "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(environ_is_never(names[i]) == (environ_class_of(names[i]) == CLASS_NEVER), "%s",
			      names[i]);
	ck_assert(environ_is_never("PALE_X"));
	ck_assert_int_eq(environ_class_of("LD_PRELOADX"), CLASS_CODE);
}
END_TEST

Suite *suite_environ(void)
{
	Suite *s = suite_create("environ");
	TCase *tc = tcase_create("judge");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_everyday, 0, (int)(sizeof(everyday) / sizeof(everyday[0])));
	tcase_add_test(tc, test_rules);
	tcase_add_test(tc, test_asked);
	tcase_add_test(tc, test_project_may_only_deny);
	tcase_add_test(tc, test_bad_lines);
	tcase_add_test(tc, test_set_keeps_its_value);
	tcase_add_test(tc, test_never_is_a_class);
	suite_add_tcase(s, tc);
	return s;
}
