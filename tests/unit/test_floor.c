/* The floor: what is planned for a scratch tree, and what Landlock then really does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor_fixture.h"

Suite *suite_floor(void);

/* --- the plan ------------------------------------------------------------------------------------ */

START_TEST(test_nothing_denied)
{
	rule(RULE_FILE_WRITE, "home/ws");
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/usr"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/pts/0"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/null") & FLOOR_READ, FLOOR_READ);
	ck_assert_uint_eq(grants("home/ws/new/file"), BOTH);
	ck_assert_uint_eq(grants("home/wsx"), FLOOR_READ);
	ck_assert_uint_eq(grants("home"), FLOOR_READ);
}
END_TEST

START_TEST(test_denied_in_the_middle)
{
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_DENY, "home/.ssh");
	rule(RULE_FILE_SENSITIVE, "home/docs/old");
	make_plan();
	ck_assert_uint_eq(grants("home/.ssh"), 0);
	ck_assert_uint_eq(grants("home/.ssh/id"), 0);
	ck_assert_uint_eq(grants("home/docs/a"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/docs/old/x"), 0);
	ck_assert_uint_eq(grants("home/ws/f"), BOTH);
	/* What appears later beside a denied path is the supervisor's. */
	ck_assert_uint_eq(grants("home/new"), 0);
	ck_assert_uint_eq(grants("home/docs/new"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/usr/lib"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/"), 0);
}
END_TEST

START_TEST(test_denied_inside_denied)
{
	rule(RULE_FILE_DENY, "home/docs");
	rule(RULE_FILE_DENY, "home/docs/old");
	make_plan();
	ck_assert_uint_eq(grants("home/docs/a"), 0);
	ck_assert_uint_eq(grants("home/docs/old"), 0);
	ck_assert_uint_eq(grants("home/cache"), FLOOR_READ);
}
END_TEST

START_TEST(test_denied_not_there)
{
	rule(RULE_FILE_DENY, "home/.aws");
	rule(RULE_FILE_DENY, "home/ws/f/below-a-file");
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/usr"), FLOOR_READ);
}
END_TEST

START_TEST(test_patterns_are_no_places)
{
	rule(RULE_FILE_DENY, "home/**/secret");
	rule(RULE_FILE_WRITE, "home/cach*");
	rule(RULE_FILE_WRITE, "home/missing");
	make_plan();
	ck_assert_uint_eq(grants("home/ws/in/secret"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/cache"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/missing"), FLOOR_READ);
}
END_TEST

START_TEST(test_denied_link)
{
	ck_assert_int_eq(symlink(at("home/docs"), at("home/link")), 0);
	ck_assert_int_eq(symlink(at("home/cache"), at("home/ws/out")), 0);
	rule(RULE_FILE_DENY, "home/link");
	rule(RULE_FILE_WRITE, "home/ws/out");
	make_plan();
	ck_assert_uint_eq(grants("home/docs"), 0);
	ck_assert_uint_eq(grants("home/docs/a"), 0);
	ck_assert_uint_eq(grants("home/link"), 0);
	/* A writable root behind a link is its real path's matter, which is a rule of its own. */
	ck_assert_uint_eq(grants("home/cache/x"), FLOOR_READ);
}
END_TEST

START_TEST(test_denied_inside_the_workspace)
{
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_DENY, "home/ws/in/secret");
	make_plan();
	ck_assert_uint_eq(grants("home/ws/in/secret"), 0);
	ck_assert_uint_eq(grants("home/ws/in/plain"), BOTH);
	ck_assert_uint_eq(grants("home/ws/in/deep/new"), BOTH);
	ck_assert_uint_eq(grants("home/ws/f"), BOTH);
	ck_assert_uint_eq(grants("home/ws/in/new"), 0);
}
END_TEST

START_TEST(test_workspace_inside_denied)
{
	rule(RULE_FILE_DENY, "home");
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_READ, "home/docs/old");
	make_plan();
	ck_assert_uint_eq(grants("home"), 0);
	ck_assert_uint_eq(grants("home/docs/a"), 0);
	ck_assert_uint_eq(grants("home/docs/old/x"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/ws/f"), BOTH);
}
END_TEST

START_TEST(test_own_files_are_carved)
{
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_SELF, "home/ws/in");
	rule(RULE_FILE_HIDDEN, "home/ws/f");
	make_plan();
	ck_assert_uint_eq(grants("home/ws/in/plain"), FLOOR_READ);
	ck_assert_uint_eq(grants("home/ws/f"), 0);
}
END_TEST

START_TEST(test_finer_rules_bound_nothing)
{
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_READONLY, "home/ws/in");
	make_plan();
	ck_assert_uint_eq(grants("home/ws/in/plain"), BOTH);
}
END_TEST

START_TEST(test_mode_read_only)
{
	fx.p.s.mode = MODE_READ_ONLY;
	rule(RULE_FILE_WRITE, "home/ws");
	free(fixture_rule(&fx, RULE_FILE_WRITE, "/dev/null")->message);
	make_plan();
	ck_assert_uint_eq(grants("home/ws/f"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/null"), BOTH);
}
END_TEST

START_TEST(test_sensitive_lifted)
{
	fx.p.s.allow_sensitive = true;
	rule(RULE_FILE_SENSITIVE, "home/.ssh");
	make_plan();
	ck_assert_uint_eq(grants("home/.ssh/id"), FLOOR_READ);
}
END_TEST

START_TEST(test_devices_and_proc)
{
	(void)fixture_rule(&fx, RULE_FILE_WRITE, "/dev/ptmx");
	(void)fixture_rule(&fx, RULE_FILE_WRITE, "/dev/full");
	(void)fixture_rule(&fx, RULE_FILE_WRITE, "/proc/1");
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/dev/full"), BOTH);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/ptmx"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/proc/1/comm"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/proc/self/maps"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/proc/uptime"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/proc/sys/kernel/ostype"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/proc/meminfo"), FLOOR_READ);
}
END_TEST

/* What no supervisor is asked about, the floor must not keep. */
START_TEST(test_proc_under_reads_floor)
{
	fx.p.s.reads = READS_FLOOR;
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/proc/1/comm"), FLOOR_READ);
}
END_TEST

START_TEST(test_proc_denied)
{
	(void)fixture_rule(&fx, RULE_FILE_DENY, "/proc");
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/proc/meminfo"), 0);
}
END_TEST

/* Hundreds of entries beside one that is denied: those that are used again and again. */
START_TEST(test_entries_that_are_used)
{
	(void)fixture_rule(&fx, RULE_FILE_DENY, "/etc/shadow");
	make_plan();
	ck_assert_uint_eq(floor_grants(&plan, "/etc/passwd"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/etc/ssl/openssl.cnf"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/etc/debian_version"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/etc/shadow"), 0);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/zero"), FLOOR_READ);
	ck_assert_uint_eq(floor_grants(&plan, "/dev/ptmx"), 0);
}
END_TEST

START_TEST(test_session_directory)
{
	rule(RULE_FILE_HIDDEN, "run");
	make_plan();
	ck_assert_uint_eq(grants("run/s/image"), FLOOR_READ);
	ck_assert_uint_eq(grants("run/s/ring"), 0);
	ck_assert_uint_eq(grants("run/s/agent.sock"), 0);
	ck_assert_uint_eq(grants("run/s"), 0);
}
END_TEST

/* --- the kernel ----------------------------------------------------------------------------------- */

enum probe { PROBE_READ, PROBE_WRITE, PROBE_CREATE, PROBE_LIST, PROBE_TRUNCATE };

/* In the child: 0 or the errno. */
static int probe(enum probe what, const char *name)
{
	static const int flags[] = { [PROBE_READ] = O_RDONLY,
				     [PROBE_WRITE] = O_WRONLY,
				     [PROBE_CREATE] = O_WRONLY | O_CREAT | O_EXCL,
				     [PROBE_LIST] = O_RDONLY | O_DIRECTORY };
	int fd;

	if (what == PROBE_TRUNCATE)
		return truncate(at(name), 0) < 0 ? errno : 0;
	fd = open(at(name), flags[what] | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Forks, puts the floor on at that ABI, and tries: 0, the errno, or 255 where it could not be put on. */
static int inside(int abi, enum probe what, const char *name)
{
	pid_t pid = fork();
	int status, ruleset;

	if (pid == 0) {
		ruleset = landlock_ruleset(&plan, abi);
		if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    landlock_restrict(ruleset) < 0)
			_exit(255);
		_exit(probe(what, name));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(test_kernel_holds_the_plan)
{
	static const struct {
		enum probe what;
		const char *name;
		int error, abi;
	} cases[] = {
		{ PROBE_READ, "home/.ssh/id", EACCES, 1 },    { PROBE_LIST, "home/.ssh", EACCES, 1 },
		{ PROBE_READ, "home/docs/a", 0, 1 },	      { PROBE_WRITE, "home/docs/a", EACCES, 1 },
		{ PROBE_CREATE, "home/docs/new", EACCES, 1 }, { PROBE_CREATE, "home/ws/new", EACCES, 1 },
		{ PROBE_WRITE, "home/ws/f", 0, 1 },	      { PROBE_READ, "home/ws/in/secret", EACCES, 1 },
		{ PROBE_READ, "home/ws/in/plain", 0, 1 },     { PROBE_CREATE, "home/ws/in/deep/new", 0, 1 },
		{ PROBE_TRUNCATE, "home/docs/a", EACCES, 3 }, { PROBE_TRUNCATE, "home/ws/f", 0, 1 },
		{ PROBE_READ, "run/s/image", 0, 1 },	      { PROBE_WRITE, "run/s/image", EACCES, 1 },
		{ PROBE_WRITE, "run/s/ring", EACCES, 1 },     { PROBE_LIST, "home", EACCES, 1 },
	};
	int abi = landlock_abi();

	if (abi == 0)
		return;
	rule(RULE_FILE_WRITE, "home/ws");
	rule(RULE_FILE_DENY, "home/.ssh");
	rule(RULE_FILE_DENY, "home/ws/in/secret");
	rule(RULE_FILE_HIDDEN, "run");
	make_plan();
	for (int a = 1; a <= abi; a++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			int want = a >= cases[i].abi ? cases[i].error : 0;

			if (cases[i].what == PROBE_CREATE)
				(void)unlink(at(cases[i].name));
			ck_assert_msg(inside(a, cases[i].what, cases[i].name) == want,
				      "ABI %d, probe %d of %s", a, cases[i].what, cases[i].name);
		}
}
END_TEST

/* A ruleset that was made before the session had its files. */
START_TEST(test_session_comes_later)
{
	int ruleset, status;
	pid_t pid;

	if (landlock_abi() == 0)
		return;
	rule(RULE_FILE_HIDDEN, "run");
	fixture_compile(&fx);
	ck_assert_int_eq(floor_plan(&fx.img, &plan), 0);
	ck_assert_uint_eq(grants("run/s/image"), 0);
	ruleset = landlock_ruleset(&plan, 1);
	ck_assert_int_ge(ruleset, 0);
	ck_assert_int_eq(floor_add_session(&plan, at("run/s")), 0);
	ck_assert_int_eq(landlock_add(ruleset, &plan, 1), 0);
	ck_assert_uint_eq(grants("run/s/image"), FLOOR_READ);
	ck_assert(floor_lets_read(&plan, at("run/s/image")));
	pid = fork();
	if (pid == 0)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_restrict(ruleset) < 0 ? 255
		      : probe(PROBE_READ, "run/s/image")					   ? 1
		      : probe(PROBE_WRITE, "run/s/ring") != EACCES				   ? 2
		      : probe(PROBE_WRITE, "run/s/image") != EACCES				   ? 3
		      : probe(PROBE_READ, "home/docs/a")					   ? 4
												   : 0);
	close(ruleset);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* An ABI that nobody knows yet counts as the newest that we know, and none at all is told. */
START_TEST(test_abi_limits)
{
	make_plan();
	ck_assert_int_eq(landlock_ruleset(&plan, 0), -EOPNOTSUPP);
	ck_assert_int_le(landlock_abi(), ABI_MAX);
	ck_assert_str_eq(landlock_why(-ENOENT), strerror(ENOENT));
}
END_TEST

START_TEST(test_sixteen_layers)
{
	int status, layers = 0, ruleset, r = 0;
	pid_t pid;

	if (landlock_abi() == 0)
		return;
	make_plan();
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(255);
		for (; r == 0 && layers <= 20; layers++) {
			ruleset = landlock_ruleset(&plan, 1);
			r = ruleset < 0 ? ruleset : landlock_restrict(ruleset);
			close(ruleset);
		}
		_exit(r == -E2BIG ? layers : 255);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	/* The suite itself may run inside some layers. */
	ck_assert_int_le(WEXITSTATUS(status), 17);
	ck_assert_int_ge(WEXITSTATUS(status), 2);
	ck_assert_ptr_nonnull(strstr(landlock_why(-E2BIG), "16 layers"));
}
END_TEST

Suite *suite_floor(void)
{
	const TTest *const tests[] = { test_nothing_denied,
				       test_denied_in_the_middle,
				       test_denied_inside_denied,
				       test_denied_not_there,
				       test_patterns_are_no_places,
				       test_denied_link,
				       test_denied_inside_the_workspace,
				       test_workspace_inside_denied,
				       test_own_files_are_carved,
				       test_finer_rules_bound_nothing,
				       test_mode_read_only,
				       test_sensitive_lifted,
				       test_devices_and_proc,
				       test_proc_under_reads_floor,
				       test_proc_denied,
				       test_entries_that_are_used,
				       test_session_directory,
				       test_kernel_holds_the_plan,
				       test_session_comes_later,
				       test_abi_limits,
				       test_sixteen_layers };
	Suite *s = suite_create("floor");
	TCase *tc = tcase_create("floor");

	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	return s;
}
