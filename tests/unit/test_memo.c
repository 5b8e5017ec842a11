/* A memo changes how fast a path is judged, never how. */
#include <check.h>
#include <stdio.h>

#include "tests/unit/image_fixture.h"

Suite *suite_memo(void);

static struct fixture fx, other;
static uint32_t seed;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void make_path(char *buf, size_t size, const char *const *words, unsigned n_words, unsigned depth)
{
	size_t len = 0;

	for (unsigned i = 0; i < depth; i++)
		len += (size_t)snprintf(buf + len, size - len, "/%s", words[next(n_words)]);
}

static const enum rule_kind kinds[] = { RULE_FILE_WRITE,     RULE_FILE_READ,	 RULE_FILE_DENY,
					RULE_FILE_READONLY,  RULE_FILE_KEEP,	 RULE_FILE_ASK,
					RULE_FILE_ASK_WRITE, RULE_FILE_SENSITIVE };

static void random_policy(struct fixture *f)
{
	static const char *const words[] = { "a", "b", "ws", "x.e", "*", "**", "a*", "*.e", ".git" };
	char path[256];

	fixture_init(f);
	fixture_workspace(f);
	fixture_rule(f, RULE_FILE_WRITE, "/dev");
	/* Where an answer hangs on more than the directory: devices, the argument's spelling. */
	f->p.s.mode = next(3) ? MODE_WORKSPACE_WRITE : MODE_READ_ONLY;
	f->p.s.relative_only = next(3) == 0;
	for (int i = 0; i < 14; i++) {
		make_path(path, sizeof(path), words, 9, 1 + next(4));
		fixture_rule(f, kinds[next(sizeof(kinds) / sizeof(kinds[0]))], path);
	}
	fixture_compile(f);
}

static void setup(void)
{
	random_policy(&fx);
	random_policy(&other);
}

static void teardown(void)
{
	fixture_done(&fx);
	fixture_done(&other);
}

static void expect_same(const struct fixture *f, struct request *req, struct eval_memo *memo)
{
	struct decision with, without;

	req->memo = NULL;
	without = eval(&f->img, req);
	req->memo = memo;
	/* by a walk, by a directory that is known, by the answer for any name there */
	for (int i = 0; i < 3; i++) {
		with = eval(&f->img, req);
		ck_assert_msg(with.verdict == without.verdict && with.reason == without.reason &&
				      with.rule == without.rule,
			      "%s %s: rule %u without a memo, %u with it (%d)", op_name(req->op), req->path,
			      without.rule, with.rule, i);
	}
	for (unsigned i = 0; i < MEMO_WAYS; i++)
		ck_assert_uint_eq(memo[i].seq % 2, 0);
}

/* Operations, images and directories alternate on one memo; few names, so that directories repeat. */
START_TEST(test_random)
{
	static const char *const words[] = { "a",   "b",   "ws", "x.e", "y.e", ".git", "longer-than-eight",
					     "dev", "null" };
	static const enum op ops[] = { OP_READ, OP_WRITE, OP_DELETE, OP_RENAME, OP_UNIX, OP_MKDIR };
	struct eval_memo memo[MEMO_WAYS] = { 0 };
	char path[256], given[256];

	teardown();
	seed = 99u + (uint32_t)_i;
	setup();
	for (int i = 0; i < 4000; i++) {
		struct request req = { .op = ops[next(6)], .path = path };

		req.access = next(2) ? 1 + next(7) : 0;
		make_path(path, sizeof(path), words, 9, 1 + next(5));
		make_path(given, sizeof(given), words, 9, 1 + next(3));
		req.given = next(4) ? NULL : given;
		req.raw = next(2) ? path : "x";
		expect_same(next(8) ? &fx : &other, &req, memo);
	}
}
END_TEST

/* A signal handler in the middle of an evaluation finds the memo taken and leaves it alone. */
START_TEST(test_busy)
{
	struct eval_memo memo[MEMO_WAYS] = { 0 };
	struct request req = { .op = OP_READ, .path = "/ws/a/b", .memo = memo };
	enum verdict v;

	for (unsigned i = 0; i < MEMO_WAYS; i++)
		memo[i].seq = 1;
	v = eval(&fx.img, &req).verdict;
	for (unsigned i = 0; i < MEMO_WAYS; i++) {
		ck_assert_uint_eq(memo[i].seq, 1);
		ck_assert_ptr_null(memo[i].base);
	}
	req.memo = NULL;
	ck_assert_int_eq(v, eval(&fx.img, &req).verdict);
}
END_TEST

/* Directories longer than a memo holds, and shared beginnings. */
START_TEST(test_long_and_alike)
{
	struct eval_memo memo[MEMO_WAYS] = { 0 };
	char path[1024] = "/ws";
	struct request req = { .op = OP_WRITE, .path = path };

	for (int i = 0; i < 100; i++) {
		strcat(path, i % 2 ? "/a" : "/ab");
		expect_same(&fx, &req, memo);
	}
	for (unsigned i = 0; i < MEMO_WAYS; i++)
		ck_assert_uint_le(memo[i].len, sizeof(memo[i].dir));
	strcpy(path, "/");
	expect_same(&fx, &req, memo);
}
END_TEST

/* What is looked for without having been normalised is not found. */
START_TEST(test_spelled_otherwise)
{
	static const char *const odd[] = { "/ws//b", "/ws/./b", "/ws/.", "/ws/..", "/ws/", "ws/b", "" };
	struct eval_memo memo[MEMO_WAYS] = { 0 };
	struct request req = { .op = OP_READ, .path = "/usr/a", .memo = memo };
	struct decision d;

	fixture_done(&fx);
	fixture_init(&fx);
	fixture_workspace(&fx);
	fixture_compile(&fx);
	req.path = "/ws/a";
	ck_assert_int_eq(eval(&fx.img, &req).verdict, VERDICT_ALLOW);
	req.path = "/ws/b";
	ck_assert(eval_leaf(&fx.img, &req, &d));
	ck_assert_int_eq(d.verdict, VERDICT_ALLOW);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		req.path = odd[i];
		ck_assert_msg(!eval_leaf(&fx.img, &req, &d), "%s", odd[i]);
		/* and leaves nothing that could be */
		if (odd[i][0] == '/')
			(void)eval(&fx.img, &req);
		ck_assert_msg(!eval_leaf(&fx.img, &req, &d), "%s", odd[i]);
	}
}
END_TEST

Suite *suite_memo(void)
{
	Suite *s = suite_create("memo");
	TCase *t = tcase_create("memo");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_random, 0, 20);
	tcase_add_test(t, test_busy);
	tcase_add_test(t, test_long_and_alike);
	tcase_add_test(t, test_spelled_otherwise);
	suite_add_tcase(s, t);
	return s;
}
