/* Commands under modes, layers of trust and hostile input; argv as one line. */
#include "policy/command/argv.h"
#include "test_cmd.h"

TCase *tcase_cmd_modes(void);

START_TEST(test_modes)
{
	const char *argv[] = { "git", "clone", "x", NULL }, *url[] = { "foo", "--to=HTTPS://x", NULL };
	struct request req = { .op = OP_EXEC, .path = "/usr/bin/git", .argv = argv, .argc = 3 };
	struct fixture f;
	struct decision d;

	fixture_init(&f);
	f.p.s.network = NETWORK_OFF;
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_OFFLINE);
	ck_assert_int_eq(judge(&f, "curl example.org").reason, REASON_OFFLINE);
	ck_assert_int_eq(judge(&f, "env A=b timeout 3 nc -l 80").reason, REASON_OFFLINE);
	ck_assert_int_eq(judge(&f, "busybox wget example.org").reason, REASON_OFFLINE);
	ck_assert_int_eq(judge(&f, "curlew x").verdict, VERDICT_ALLOW);
	req.is_root = true;
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_ALLOW);
	req = (struct request){ .op = OP_EXEC, .path = "/bin/foo", .argv = url, .argc = 2 };
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_URL);
	free(f.bytes);

	f.p.s.network = NETWORK_MERGE;
	f.p.s.mode = MODE_READ_ONLY;
	fixture_rule(&f, RULE_CMD_ALLOW, "ls");
	fixture_compile(&f);
	ck_assert_int_eq(judge(&f, "ls").reason, REASON_CHILDREN);
	free(f.bytes);
	f.p.s.children_in_ro = true;
	fixture_compile(&f);
	ck_assert_int_eq(judge(&f, "ls").verdict, VERDICT_ALLOW);
	ck_assert_int_eq(judge(&f, "make").verdict, VERDICT_DENY);
	ck_assert_int_eq(judge(&f, "make").reason, REASON_READONLY);
	fixture_done(&f);
}
END_TEST

START_TEST(test_operator)
{
	const char *argv[] = { "curl", NULL };
	struct request req = {
		.op = OP_EXEC, .path = "/usr/bin/curl", .argv = argv, .argc = 1, .is_root = true
	};
	struct fixture f;
	struct decision d;

	fixture_init(&f);
	f.p.s.cmd_default = VERDICT_DENY;
	fixture_rule(&f, RULE_CMD_ASK, "wget");
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_ALLOW);
	ck_assert_int_eq(d.reason, REASON_OPERATOR);
	free(f.bytes);
	fixture_rule(&f, RULE_CMD_DENYLIST, "curl");
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_DENY);
	free(f.bytes);
	f.p.s.allow_denylisted = true;
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_ALLOW);
	fixture_done(&f);
}
END_TEST

START_TEST(test_hostile_argv)
{
	static const char *many[LIMIT_ARGC + 2];
	struct request req = { .op = OP_EXEC, .path = "/bin/x", .argv = many, .argc = LIMIT_ARGC + 1 };
	struct fixture f;
	struct decision d;
	char *big = malloc(LIMIT_ARGV + 1);

	fixture_init(&f);
	fixture_compile(&f);
	for (size_t i = 0; i <= LIMIT_ARGC; i++)
		many[i] = "a";
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_TOO_LONG);
	memset(big, 'a', LIMIT_ARGV);
	big[LIMIT_ARGV] = '\0';
	many[1] = big;
	req.argc = 2;
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_TOO_LONG);
	req.argc = 0;
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_MALFORMED);
	many[1] = NULL;
	req.argc = 2;
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.reason, REASON_MALFORMED);
	free(big);
	fixture_done(&f);
}
END_TEST

START_TEST(test_identity)
{
	const char *argv[] = { "x", "push", NULL };
	struct request req = { .op = OP_EXEC, .path = "/ws/x", .argv = argv, .argc = 2, .ident = "git" };
	struct fixture f;
	struct decision d;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push");
	fixture_compile(&f);
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_DENY);
	req.ident = NULL;
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_ALLOW);
	argv[0] = "git";
	eval_command(&f.img, &req, &d, NULL);
	ck_assert_int_eq(d.verdict, VERDICT_DENY);
	fixture_done(&f);
}
END_TEST

/* Corrupts every byte of the section in turn: the reader may judge as it likes, but not crash. */
START_TEST(test_hostile_section)
{
	struct fixture f;
	size_t len;

	fixture_init(&f);
	fixture_rule(&f, RULE_CMD_DENY, "git push -f (main|master) ... $");
	fixture_rule(&f, RULE_CMD_ALLOW, "mkfs.* if= --x=y");
	fixture_compile(&f);
	(void)image_sec(&f.img, SEC_CMD, &len);
	for (size_t i = 0; i < len; i++) {
		uint8_t *p = f.bytes + f.img.h->sec[SEC_CMD].off + i, old = *p;

		for (unsigned v = 1; v < 256; v += 63) {
			*p = (uint8_t)(old + v);
			(void)judge(&f, "git push -f main x");
			(void)judge(&f, "mkfs.ext4 if=x --x=y");
		}
		*p = old;
	}
	fixture_done(&f);
}
END_TEST

START_TEST(test_join)
{
	const char *argv[] = { "git", "commit", "-m", "it's me", "", "a=b", NULL };
	char buf[64], small[8];

	ck_assert_uint_eq(argv_join(argv, 6, buf, sizeof(buf)), 33);
	ck_assert_str_eq(buf, "git commit -m 'it'\\''s me' '' a=b");
	ck_assert_uint_eq(argv_join(argv, 6, small, sizeof(small)), 33);
	ck_assert_str_eq(small, "git com");
	ck_assert_uint_eq(argv_join(argv, 6, NULL, 0), 33);
}
END_TEST

TCase *tcase_cmd_modes(void)
{
	TCase *t = tcase_create("modes");

	tcase_add_test(t, test_modes);
	tcase_add_test(t, test_operator);
	tcase_add_test(t, test_hostile_argv);
	tcase_add_test(t, test_identity);
	tcase_add_test(t, test_hostile_section);
	tcase_add_test(t, test_join);
	return t;
}
