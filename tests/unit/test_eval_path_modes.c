/* Path rules: modes, spellings, bad requests, sockets, and many rules against a plain reading. */
#include <stdio.h>

#include "path_expect.h"

TCase *tcase_eval_path_modes(void);

START_TEST(test_mode_read_only)
{
	static const struct want w[] = {
		{ OP_READ, "/ws/a", A, REASON_INSIDE, 0 },
		{ OP_WRITE, "/ws/a", D, REASON_READONLY, 0 },
		{ OP_WRITE, "/etc/a", D, REASON_READONLY, 0 },
		{ OP_WRITE, "/tmp/a", D, REASON_READONLY, 0 },
		{ OP_WRITE, "/ask/a", D, REASON_READONLY, 0 },
		{ OP_READ, "/ask/a", Q, REASON_RULE, 3 },
		{ OP_WRITE, "/dev/null", A, REASON_RULE, 2 },
		{ OP_WRITE, "/dev/pts/3", A, REASON_RULE, 2 },
		{ OP_WRITE, "/dev/sda", D, REASON_READONLY, 0 },
		{ OP_WRITE, "/no/a", D, REASON_RULE, 4 },
		{ OP_DELETE, "/ws/a", D, REASON_READONLY, 0 },
	};

	fx.p.s.mode = MODE_READ_ONLY;
	fixture_rule(&fx, RULE_FILE_WRITE, "/tmp");
	fixture_rule(&fx, RULE_FILE_WRITE, "/dev");
	fixture_rule(&fx, RULE_FILE_ASK, "/ask");
	fixture_rule(&fx, RULE_FILE_DENY, "/no");
	EXPECT_ALL(w);
}
END_TEST

/* The rule against the workspace is the parser's; here it is written out, beside the fixture's own for it. */
START_TEST(test_mode_none)
{
	static const struct want w[] = {
		{ OP_WRITE, "/ws/out/a", A, REASON_RULE, 1 },  { OP_READ, "/ws/out/a", A, REASON_RULE, 1 },
		{ OP_DELETE, "/ws/out/a", A, REASON_RULE, 1 }, { OP_READ, "/ws/docs/a", A, REASON_RULE, 2 },
		{ OP_WRITE, "/ws/docs/a", D, REASON_RULE, 5 }, { OP_READ, "/ws/a", D, REASON_RULE, 5 },
		{ OP_WRITE, "/ws/a", D, REASON_RULE, 5 },      { OP_WRITE, "/wsx/a", D, REASON_READONLY, 0 },
		{ OP_WRITE, "/tmp/a", D, REASON_READONLY, 0 }, { OP_WRITE, "/dev/null", A, REASON_RULE, 4 },
	};

	fx.p.s.mode = MODE_NONE;
	fixture_rule(&fx, RULE_FILE_WRITE, "/ws/out");
	fixture_rule(&fx, RULE_FILE_READ, "/ws/docs");
	fixture_rule(&fx, RULE_FILE_WRITE, "/tmp");
	fixture_rule(&fx, RULE_FILE_WRITE, "/dev");
	fixture_rule(&fx, RULE_FILE_DENY, "/ws");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_mode_danger)
{
	static const struct want w[] = {
		{ OP_WRITE, "/etc/a", A, REASON_DANGER, 0 },
		{ OP_WRITE, "/ro/a", D, REASON_RULE, 1 },
		{ OP_WRITE, "/s/a", D, REASON_RULE, 2 },
		{ OP_WRITE, "/ws/a", A, REASON_INSIDE, 0 },
	};

	fx.p.s.mode = MODE_DANGER;
	fx.p.s.allow_danger = true;
	fixture_rule(&fx, RULE_FILE_READONLY, "/ro");
	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/s");
	EXPECT_ALL(w);
	/* the mode alone, without the launch flag, opens nothing */
	((struct image_header *)fx.bytes)->allow_danger = 0;
	expect(&(struct request){ .op = OP_WRITE, .path = "/etc/a" },
	       &(struct want){ OP_WRITE, NULL, D, REASON_OUTSIDE, 0 });
}
END_TEST

START_TEST(test_both_spellings_count)
{
	const struct want by_given = { OP_READ, NULL, D, REASON_RULE, 1 };
	const struct want fine = { OP_READ, NULL, A, REASON_READABLE, 0 };

	fixture_rule(&fx, RULE_FILE_DENY, "/secret");
	fixture_compile(&fx);
	expect(&(struct request){ .op = OP_READ, .path = "/real", .given = "/secret/x" }, &by_given);
	expect(&(struct request){ .op = OP_READ, .path = "/secret/x", .given = "/link" }, &by_given);
	expect(&(struct request){ .op = OP_READ, .path = "/real", .given = "/link" }, &fine);
}
END_TEST

/* By a link into the workspace; what a rule says of the link's own name still holds. */
START_TEST(test_a_link_leads_in)
{
	const struct want inside = { OP_WRITE, NULL, A, REASON_INSIDE, 0 };
	const struct want outside = { OP_WRITE, NULL, D, REASON_OUTSIDE, 0 };
	const struct want kept = { OP_DELETE, NULL, D, REASON_RULE, 1 };
	const struct want moved = { OP_RENAME, NULL, D, REASON_RULE, 1 };
	const struct want above = { OP_RENAME, NULL, D, REASON_ANCESTOR, 2 };
	const struct want closed = { OP_WRITE, NULL, D, REASON_RULE, 2 };

	fixture_rule(&fx, RULE_FILE_KEEP, "/link/kept");
	fixture_rule(&fx, RULE_FILE_READONLY, "/link/d/ro");
	fixture_compile(&fx);
	expect(&(struct request){ .op = OP_WRITE, .path = "/ws/a", .given = "/link/a" }, &inside);
	expect(&(struct request){ .op = OP_WRITE, .path = "/etc/a", .given = "/ws/a" }, &outside);
	expect(&(struct request){ .op = OP_DELETE, .path = "/ws/kept", .given = "/link/kept" }, &kept);
	expect(&(struct request){ .op = OP_RENAME, .path = "/ws/kept", .given = "/link/kept" }, &moved);
	expect(&(struct request){ .op = OP_RENAME, .path = "/ws/d", .given = "/link/d" }, &above);
	expect(&(struct request){ .op = OP_WRITE, .path = "/ws/d/ro", .given = "/link/d/ro" }, &closed);
}
END_TEST

START_TEST(test_relative_only)
{
	static const struct {
		enum op op;
		const char *raw, *path;
		enum verdict verdict;
		enum reason reason;
	} cases[] = {
		{ OP_WRITE, "a/b", "/ws/a/b", A, REASON_INSIDE },
		{ OP_WRITE, "/ws/a", "/ws/a", D, REASON_ABSOLUTE },
		{ OP_READ, "/ws/a", "/ws/a", D, REASON_ABSOLUTE },
		{ OP_READ, "a/../b", "/ws/b", D, REASON_TRAVERSAL },
		{ OP_READ, "..", "/", D, REASON_TRAVERSAL },
		{ OP_READ, "/usr/lib/x", "/usr/lib/x", A, REASON_RULE },
		{ OP_WRITE, "/usr/lib/x", "/usr/lib/x", D, REASON_OUTSIDE },
		{ OP_WRITE, "/dev/null", "/dev/null", A, REASON_RULE },
		{ OP_READ, "/etc/x", "/etc/x", D, REASON_ABSOLUTE },
		{ OP_READ, NULL, "/etc/x", A, REASON_READABLE },
		{ OP_WRITE, "/tmp/x", "/tmp/x", D, REASON_ABSOLUTE },
	};

	fx.p.s.relative_only = true;
	fixture_rule(&fx, RULE_FILE_SYSTEM, "/usr");
	fixture_rule(&fx, RULE_FILE_SYSTEM, "/dev/null");
	fixture_rule(&fx, RULE_FILE_WRITE, "/dev/null");
	fixture_rule(&fx, RULE_FILE_WRITE, "/tmp");
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request req = { .op = cases[i].op, .path = cases[i].path, .raw = cases[i].raw };
		struct decision d = eval(&fx.img, &req);

		ck_assert_msg(d.verdict == cases[i].verdict && d.reason == cases[i].reason, "%zu: %s", i,
			      fixture_describe(&fx, &d));
	}
}
END_TEST

START_TEST(test_malformed_is_denied)
{
	static char path[LIMIT_PATH + 64];
	static const char *const bad[] = { "relative", "", "/ws/../etc", "/ws/..", NULL };
	struct request req = { .op = OP_WRITE };

	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		req.path = bad[i];
		ck_assert(eval(&fx.img, &req).verdict == VERDICT_DENY);
		ck_assert(eval(&fx.img, &req).reason == REASON_MALFORMED);
	}
	req.path = "/ws/...";
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_ALLOW);
	req.access = 16;
	ck_assert(eval(&fx.img, &req).reason == REASON_MALFORMED);
	req.access = 0;
	req.path = path;
	memset(path, 'a', sizeof(path) - 1);
	memcpy(path, "/ws/", 4);
	ck_assert(eval(&fx.img, &req).reason == REASON_TOO_LONG);
	path[LIMIT_PATH - 1] = '\0';
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_ALLOW);
	for (size_t i = 4; i < LIMIT_PATH - 1; i += 2)
		path[i] = '/';
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_ALLOW);
}
END_TEST

/* More nodes at once than the walk can hold: deny, never forget one. */
START_TEST(test_too_many_active_nodes)
{
	char pat[64];

	for (unsigned i = 0; i < 100; i++) {
		size_t n = 3 + i % 50;

		memset(pat, '?', sizeof(pat));
		memcpy(pat, "/**/", 4);
		pat[4] = i < 50 ? 'a' : '*';
		snprintf(pat + 2 + n, 8, "*/x");
		fixture_rule(&fx, RULE_FILE_WRITE, pat);
	}
	fixture_compile(&fx);
	memset(pat, 'a', sizeof(pat));
	pat[0] = '/';
	pat[sizeof(pat) - 1] = '\0';
	expect(&(struct request){ .op = OP_READ, .path = pat },
	       &(struct want){ OP_READ, NULL, D, REASON_MALFORMED, 0 });
	expect(&(struct request){ .op = OP_READ, .path = "/aa" },
	       &(struct want){ OP_READ, NULL, A, REASON_READABLE, 0 });
}
END_TEST

/* Against a plain reading of the rules, without trie, hashes and filters. */
static bool covers(const char *pat, const char *path, bool *ret_partial)
{
	size_t n, m;

	while (*pat == '/')
		pat++;
	while (*path == '/')
		path++;
	if (*pat == '\0')
		return true;
	n = strcspn(pat, "/");
	m = strcspn(path, "/");
	if (n == 2 && memcmp(pat, "**", 2) == 0) {
		if (pat[n] && covers(pat + n, path, ret_partial))
			return true;
		return m > 0 && (pat[n] == '\0' || covers(pat, path + m, ret_partial));
	}
	if (m == 0)
		return false;
	if (n == 2 && pat[0] == '*') /* `*x`: the only partial glob of the generator */
		return path[m - 1] == pat[1] && covers(pat + n, path + m, ret_partial);
	if (n == 3 && pat[0] == '*')
		return m >= 2 && memcmp(path + m - 2, pat + 1, 2) == 0 &&
		       covers(pat + n, path + m, ret_partial);
	if (!(n == 1 && *pat == '*') && (n != m || memcmp(pat, path, n) != 0))
		return false;
	return covers(pat + n, path + m, ret_partial);
}

static uint32_t seed;
static unsigned pick(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % n;
}

static void make_path(char *buf, size_t size, const char *const *words, unsigned n_words)
{
	size_t len = 0;

	for (unsigned i = 1 + pick(5); i > 0; i--)
		len += (size_t)snprintf(buf + len, size - len, "/%s", words[pick(n_words)]);
}

START_TEST(test_random_against_a_plain_reading)
{
	static const char *const words[] = {
		"a", "b", "c.e", "a", "b", "longer-name-than-8", "longer-name-than-9", "*", "**", "*a", "*.e"
	};
	char path[256];

	seed = 12345u + (uint32_t)_i;
	for (int i = 0; i < 12; i++) {
		make_path(path, sizeof(path), words, 11);
		fixture_rule(&fx, RULE_FILE_DENY, path);
	}
	fixture_compile(&fx);
	for (int i = 0; i < 300; i++) {
		struct request req = { .op = OP_READ, .path = path };
		bool want = false, partial = false;

		make_path(path, sizeof(path), words, 7);
		for (size_t j = 1; j < fx.p.n_rules; j++)
			want |= covers(fx.p.rules[j].pattern, path, &partial);
		ck_assert_msg((eval(&fx.img, &req).verdict == VERDICT_DENY) == want, "%s", path);
	}
}
END_TEST

START_TEST(test_many_rules)
{
	char path[64];

	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/**/name%d", i);
		fixture_rule(&fx, RULE_FILE_DENY, path);
		snprintf(path, sizeof(path), "/**/*.ext%d", i);
		fixture_rule(&fx, RULE_FILE_ASK, path);
		snprintf(path, sizeof(path), "/dir%d/sub", i);
		fixture_rule(&fx, RULE_FILE_WRITE, path);
	}
	fixture_compile(&fx);
	for (unsigned i = 0; i < 3000; i++) {
		struct request req = { .op = OP_READ, .path = path };

		snprintf(path, sizeof(path), "/x/name%u/y", i);
		expect(&req, &(struct want){ OP_READ, NULL, D, REASON_RULE, i * 3 + 1 });
		snprintf(path, sizeof(path), "/x/y.ext%u", i);
		expect(&req, &(struct want){ OP_READ, NULL, Q, REASON_RULE, i * 3 + 2 });
		snprintf(path, sizeof(path), "/dir%u/sub/z", i);
		req.op = OP_DELETE;
		expect(&req, &(struct want){ OP_READ, NULL, A, REASON_RULE, i * 3 + 3 });
	}
}
END_TEST

START_TEST(test_trace_shows_the_beaten)
{
	const struct request req = { .op = OP_READ, .path = "/a/b/c", .given = "/a/b/d" };
	struct decision d;
	struct trace t;

	fixture_rule(&fx, RULE_FILE_DENY, "/a");
	fixture_rule(&fx, RULE_FILE_READ, "/a/b");
	fixture_rule(&fx, RULE_FILE_KEEP, "/a/b/c"); /* says nothing about reading */
	fixture_compile(&fx);
	d = eval_trace(&fx.img, &req, &t);
	ck_assert(d.verdict == VERDICT_ALLOW);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_eq(t.list[0].rule, 2);
	ck_assert_uint_eq(t.list[0].specificity, 8);
	ck_assert(t.list[1].verdict == VERDICT_DENY && t.list[1].rule == 1);
}
END_TEST

START_TEST(test_sockets)
{
	static const struct want w[] = {
		{ OP_UNIX, "/ws/dev.sock", A, REASON_INSIDE, 0 },
		{ OP_UNIX, "/run/docker.sock", D, REASON_UNIX, 0 },
		{ OP_UNIX, "/home/u/.gnupg/S.gpg-agent", A, REASON_RULE, 2 },
		{ OP_UNIX, "/home/u/.gnupg/S.scdaemon", D, REASON_RULE, 1 },
		{ OP_READ, "/home/u/.gnupg/S.gpg-agent", D, REASON_RULE, 1 },
		{ OP_UNIX, "/run/pale/control.sock", D, REASON_SELF, 3 },
		{ OP_UNIX, "/run/user/bus", A, REASON_RULE, 5 },
		{ OP_UNIX, "/run/user/tmux/default", D, REASON_RULE, 6 },
		{ OP_UNIX, "@/tmp/.X11-unix/X0", A, REASON_RULE, 7 },
		{ OP_UNIX, "@dbus", D, REASON_UNIX, 0 },
		{ OP_UNIX, "@", D, REASON_UNIX, 0 },
		{ OP_UNIX, "relative", D, REASON_MALFORMED, 0 },
	};

	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/home/u/.gnupg");
	fixture_rule(&fx, RULE_NET_UNIX, "/home/u/.gnupg/S.gpg-agent");
	fixture_rule(&fx, RULE_FILE_HIDDEN, "/run/pale");
	fixture_rule(&fx, RULE_NET_UNIX, "/run/pale/control.sock");
	fixture_rule(&fx, RULE_NET_UNIX, "/run/user");
	fixture_rule(&fx, RULE_FILE_DENY, "/run/user/tmux");
	fixture_rule(&fx, RULE_NET_UNIX, "@/tmp/.X11-unix/*");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_home)
{
	static const struct want w[] = {
		{ OP_READ, "/home/u/.new", D, REASON_HOME, 1 },
		{ OP_READ, "/home/u/.new/deep", D, REASON_HOME, 1 },
		{ OP_WRITE, "/home/u/.new", D, REASON_OUTSIDE, 0 },
		{ OP_READ, "/home/u/notes", A, REASON_READABLE, 0 },
		{ OP_READ, "/home/u", A, REASON_READABLE, 0 },
		/* opened by what names it, which leads there; of a name's part as well */
		{ OP_READ, "/home/u/.a/bin/x", A, REASON_RULE, 2 },
		{ OP_READ, "/home/u/.a", A, REASON_WAY, 0 },
		{ OP_READ, "/home/u/.a/key", D, REASON_HOME, 1 },
		{ OP_WRITE, "/home/u/.b/x", A, REASON_RULE, 3 },
		{ OP_READ, "/home/u/.json-1", A, REASON_RULE, 4 },
		/* by nobody's word that only tightens, and not against one that denies */
		{ OP_READ, "/home/u/.c/x", D, REASON_HOME, 1 },
		{ OP_READ, "/home/u/.b/no", D, REASON_RULE, 6 },
	};

	fixture_rule(&fx, RULE_FILE_HOME, "/home/u/.*");
	fixture_rule(&fx, RULE_FILE_READONLY, "/home/u/.a/bin");
	fixture_rule(&fx, RULE_FILE_WRITE, "/home/u/.b");
	fixture_rule(&fx, RULE_FILE_READ, "/home/u/.json*");
	fixture_rule(&fx, RULE_FILE_READ, "/home/u/.c")->layer = LAYER_PROJECT;
	fixture_rule(&fx, RULE_FILE_DENY, "/home/u/.b/no");
	EXPECT_ALL(w);
}
END_TEST

TCase *tcase_eval_path_modes(void)
{
	TCase *t = tcase_create("modes");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_mode_read_only);
	tcase_add_test(t, test_mode_none);
	tcase_add_test(t, test_mode_danger);
	tcase_add_test(t, test_both_spellings_count);
	tcase_add_test(t, test_a_link_leads_in);
	tcase_add_test(t, test_relative_only);
	tcase_add_test(t, test_malformed_is_denied);
	tcase_add_test(t, test_too_many_active_nodes);
	tcase_add_loop_test(t, test_random_against_a_plain_reading, 0, 40);
	tcase_add_test(t, test_many_rules);
	tcase_add_test(t, test_trace_shows_the_beaten);
	tcase_add_test(t, test_sockets);
	tcase_add_test(t, test_home);
	return t;
}
