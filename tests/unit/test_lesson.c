/* What a ledger teaches: how deeds are grouped, which lines come of them, and what never does. */
#include <stdio.h>

#include "image_fixture.h"
#include "policy/lesson/lesson.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *suite_lesson(void);

static struct fixture fx;
static struct lessons lessons;

static void setup(void)
{
	fixture_init(&fx);
	free(fx.p.workspace);
	fx.p.workspace = strdup("/home/u/ws");
	fx.p.home = strdup("/home/u");
	fx.p.s.cmd_default = VERDICT_ASK;
	fixture_rule(&fx, RULE_FILE_WRITE, "/home/u/ws");
	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/home/u/.ssh");
	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/home/u/.held/sub/key");
	fixture_rule(&fx, RULE_FILE_DENY, "/home/u/closed");
	fixture_rule(&fx, RULE_CMD_DENY, "rm -rf");
	fixture_rule(&fx, RULE_NET_DENY, "bad.example");
	fixture_rule(&fx, RULE_TOOL_ASK, "mcp__*");
	fixture_rule(&fx, RULE_TOOL_DENY, "WebFetch");
	fixture_compile(&fx);
	ck_assert_int_eq(lessons_init(&lessons, &fx.img, "/home/u/ws"), 0);
}

static void teardown(void)
{
	lessons_done(&lessons);
	fixture_done(&fx);
}

static void tell(const char *op, const char *target, const char *access)
{
	const struct record r = { .op = op,
				  .target = target,
				  .access = access,
				  .verdict = "deny",
				  .detail = "id=1234",
				  .approval = "",
				  .count = 1 };

	ck_assert_int_eq(lessons_add(&lessons, &r), 0);
}

/* The narrowest line of each group, one after the other, sorted as they come. */
static void lines_are(const char *want)
{
	char got[2048] = "";

	ck_assert_int_eq(lessons_group(&lessons), 0);
	for (size_t i = 0; i < lessons.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? "; " : "",
			 lessons.list[i].line);
	ck_assert_str_eq(got, want);
}

static const struct group {
	const char *op, *access, *targets[4], *want;
} groups[] = {
	{ "write", "w", { "/home/u/build/out/a", "/home/u/build/out/b" }, "write = ~/build/out" },
	{ "write", "w", { "/home/u/build/out/x/a", "/home/u/build/out/y/b" }, "write = ~/build/out" },
	{ "write",
	  "w",
	  { "/home/u/build/a/x", "/home/u/build/b/x" },
	  "write = ~/build/a/x; write = ~/build/b/x" },
	{ "write", "w", { "/home/u/loose" }, "write = ~/loose" },
	{ "write", "w", { "/home/u/one", "/home/u/two" }, "write = ~/one; write = ~/two" },
	{ "write", "w", { "/home/u/.cache/tool/a/b" }, "write = ~/.cache/tool" },
	{ "write", "w", { "/home/u/.local/share/tool/x" }, "write = ~/.local/share/tool" },
	{ "write", "w", { "/home/u/.tool/x/y" }, "write = ~/.tool" },
	/* What holds a secret is taken by the piece. */
	{ "write",
	  "w",
	  { "/home/u/.held/a/x/y", "/home/u/.held/a/z", "/home/u/.held/sub/b", "/home/u/.held/c" },
	  "write = ~/.held/a; write = ~/.held/c; write = ~/.held/sub/b" },
	{ "mkdir", "w", { "/home/u/dir", "/home/u/dir/a" }, "write = ~/dir" },
	{ "write", "w", { "/srv/data/a", "/srv/data/b" }, "write = /srv/data" },
	{ "write", "w", { "/home/u/we*rd/[x]" }, "write = ~/we\\*rd/\\[x\\]" },
	{ "exec", "", { "make deploy" }, "allow = make deploy $" },
	{ "exec", "", { "make deploy a", "make deploy b" }, "allow = make deploy" },
	{ "exec", "", { "npm test", "npm publish" }, "allow = npm publish $; allow = npm test $" },
	{ "exec", "", { "/usr/bin/tool run 'a b'" }, "allow = tool run \"a b\" $" },
	{ "connect", "", { "one.example:443", "one.example:80" }, "allow = one.example:80,443" },
	{ "resolve", "", { "one.example" }, "allow = one.example:443" },
	{ "connect", "", { "udp one.example:123", "udp one.example:124" }, "udp = one.example:123,124" },
	{ "connect",
	  "",
	  { "udp a.one.example:53", "a.one.example:53" },
	  "allow = a.one.example:53; udp = a.one.example:53" },
	{ "unix", "w", { "/home/u/build/tmp/pg/.s.PGSQL.5432" }, "unix = ~/build/tmp/pg/.s.PGSQL.5432" },
	{ "unix", "w", { "/tmp/we*rd", "/tmp/two" }, "unix = /tmp/two; unix = /tmp/we\\*rd" },
	{ "bind", "", { "0.0.0.0:8080", "[::]:8080", "0.0.0.0:0" }, "bind = 8080; bind = 0" },
	{ "tool", "", { "mcp__a__b", "mcp__a__c", "WebFetch" }, "allow = mcp__a__b; allow = mcp__a__c" },
};

START_TEST(test_groups)
{
	const struct group *g = &groups[_i];

	for (size_t i = 0; i < 4 && g->targets[i]; i++)
		tell(g->op, g->targets[i], g->access);
	lines_are(g->want);
}
END_TEST

/* What is never proposed. */
static const struct never {
	const char *op, *access, *target;
} nevers[] = {
	{ "read", "r", "/home/u/.ssh/id_rsa" },
	{ "write", "w", "/home/u/.ssh/x" },
	{ "write", "w", "/home/u/closed/x" },
	{ "write", "w", "/home/u/build/.env" },
	{ "write", "w", "/home/u/build/API_TOKEN" },
	{ "write", "w", "/home/u/build/server.pem" },
	{ "write", "w", "/home/u" },
	{ "mkdir", "w", "/home/u/.config" },
	{ "mkdir", "w", "/home/u/.local/share" },
	{ "mkdir", "w", "/home/u/.held/sub" },
	{ "write", "w", "/" },
	{ "write", "w", "/file" },
	{ "write", "w", "/etc/hosts" },
	{ "write", "w", "/usr/local/bin/x" },
	{ "write", "w", "/var/lib/x/y" },
	{ "write", "w", "/home/u/cut ***" },
	{ "exec", "", "bash -c id" },
	{ "exec", "", "python3 x.py" },
	{ "exec", "", "env make" },
	{ "exec", "", "sudo id" },
	{ "exec", "", "find . -exec id ;" },
	{ "exec", "", "npx tool" },
	{ "exec", "", "rm -rf build" },
	{ "exec", "", "./own deploy" },
	{ "exec", "", "/home/u/ws/own deploy" },
	{ "connect", "", "bad.example:443" },
	{ "connect", "", "93.184.216.34:443" },
	{ "connect", "", "169.254.169.254:80" },
	{ "bind", "", "0.0.0.0:80" },
	{ "unix", "w", "/run/docker.sock" },
	{ "bind", "", "udp 0.0.0.0:5353" },
	{ "connect", "", "udp 93.184.216.34:123" },
	{ "unix", "w", "@name" },
	{ "unix", "w", "/run/mysqld/mysqld.sock" },
	{ "unix", "w", "/tmp/ssh-abc/agent.123" },
	{ "unix", "w", "/tmp/tmux-1000/default" },
	{ "unix", "w", "/home/u/.gnupg/S.gpg-agent" },
	{ "unix", "w", "/home/u/build/secrets.sock" },
	{ "nonsense", "w", "/srv/data/x" },
};

START_TEST(test_never)
{
	tell(nevers[_i].op, nevers[_i].target, nevers[_i].access);
	lines_are("");
}
END_TEST

/* Records of one deed are one, with their counts; a human's no is heard. */
START_TEST(test_repeats)
{
	struct record r = { .op = "write",
			    .target = "/srv/data/a",
			    .access = "w",
			    .verdict = "allow",
			    .detail = "id=1 observed=deny",
			    .approval = "",
			    .count = 3 };

	ck_assert_int_eq(lessons_add(&lessons, &r), 0);
	ck_assert_int_eq(lessons_add(&lessons, &r), 0);
	ck_assert_uint_eq(lessons.n_events, 1);
	ck_assert_uint_eq(lessons.events[0].count, 6);
	r.detail = "id=1"; /* what was simply allowed teaches nothing */
	r.target = "/srv/data/b";
	ck_assert_int_eq(lessons_add(&lessons, &r), 0);
	ck_assert_uint_eq(lessons.n_events, 1);
	r.target = "/srv/data/a";
	r.verdict = "deny";
	r.approval = "abcd";
	ck_assert_int_eq(lessons_add(&lessons, &r), 0);
	lines_are("");
	ck_assert_str_eq(lessons.events[0].why, "you denied it");
}
END_TEST

/* More different ones than are kept cost no memory, and are counted. */
START_TEST(test_too_many)
{
	char path[64];

	for (int i = 0; i < LESSON_EVENTS + 10; i++) {
		snprintf(path, sizeof(path), "/srv/data%d/x", i);
		tell("write", path, "w");
	}
	ck_assert_uint_eq(lessons.beyond, 10);
	ck_assert_int_eq(lessons_group(&lessons), 0);
	ck_assert_uint_eq(lessons.n, LESSON_MAX);
}
END_TEST

Suite *suite_lesson(void)
{
	Suite *s = suite_create("lesson");
	TCase *t = tcase_create("lesson");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_groups, 0, COUNT(groups));
	tcase_add_loop_test(t, test_never, 0, COUNT(nevers));
	tcase_add_test(t, test_repeats);
	tcase_add_test(t, test_too_many);
	suite_add_tcase(s, t);
	return s;
}
