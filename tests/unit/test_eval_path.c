/* Path rules: who wins, what is covered, globs, ancestors. */
#include <stdio.h>

#include "path_expect.h"

Suite *suite_eval_path(void);
TCase *tcase_eval_path_modes(void); /* test_eval_path_modes.c */

START_TEST(test_no_rule)
{
	static const struct want w[] = {
		{ OP_READ, "/etc/passwd", A, REASON_READABLE, 0 },
		{ OP_READ, "/", A, REASON_READABLE, 0 },
		{ OP_WRITE, "/etc/passwd", D, REASON_OUTSIDE, 0 },
		{ OP_DELETE, "/etc/passwd", D, REASON_OUTSIDE, 0 },
		{ OP_WRITE, "/ws", A, REASON_INSIDE, 0 },
		{ OP_WRITE, "/ws/a/b", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/a/b", A, REASON_INSIDE, 0 },
		{ OP_READ, "/ws/a/b", A, REASON_INSIDE, 0 },
		{ OP_WRITE, "/wsx", D, REASON_OUTSIDE, 0 },
		{ OP_WRITE, "/w", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/ws//a/./b/", A, REASON_INSIDE, 0 },
	};

	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_kinds)
{
	static const struct {
		enum rule_kind kind;
		enum verdict read, write, delete;
	} kinds[] = {
		{ RULE_FILE_WRITE, A, A, A },	  { RULE_FILE_READ, A, D, D },
		{ RULE_FILE_DENY, D, D, D },	  { RULE_FILE_READONLY, A, D, D },
		{ RULE_FILE_KEEP, A, D, D },	  { RULE_FILE_ASK, Q, Q, Q },
		{ RULE_FILE_ASK_WRITE, A, Q, Q }, { RULE_FILE_SENSITIVE, D, D, D },
		{ RULE_FILE_SYSTEM, A, D, D },	  { RULE_FILE_SELF, A, D, D },
		{ RULE_FILE_HIDDEN, D, D, D },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "/k%zu", i);
		fixture_rule(&fx, kinds[i].kind, path);
		snprintf(path, sizeof(path), "/ws/k%zu", i);
		fixture_rule(&fx, kinds[i].kind, path);
	}
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char path[64];
		struct request req = { .path = path };

		snprintf(path, sizeof(path), "/k%zu/below", i);
		req.op = OP_READ;
		ck_assert_msg(eval(&fx.img, &req).verdict == kinds[i].read, "read %s", path);
		req.op = OP_WRITE;
		ck_assert_msg(eval(&fx.img, &req).verdict == kinds[i].write, "write %s", path);
		req.op = OP_DELETE;
		ck_assert_msg(eval(&fx.img, &req).verdict == kinds[i].delete, "delete %s", path);
	}
}
END_TEST

START_TEST(test_inside_the_workspace)
{
	static const struct want w[] = {
		{ OP_WRITE, "/ws/.git/hooks/pre-commit", D, REASON_RULE, 1 },
		{ OP_READ, "/ws/.git/hooks/pre-commit", A, REASON_INSIDE, 0 },
		{ OP_WRITE, "/ws/.git/index", A, REASON_INSIDE, 0 },
		{ OP_WRITE, "/ws/db/x.sqlite", A, REASON_INSIDE, 0 },
		{ OP_DELETE, "/ws/db/x.sqlite", D, REASON_RULE, 2 },
		{ OP_RENAME, "/ws/db/x.sqlite", D, REASON_RULE, 2 },
		{ OP_DELETE, "/ws/db/x.sqlite.bak", A, REASON_INSIDE, 0 },
		{ OP_READ, "/ws/secrets/a", D, REASON_RULE, 3 },
		{ OP_WRITE, "/ws/secrets/public/a", A, REASON_RULE, 4 },
		{ OP_WRITE, "/ws/read/a", A, REASON_INSIDE, 0 },
	};

	fixture_rule(&fx, RULE_FILE_READONLY, "/ws/.git/hooks");
	fixture_rule(&fx, RULE_FILE_KEEP, "/ws/**/*.sqlite");
	fixture_rule(&fx, RULE_FILE_DENY, "/ws/secrets");
	fixture_rule(&fx, RULE_FILE_WRITE, "/ws/secrets/public");
	fixture_rule(&fx, RULE_FILE_READ, "/ws/read");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_the_most_specific_wins)
{
	static const struct want w[] = {
		{ OP_READ, "/a/x", D, REASON_RULE, 1 },	       /* 4 */
		{ OP_READ, "/a/b/x", A, REASON_RULE, 2 },      /* 8 over 4 */
		{ OP_READ, "/a/b/secret", D, REASON_RULE, 3 }, /* 4+1+4 over 8 */
		{ OP_READ, "/a/c/x.pem", D, REASON_RULE, 1 },
		{ OP_READ, "/a/c/d/x.pem", Q, REASON_RULE, 4 }, /* 4+0+4+2 over 4 */
		{ OP_READ, "/a/d/y", Q, REASON_RULE, 5 },	/* 4+2 over 4 */
		{ OP_READ, "/t/x", D, REASON_RULE, 7 },		/* a tie: the strictest */
		{ OP_READ, "/t/u/x", D, REASON_RULE, 7 },
	};

	fixture_rule(&fx, RULE_FILE_DENY, "/a");
	fixture_rule(&fx, RULE_FILE_READ, "/a/b");
	fixture_rule(&fx, RULE_FILE_DENY, "/a/*/secret");
	fixture_rule(&fx, RULE_FILE_ASK, "/a/**/d/*.pem");
	fixture_rule(&fx, RULE_FILE_ASK, "/a/[d-e]");
	fixture_rule(&fx, RULE_FILE_ASK, "/t");
	fixture_rule(&fx, RULE_FILE_DENY, "/t");
	fixture_rule(&fx, RULE_FILE_WRITE, "/t");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_rank_breaks_ties_within_a_layer)
{
	static const struct want w[] = {
		{ OP_READ, "/a", A, REASON_RULE, 2 },
		{ OP_READ, "/b", D, REASON_RULE, 3 },
		{ OP_DELETE, "/a", A, REASON_RULE, 2 },
	};

	fixture_rule(&fx, RULE_FILE_DENY, "/a")->rank = RANK_PRESET;
	fixture_rule(&fx, RULE_FILE_WRITE, "/a");
	fixture_rule(&fx, RULE_FILE_DENY, "/b")->rank = RANK_PROJECT;
	fixture_rule(&fx, RULE_FILE_WRITE, "/b");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_layers_take_the_strictest)
{
	static const struct want w[] = {
		{ OP_READ, "/a/b/c", D, REASON_RULE, 1 },    { OP_READ, "/p/q", D, REASON_RULE, 4 },
		{ OP_WRITE, "/own", D, REASON_OUTSIDE, 0 },  { OP_WRITE, "/granted", A, REASON_RULE, 6 },
		{ OP_READ, "/mine/x/y", Q, REASON_RULE, 7 }, { OP_READ, "/p/q/r", A, REASON_RULE, 3 },
	};

	fixture_rule(&fx, RULE_FILE_DENY, "/a")->layer = LAYER_FLOOR;
	fixture_rule(&fx, RULE_FILE_WRITE, "/a/b/c");
	fixture_rule(&fx, RULE_FILE_READ, "/p");
	fixture_rule(&fx, RULE_FILE_DENY, "/p/q")->layer = LAYER_PROJECT;
	/* an untrusted project opens nothing */
	fixture_rule(&fx, RULE_FILE_WRITE, "/own")->layer = LAYER_PROJECT;
	fixture_rule(&fx, RULE_FILE_WRITE, "/granted")->layer = LAYER_FLOOR;
	fixture_rule(&fx, RULE_FILE_ASK, "/mine");
	fixture_rule(&fx, RULE_FILE_WRITE, "/mine/x")->layer = LAYER_PROJECT;
	/* but may narrow its own narrowing */
	fixture_rule(&fx, RULE_FILE_READ, "/p/q/r")->layer = LAYER_PROJECT;
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_hard_rules_yield_to_nothing)
{
	static const struct want w[] = {
		{ OP_READ, "/home/u/.ssh/known_hosts", D, REASON_RULE, 1 },
		{ OP_READ, "/ws/pale.ini", A, REASON_RULE, 5 },
		{ OP_WRITE, "/ws/pale.ini", D, REASON_SELF, 4 },
		{ OP_READ, "/run/pale/x", D, REASON_SELF, 6 },
	};

	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/home/u/.ssh");
	fixture_rule(&fx, RULE_FILE_WRITE, "/home/u/.ssh/known_hosts");
	fixture_rule(&fx, RULE_FILE_WRITE, "/run/pale/x");
	fixture_rule(&fx, RULE_FILE_SELF, "/ws/pale.ini");
	fixture_rule(&fx, RULE_FILE_WRITE, "/ws/pale.ini");
	fixture_rule(&fx, RULE_FILE_HIDDEN, "/run/pale");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_allow_sensitive_lifts_sensitive_only)
{
	static const struct want w[] = {
		{ OP_READ, "/home/u/.ssh/id", A, REASON_READABLE, 0 },
		{ OP_WRITE, "/home/u/.ssh/id", D, REASON_OUTSIDE, 0 },
		{ OP_READ, "/run/pale/x", D, REASON_SELF, 2 },
	};

	fx.p.s.allow_sensitive = true;
	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/home/u/.ssh");
	fixture_rule(&fx, RULE_FILE_HIDDEN, "/run/pale");
	EXPECT_ALL(w);
}
END_TEST

START_TEST(test_globs)
{
	static const struct want w[] = {
		{ OP_READ, "/x/.env", D, REASON_RULE, 1 },
		{ OP_READ, "/.env", D, REASON_RULE, 1 },
		{ OP_READ, "/x/.env/below", D, REASON_RULE, 1 },
		{ OP_READ, "/x/.environment", A, REASON_READABLE, 0 },
		{ OP_READ, "/a/b/k.pem", D, REASON_RULE, 2 },
		{ OP_READ, "/a/.pem", D, REASON_RULE, 2 },
		{ OP_READ, "/a/k.pem.txt", A, REASON_READABLE, 0 },
		{ OP_READ, "/a/pem", A, REASON_READABLE, 0 },
		{ OP_READ, "/h/u/.cfg", D, REASON_RULE, 3 },
		{ OP_READ, "/h/u/v/.cfg", A, REASON_READABLE, 0 },
		{ OP_READ, "/q/a*b", D, REASON_RULE, 4 },
		{ OP_READ, "/q/axb", A, REASON_READABLE, 0 },
		{ OP_READ, "/s/x.tar.gz", D, REASON_RULE, 5 },
		{ OP_READ, "/s/x.gz", A, REASON_READABLE, 0 },
		{ OP_READ, "/all", A, REASON_READABLE, 0 },
		{ OP_READ, "/all/x", D, REASON_RULE, 6 },
		{ OP_READ, "/all/x/y", D, REASON_RULE, 6 },
		{ OP_READ, "/m/1/2/n/3/o", D, REASON_RULE, 7 },
		{ OP_READ, "/m/n/o", D, REASON_RULE, 7 },
		{ OP_READ, "/m/n/n/n/o", D, REASON_RULE, 7 },
		{ OP_READ, "/m/o/n", A, REASON_READABLE, 0 },
		{ OP_READ, "/keys/id_rsa", D, REASON_RULE, 8 },
		{ OP_READ, "/keys/id", A, REASON_READABLE, 0 },
		{ OP_READ, "/br/[x", D, REASON_RULE, 9 },
	};

	fixture_rule(&fx, RULE_FILE_DENY, "/**/.env");
	fixture_rule(&fx, RULE_FILE_DENY, "/**/*.pem");
	fixture_rule(&fx, RULE_FILE_DENY, "/h/*/.cfg");
	fixture_rule(&fx, RULE_FILE_DENY, "/q/a\\*b");
	fixture_rule(&fx, RULE_FILE_DENY, "/s/*.tar.gz");
	fixture_rule(&fx, RULE_FILE_DENY, "/all/**");
	fixture_rule(&fx, RULE_FILE_DENY, "/m/**/**/n/**/o");
	fixture_rule(&fx, RULE_FILE_DENY, "/keys/id_?*");
	fixture_rule(&fx, RULE_FILE_DENY, "/br/[x");
	EXPECT_ALL(w);
}
END_TEST

/* mv .git .g; mkdir .git (sandbox-runtime#8), without forbidding every rename under a `**` rule
 * (codex#40565).
 */
START_TEST(test_ancestors_stay)
{
	static const struct want w[] = {
		{ OP_RENAME, "/ws/.git", D, REASON_ANCESTOR, 1 },
		{ OP_DELETE, "/ws/.git", D, REASON_ANCESTOR, 1 },
		{ OP_WRITE, "/ws/.git", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws", D, REASON_ANCESTOR, 1 },
		{ OP_RENAME, "/ws/.github", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/src", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/src/deep/er", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/sub/.vscode", D, REASON_ANCESTOR, 3 },
		{ OP_RENAME, "/ws/open", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/lifted", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/pkg", D, REASON_ANCESTOR, 7 },
		{ OP_RENAME, "/ws/pkg/any", A, REASON_INSIDE, 0 },
		{ OP_RENAME, "/ws/pkg/any/etc", D, REASON_ANCESTOR, 7 },
		/* Removing a directory takes nothing along: only the very place a rule names must stay. */
		{ OP_DELETE, "/ws/sub/.vscode", A, REASON_INSIDE, 0 },
		{ OP_DELETE, "/ws/pkg/any/etc", A, REASON_INSIDE, 0 },
		/* Where it is missing no link takes its place, made anew or the second name of one. */
		{ OP_SYMLINK, "/ws/.git", D, REASON_ANCESTOR, 1 },
		{ OP_LINK, "/ws/.git", D, REASON_ANCESTOR, 1 },
		{ OP_MKDIR, "/ws/.git", A, REASON_INSIDE, 0 },
		{ OP_SYMLINK, "/ws/sub/.vscode", A, REASON_INSIDE, 0 },
		{ OP_SYMLINK, "/ws/src", A, REASON_INSIDE, 0 },
	};

	fixture_rule(&fx, RULE_FILE_READONLY, "/ws/.git/hooks");
	fixture_rule(&fx, RULE_FILE_DENY, "/**/.env");
	fixture_rule(&fx, RULE_FILE_READONLY, "/**/.vscode/settings.json");
	fixture_rule(&fx, RULE_FILE_ASK, "/ws/open/asked");
	fixture_rule(&fx, RULE_FILE_DENY, "/ws/lifted/x")->rank = RANK_PRESET;
	fixture_rule(&fx, RULE_FILE_WRITE, "/ws/lifted/x");
	fixture_rule(&fx, RULE_FILE_DENY, "/ws/pkg/*/etc/key");
	EXPECT_ALL(w);
}
END_TEST

/* A rename may also make an ancestor: the new name did not exist, so it is no delete. */
START_TEST(test_rename_onto_an_ancestor)
{
	const struct request req = { .op = OP_RENAME, .access = ACCESS_WRITE, .path = "/ws/.git" };
	const struct want w = { OP_RENAME, NULL, D, REASON_ANCESTOR, 1 };

	fixture_rule(&fx, RULE_FILE_SENSITIVE, "/ws/.git/hooks");
	fixture_compile(&fx);
	expect(&req, &w);
}
END_TEST

/* Where the way to a writable place does not exist yet it may be made; nothing else may be done to it. */
START_TEST(test_the_way_may_be_made)
{
	static const struct want w[] = {
		{ OP_MKDIR, "/home/u/.local", A, REASON_WAY, 0 },
		{ OP_MKDIR, "/home/u/.local/share", A, REASON_WAY, 0 },
		{ OP_MKDIR, "/home/u/.local/share/agent", A, REASON_RULE, 1 },
		{ OP_MKDIR, "/home/u/.local/lib", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/home/u/.local/share/other", D, REASON_OUTSIDE, 0 },
		{ OP_WRITE, "/home/u/.local", D, REASON_OUTSIDE, 0 },
		{ OP_DELETE, "/home/u/.local", D, REASON_OUTSIDE, 0 },
		{ OP_SYMLINK, "/home/u/.local", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/asked", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/like", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/like/any", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/project", D, REASON_OUTSIDE, 0 },
		{ OP_MKDIR, "/kept", D, REASON_RULE, 5 },
		{ OP_MKDIR, "/kept/way", D, REASON_RULE, 5 },
	};

	fixture_rule(&fx, RULE_FILE_WRITE, "/home/u/.local/share/agent");
	fixture_rule(&fx, RULE_FILE_ASK, "/asked/a/b");
	fixture_rule(&fx, RULE_FILE_WRITE, "/like/*/b");
	fixture_rule(&fx, RULE_FILE_WRITE, "/project/a")->layer = LAYER_PROJECT;
	fixture_rule(&fx, RULE_FILE_READONLY, "/kept");
	fixture_rule(&fx, RULE_FILE_WRITE, "/kept/way/there");
	EXPECT_ALL(w);
}
END_TEST

Suite *suite_eval_path(void)
{
	Suite *s = suite_create("eval_path");
	TCase *t = tcase_create("rules");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_no_rule);
	tcase_add_test(t, test_kinds);
	tcase_add_test(t, test_inside_the_workspace);
	tcase_add_test(t, test_the_most_specific_wins);
	tcase_add_test(t, test_rank_breaks_ties_within_a_layer);
	tcase_add_test(t, test_layers_take_the_strictest);
	tcase_add_test(t, test_hard_rules_yield_to_nothing);
	tcase_add_test(t, test_allow_sensitive_lifts_sensitive_only);
	tcase_add_test(t, test_globs);
	tcase_add_test(t, test_ancestors_stay);
	tcase_add_test(t, test_rename_onto_an_ancestor);
	tcase_add_test(t, test_the_way_may_be_made);
	suite_add_tcase(s, t);
	suite_add_tcase(s, tcase_eval_path_modes());
	return s;
}
