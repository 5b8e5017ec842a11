/* What the policy keeps from being read: whether the floor holds it, and what appears in its gaps. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/floor_fixture.h"
#include "tools/supervisor/open/gaps.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/wall/floor.h"

Suite *suite_floor_reads(void);

START_TEST(test_holds_what_it_bars)
{
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_SENSITIVE, "home/.ssh");
	rule(RULE_FILE_DENY, "home/ws/in/secret");
	rule(RULE_FILE_HIDDEN, "run");
	rule(RULE_FILE_READONLY, "home/ws/in/deep");
	make_plan();
	ck_assert(plan.holds_reads);
	ck_assert_uint_eq(plan.n_gaps, 0);
	/* Of the image and the plan alone: without the rule that bars it no more. */
	for (size_t i = 0; i < plan.n; i++)
		if (strcmp(plan.list[i].path, at("home/docs")) == 0)
			strcpy(plan.list[i].path, at("home/.ssh"));
	floor_sort(&plan);
	ck_assert(!floor_holds_reads(&fx.img, &plan));
}
END_TEST

START_TEST(test_holds_no_deep_pattern)
{
	rule(RULE_FILE_DENY, "home/**/secret");
	make_plan();
	ck_assert(!plan.holds_reads);
}
END_TEST

START_TEST(test_holds_no_pattern_on_the_way)
{
	rule(RULE_FILE_DENY, "home/*/secret");
	make_plan();
	ck_assert(!plan.holds_reads);
}
END_TEST

START_TEST(test_pattern_of_one_directory)
{
	rule(RULE_FILE_DENY, "home/docs/*d");
	make_plan();
	ck_assert(plan.holds_reads);
	ck_assert_uint_eq(grants("home/docs/old/x"), 0);
	ck_assert_uint_eq(grants("home/docs/a"), FLOOR_READ);
	/* The directory is granted by its children, so what appears in it is not. */
	ck_assert_uint_eq(plan.n_gaps, 0);
}
END_TEST

/* Granted is what is open, so that nothing which comes later is; where nothing closed is there yet, too. */
START_TEST(test_home)
{
	make_dir("home/.tool");
	make_dir("home/.tool/bin");
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_READONLY, "home/.tool/bin");
	rule(RULE_FILE_HOME, "home/.*");
	rule(RULE_FILE_HOME, "run/.*");
	make_plan();
	ck_assert_uint_eq(grants("home"), 0);
	ck_assert_uint_eq(grants("home/.new"), 0);
	ck_assert_uint_eq(grants("home/.ssh/id"), 0);
	ck_assert_uint_eq(grants("home/.tool/key"), 0);
	ck_assert_uint_eq(grants("home/.tool/bin/x"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/docs/a"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/ws/new"), BOTH);
	ck_assert_uint_eq(grants("run/.later"), 0);
	ck_assert(plan.holds_reads);
	ck_assert_uint_eq(plan.n_gaps, 0);
}
END_TEST

START_TEST(test_gaps)
{
	rule(RULE_FILE_DENY, "home/docs/*.kdbx");
	rule(RULE_FILE_SENSITIVE, "home/cache/browser/cookies");
	rule(RULE_FILE_ASK, "home/ws/.npmrc");
	make_plan();
	ck_assert(plan.holds_reads);
	ck_assert_uint_eq(plan.n_gaps, 3);
	plan.n_gaps--;
	ck_assert(!floor_holds_reads(&fx.img, &plan));
	plan.n_gaps++;
}
END_TEST

/* What must be asked stands open, since what is allowed by a human then is the kernel's to read. */
START_TEST(test_holds_no_question)
{
	rule(RULE_FILE_ASK, "home/ws/f");
	make_plan();
	ck_assert(!plan.holds_reads);
}
END_TEST

START_TEST(test_holds_what_nobody_denies)
{
	(void)fixture_rule(&fx, RULE_FILE_READ, at("home/docs"));
	rule(RULE_FILE_DENY, "home/docs");
	fx.p.rules[fx.p.n_rules - 1].rank = RANK_PRESET;
	make_plan();
	ck_assert_uint_eq(grants("home/docs/a"), FLOOR_READ);
	ck_assert(plan.holds_reads);
}
END_TEST

START_TEST(test_holds_no_words)
{
	fx.p.s.relative_only = true;
	make_plan();
	ck_assert(!plan.holds_reads);
}
END_TEST

/* Each place is looked at once, and none below what is missing: so the second answer is the first one. */
START_TEST(test_looked_at_once)
{
	struct floor_walk w = { .n = 0 };

	ck_assert_int_eq(floor_look(&w, "/"), 0);
	ck_assert_int_eq(floor_look(&w, at("home/docs/a")), 0);
	ck_assert_int_eq(floor_look(&w, at("home/docs/a/b")), -ENOENT);
	ck_assert_int_eq(floor_look(&w, at("home/none/of/it")), -ENOENT);
	ck_assert_int_eq(symlink("docs", at("home/link")), 0);
	ck_assert_int_eq(floor_look(&w, at("home/link")), -ELOOP);
	ck_assert_int_eq(floor_look(&w, at("home/link/a")), -ELOOP);
	make_dir("home/none");
	ck_assert_int_eq(floor_look(&w, at("home/none/else")), -ENOENT);
	ck_assert_int_eq(floor_look(&w, at("home/none")), -ENOENT);
	ck_assert_int_eq(unlink(at("home/docs/a")), 0);
	ck_assert_int_eq(floor_look(&w, at("home/docs/a")), 0);
	looks_done(&w);
	ck_assert_int_eq(floor_look(&w, at("home/docs/a")), -ENOENT);
	ck_assert_int_eq(floor_look(&w, at("home/none")), 0);
	looks_done(&w);
}
END_TEST

START_TEST(test_listed_once)
{
	struct floor_walk w = { .n = 0 };
	const char *names = floor_list(&w, at("home/docs"));
	char name[32];
	int n = 0;

	for (; *names; names += strlen(names) + 1)
		n++;
	ck_assert_int_eq(n, 4); /* ".", "..", "a", "old" */
	names = floor_list(&w, at("home/docs"));
	make_file("home/docs/b");
	ck_assert_ptr_eq(floor_list(&w, at("home/docs")), names);
	ck_assert_str_eq(floor_list(&w, at("home/none")), "");
	ck_assert_ptr_null(floor_list(&w, at("home/docs/a")));
	for (int i = 0; i < LISTINGS_MAX; i++) {
		snprintf(name, sizeof(name), "home/no%d", i);
		(void)floor_list(&w, at(name));
	}
	ck_assert_ptr_null(floor_list(&w, at("home/ws")));
	looks_done(&w);
}
END_TEST

/* In more directories than are remembered. */
START_TEST(test_patterns_of_many_directories)
{
	char name[48];

	for (int i = 0; i < LISTINGS_MAX + 4; i++) {
		snprintf(name, sizeof(name), "home/d%d", i);
		make_dir(name);
		snprintf(name, sizeof(name), "home/d%d/x_key", i);
		make_file(name);
		snprintf(name, sizeof(name), "home/d%d/*_key", i);
		rule(RULE_FILE_DENY, name);
	}
	make_plan();
	for (int i = 0; i < LISTINGS_MAX + 4; i++) {
		snprintf(name, sizeof(name), "home/d%d/x_key", i);
		ck_assert_uint_eq(grants(name), 0);
	}
	ck_assert(plan.holds_reads);
}
END_TEST

/* More places than are remembered. */
START_TEST(test_looked_at_many)
{
	struct floor_walk w = { .n = 0 };
	char name[32];

	for (int i = 0; i < 4 * LOOKS_MAX; i++) {
		snprintf(name, sizeof(name), "home/no%d", i);
		ck_assert_int_eq(floor_look(&w, at(name)), -ENOENT);
	}
	ck_assert_int_eq(floor_look(&w, at("home/docs/a")), 0);
	looks_done(&w);
}
END_TEST

static int never(const char *full, void *arg)
{
	(void)full;
	(void)arg;
	return 0;
}

/* 0 where a list that breaks off is no list to anybody. */
static int look_at_what_breaks_off(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getdents64, 0, 1),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct floor_walk w = { .n = 0 };

	if (!floor_list(&w, at("home/docs")) || floor_each_match(at("home/docs/*"), never, NULL) != 0)
		return 1;
	looks_done(&w);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return 2;
	if (floor_list(&w, at("home/docs")))
		return 3;
	return floor_each_match(at("home/docs/*"), never, NULL) == FLOOR_NO_LIST ? 0 : 4;
}

START_TEST(test_a_list_that_breaks_off)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(look_at_what_breaks_off());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* A rule holds for the object that was there. */
START_TEST(test_lets_read)
{
	int ruleset;

	rule(RULE_FILE_DENY, "home/.ssh");
	make_plan();
	ck_assert(!floor_lets_read(&plan, "/usr/lib"));
	if (landlock_abi() == 0)
		return;
	ruleset = landlock_ruleset(&plan, 1);
	ck_assert_int_ge(ruleset, 0);
	close(ruleset);
	ck_assert(floor_lets_read(&plan, "/usr/lib"));
	ck_assert(floor_lets_read(&plan, at("home/docs/a")));
	ck_assert(floor_lets_read(&plan, at("home/docs")));
	ck_assert(!floor_lets_read(&plan, at("home/.ssh/id")));
	ck_assert(!floor_lets_read(&plan, at("home/new")));
	ck_assert_int_eq(rename(at("home/docs"), at("home/moved")), 0);
	make_dir("home/docs");
	ck_assert(!floor_lets_read(&plan, at("home/docs/a")));
	ck_assert(!floor_lets_read(&plan, at("home/moved/a")));
}
END_TEST

/* --- the gaps --------------------------------------------------------------------------------------- */

static struct supervisor_setup session;
static struct supervisor *sup;

static void watch(enum level level)
{
	make_plan();
	session = (struct supervisor_setup){ .level = level, .image = &fx.img, .floor = &plan };
	sup = calloc(1, sizeof(*sup));
	ck_assert_ptr_nonnull(sup);
	sup->setup = &session;
	ck_assert_int_eq(gaps_new(sup), 0);
}

static void unwatch(void)
{
	gaps_done(sup);
	free(sup);
}

START_TEST(test_what_appears_ends_it)
{
	rule(RULE_FILE_SENSITIVE, "home/cache/a/b/c");
	rule(RULE_FILE_DENY, "home/docs/*.kdbx");
	rule(RULE_FILE_DENY, "home/ws/in/late");
	watch(LEVEL_FULL);
	ck_assert(gaps_hold(sup));
	make_file("home/ws/in/other");
	make_file("home/docs/harmless");
	make_dir("home/cache/a");
	make_dir("home/cache/a/b");
	ck_assert(gaps_hold(sup));
	make_file("home/cache/a/b/c");
	ck_assert(!gaps_hold(sup));
	/* For good: who opened it holds it still. */
	ck_assert_int_eq(unlink(at("home/cache/a/b/c")), 0);
	ck_assert(!gaps_hold(sup));
	unwatch();
}
END_TEST

/* A whole directory that comes by rename, with the denied in it; one event tells. */
START_TEST(test_what_is_moved_there_ends_it)
{
	rule(RULE_FILE_SENSITIVE, "home/cache/a/b");
	watch(LEVEL_FULL);
	make_dir("home/ws/new");
	make_dir("home/ws/new/b");
	ck_assert(gaps_hold(sup));
	ck_assert_int_eq(rename(at("home/ws/new"), at("home/cache/a")), 0);
	ck_assert(!gaps_hold(sup));
	unwatch();
}
END_TEST

START_TEST(test_pattern_that_appears_ends_it)
{
	rule(RULE_FILE_DENY, "home/docs/*.kdbx");
	watch(LEVEL_FULL);
	make_file("home/docs/my.kdb");
	ck_assert(gaps_hold(sup));
	make_file("home/docs/my.kdbx");
	ck_assert(!gaps_hold(sup));
	unwatch();
}
END_TEST

/* Between plan and watch. */
START_TEST(test_what_came_before_the_watch)
{
	rule(RULE_FILE_DENY, "home/docs/late");
	watch(LEVEL_FULL);
	gaps_done(sup);
	make_file("home/docs/late");
	ck_assert_int_eq(gaps_new(sup), 0);
	ck_assert(!gaps_hold(sup));
	unwatch();
}
END_TEST

START_TEST(test_strict_needs_none)
{
	watch(LEVEL_STRICT);
	ck_assert(!gaps_hold(sup));
	unwatch();
}
END_TEST

Suite *suite_floor_reads(void)
{
	const TTest *const tests[] = { test_holds_what_it_bars,
				       test_holds_no_deep_pattern,
				       test_holds_no_pattern_on_the_way,
				       test_pattern_of_one_directory,
				       test_home,
				       test_gaps,
				       test_holds_no_question,
				       test_holds_what_nobody_denies,
				       test_holds_no_words,
				       test_looked_at_once,
				       test_looked_at_many,
				       test_listed_once,
				       test_patterns_of_many_directories,
				       test_a_list_that_breaks_off,
				       test_lets_read,
				       test_what_appears_ends_it,
				       test_what_is_moved_there_ends_it,
				       test_pattern_that_appears_ends_it,
				       test_what_came_before_the_watch,
				       test_strict_needs_none };
	Suite *s = suite_create("floor_reads");
	TCase *tc = tcase_create("floor_reads");

	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	return s;
}
