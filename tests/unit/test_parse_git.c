/*
 * What the policy says by itself of a repository that lies elsewhere than the workspace.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"

#include "parse_fixture.h"

Suite *suite_parse_git(void);

static int parse(const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "policy.ini", text, strlen(text)), 0);
	return policy_parse(&b, &p, &d);
}

/* What git writes of a repository elsewhere, unless a file has a word against it. */
START_TEST(worktrees_repository)
{
	static const struct {
		const char *rules;
		bool open;
	} rows[] = {
		{ "", true },
		{ "write = /r\nread = /r/.git\n", true },
		{ "deny = **/refs\nreadonly = /r/.git/hooks\n", true },
		{ "deny = /r/.git/refs/heads\n", true },
		{ "readonly = /r\n", false },
		{ "deny = /r/.git/refs\n", false },
		{ "ask = /*/.git\n", false },
		{ "keep = /**/ref?\n", false },
	};
	char text[256];

	ck_assert_int_eq(bundle_add_git_write(&b, "/r/.git/refs"), 0);
	ck_assert_int_eq(bundle_add_git_keep(&b, "/r/.git/worktrees/w/gitdir"), 0);
	snprintf(text, sizeof(text), "[files]\n%s", rows[_i].rules);
	ck_assert_int_eq(parse(text), 0);
	ck_assert_int_eq(find_rule(RULE_FILE_WRITE, "/r/.git/refs") != NULL, rows[_i].open);
	if (_i == 0)
		ck_assert_int_eq(find_rule(RULE_FILE_READONLY, "/r/.git/worktrees/w/gitdir")->rank,
				 RANK_PRESET);
}
END_TEST

/* Its configuration is opened to a look, unless a file has a word on it, for or against. */
START_TEST(worktrees_configuration)
{
	static const char *const rules[] = { "", "[files]\nwrite = /q\n", "[files]\nwrite = /r\n",
					     "[files]\nreadonly = /r/.git/config\n",
					     "[files]\nask = /r/**\n" };
	const struct rule *r;

	ck_assert_int_eq(bundle_add_git_write(&b, "/r/.git/config"), 0);
	ck_assert_int_eq(parse(rules[_i]), 0);
	r = find_rule(RULE_FILE_WRITE, "/r/.git/config");
	ck_assert_int_eq(r != NULL, _i < 2);
	ck_assert(!r || r->rank == RANK_BUILTIN);
}
END_TEST

static void trunk(const char *own, const char *common, const char *head)
{
	b.git_own = strdup(own);
	b.git_common = strdup(common);
	b.git_head = strdup(head);
	ck_assert_int_eq(bundle_add_git_trunk(&b, "main"), 0);
	ck_assert_int_eq(bundle_add_git_trunk(&b, "r/1"), 0);
	ck_assert_int_eq(bundle_add_git_trunk(&b, "other"), 0);
}

/* Those that are there and protected stay; the one that the session begins on is looked at, and does not go.
 */
START_TEST(branches_are_files)
{
	trunk("/r/.git/worktrees/w", "/r/.git", "main");
	ck_assert_int_eq(parse("[git]\nprotect = refs/heads/main\nprotect = r/*\nprotect = absent\n"), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_KEEP, "/r/.git/refs/heads/main"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_GIT, "/r/.git/refs/heads/main"));
	ck_assert_ptr_null(find_rule(RULE_FILE_READONLY, "/r/.git/refs/heads/main"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_READONLY, "/r/.git/refs/heads/r/1"));
	ck_assert_ptr_null(find_rule(RULE_FILE_READONLY, "/r/.git/refs/heads/other"));
	ck_assert_ptr_null(find_rule(RULE_FILE_READONLY, "/r/.git/refs/heads/absent"));
	/* and where they lie is not chosen anew */
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_READONLY, "/home/u/ws/.git"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_READONLY, "/r/.git/worktrees/w/commondir"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_GIT, "/**/index"));
}
END_TEST

START_TEST(branches_lie_in_the_workspace)
{
	trunk("/home/u/ws/.git", "/home/u/ws/.git", "topic");
	ck_assert_int_eq(parse("[git]\nprotect = main\n"), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_READONLY, "/home/u/ws/.git/refs/heads/main"));
	ck_assert_ptr_nonnull(find_rule(RULE_FILE_READONLY, "/home/u/ws/.git/commondir"));
	ck_assert_ptr_null(find_rule(RULE_FILE_READONLY, "/home/u/ws/.git"));
}
END_TEST

/* Where a name of those has no room any more, none of them goes unguarded in silence. */
START_TEST(no_branches_lie_too_deep)
{
	char *deep = calloc(1, LIMIT_PATH);

	memset(deep, 'r', LIMIT_PATH - 8);
	deep[0] = '/';
	trunk("/r", deep, "topic");
	free(deep);
	ck_assert_int_eq(parse("[git]\nprotect = main\n"), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "bad-path");
}
END_TEST

/* Only the user's own policy opens a branch that the preset protects; one that the project protects stays
 * protected. */
START_TEST(unprotected)
{
	static const char open[] = "[git]\nunprotect = main\nprotect = x\n",
			  *const project = "[git]\nprotect = main\n";

	trunk("/home/u/ws/.git", "/home/u/ws/.git", "topic");
	ck_assert_int_eq(parse(open), 0);
	ck_assert_ptr_null(find_rule(RULE_BRANCH, "main"));
	ck_assert_ptr_null(find_rule(RULE_FILE_READONLY, "/home/u/ws/.git/refs/heads/main"));
	ck_assert_ptr_nonnull(find_rule(RULE_BRANCH, "master"));
	ck_assert_ptr_nonnull(find_rule(RULE_BRANCH, "x"));
	ck_assert_uint_eq(d.n, 0);
	policy_done(&p);
	policy_init(&p);
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_PROJECT, "p.ini", project, strlen(project)), 0);
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_BRANCH, "main"));
}
END_TEST

START_TEST(unprotected_by_others)
{
	static const enum source_layer layers[] = { SOURCE_FLOOR, SOURCE_PRESET, SOURCE_PROJECT,
						    SOURCE_PROJECT_TRUSTED, SOURCE_AGENT };
	static const char open[] = "[git]\nunprotect = main\n";

	ck_assert_int_eq(bundle_add_source(&b, layers[_i], "p.ini", open, strlen(open)), 0);
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "unprotect");
}
END_TEST

/* `unprotect` must repeat the preset's pattern exactly; one that opens nothing gets a warning. */
START_TEST(unprotected_in_vain)
{
	ck_assert_int_eq(parse("[git]\nunprotect = ma*\n"), 0);
	ck_assert_ptr_nonnull(find_rule(RULE_BRANCH, "main"));
	ck_assert_uint_eq(d.n, 1);
	ck_assert_str_eq(d.list[0].code, "unprotect");
}
END_TEST

START_TEST(no_worktrees_repository_in_read_only)
{
	ck_assert_int_eq(bundle_add_git_write(&b, "/r/.git/refs"), 0);
	ck_assert_int_eq(parse("[session]\nmode = read-only\n"), 0);
	ck_assert_ptr_null(find_rule(RULE_FILE_WRITE, "/r/.git/refs"));
}
END_TEST

Suite *suite_parse_git(void)
{
	Suite *s = suite_create("parse_git");
	TCase *tc = tcase_create("elsewhere");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, worktrees_repository, 0, 8);
	tcase_add_loop_test(tc, worktrees_configuration, 0, 5);
	tcase_add_test(tc, branches_are_files);
	tcase_add_test(tc, branches_lie_in_the_workspace);
	tcase_add_test(tc, no_branches_lie_too_deep);
	tcase_add_test(tc, no_worktrees_repository_in_read_only);
	tcase_add_test(tc, unprotected);
	tcase_add_loop_test(tc, unprotected_by_others, 0, 5);
	tcase_add_test(tc, unprotected_in_vain);
	suite_add_tcase(s, tc);
	return s;
}
