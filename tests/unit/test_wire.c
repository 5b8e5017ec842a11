/* The wire's codec: what goes in comes out; nothing else is taken. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "policy/wire/wire.h"

Suite *suite_wire(void);

static uint8_t frame[LIMIT_FRAME];
static struct wire_ask ask;

static struct request sample(void)
{
	static const char *const argv[] = { "npm", "publish", "--tag", "a b", NULL };
	struct request r = { .op = OP_EXEC, .access = 0, .path = "/usr/bin/npm", .given = "/bin/npm" };

	r.argv = argv;
	r.argc = 4;
	r.cwd = "/w";
	r.loads = "/usr/bin/git";
	r.loads_ident = "git";
	r.is_root = true;
	r.is_datagram = r.is_here = true;
	return r;
}

START_TEST(ask_round_trip)
{
	struct request r = sample();
	int n = wire_put_ask(frame, sizeof(frame), &r, 7, 3, 42);

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(wire_get_ask(frame, (size_t)n, &ask), 0);
	ck_assert_int_eq(ask.req.op, OP_EXEC);
	ck_assert_uint_eq(ask.rule, 7);
	ck_assert_int_eq(ask.pid, 42);
	ck_assert(ask.req.is_root);
	ck_assert(ask.req.is_datagram && ask.req.is_here);
	ck_assert_str_eq(ask.req.path, "/usr/bin/npm");
	ck_assert_str_eq(ask.req.given, "/bin/npm");
	ck_assert_ptr_null(ask.req.raw);
	ck_assert_ptr_null(ask.req.host);
	ck_assert_str_eq(ask.req.loads, "/usr/bin/git");
	ck_assert_str_eq(ask.req.loads_ident, "git");
	ck_assert_uint_eq(ask.req.argc, 4);
	ck_assert_str_eq(ask.req.argv[3], "a b");
	ck_assert_ptr_null(ask.req.argv[4]);
}
END_TEST

START_TEST(connect_round_trip)
{
	struct request r = { .op = OP_CONNECT, .host = "example.org", .port = 443, .has_addr = true };
	int n;

	r.addr[15] = 9;
	n = wire_put_ask(frame, sizeof(frame), &r, RULE_NONE, 0, 1);
	ck_assert_int_eq(wire_get_ask(frame, (size_t)n, &ask), 0);
	ck_assert_uint_eq(ask.req.port, 443);
	ck_assert_str_eq(ask.req.host, "example.org");
	ck_assert(ask.req.has_addr);
	ck_assert_uint_eq(ask.req.addr[15], 9);
	ck_assert_ptr_null(ask.req.argv);
}
END_TEST

START_TEST(every_cut_is_refused)
{
	struct request r = sample();
	int n = wire_put_ask(frame, sizeof(frame), &r, 7, 3, 42);

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(wire_get_ask(frame, (size_t)i, &ask), -EPROTO);
	frame[n] = 0;
	ck_assert_int_eq(wire_get_ask(frame, (size_t)n + 1, &ask), -EPROTO);
}
END_TEST

/* A flipped bit is refused or is another valid question, never a crash or an unbounded string. */
START_TEST(every_flip_is_bounded)
{
	struct request r = sample();
	int n = wire_put_ask(frame, sizeof(frame), &r, 7, 3, 42);

	for (int bit = 0; bit < n * 8; bit++) {
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (wire_get_ask(frame, (size_t)n, &ask) == 0) {
			ck_assert_int_lt(ask.req.op, OP_COUNT);
			ck_assert_uint_le(ask.req.argc, LIMIT_ARGC);
		}
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}
END_TEST

START_TEST(limits_are_refused)
{
	static char big[LIMIT_FRAME];
	const char *argv[] = { big, NULL };
	struct request r = { .op = OP_READ, .path = big };

	memset(big, 'a', sizeof(big) - 1);
	ck_assert_int_eq(wire_put_ask(frame, sizeof(frame), &r, 0, 0, 0), -EMSGSIZE);
	r = (struct request){ .op = OP_EXEC, .path = "/x", .argv = argv, .argc = 1 };
	ck_assert_int_eq(wire_put_ask(frame, sizeof(frame), &r, 0, 0, 0), -EMSGSIZE);
	r.argc = LIMIT_ARGC + 1;
	ck_assert_int_eq(wire_put_ask(frame, sizeof(frame), &r, 0, 0, 0), -EMSGSIZE);
	argv[0] = NULL;
	r.argc = 1;
	ck_assert_int_eq(wire_put_ask(frame, sizeof(frame), &r, 0, 0, 0), -EMSGSIZE);
}
END_TEST

START_TEST(unknown_ops_are_refused)
{
	static const int ops[] = { OP_NONE, OP_ATTACH, OP_COUNT, 999 };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct request r = { .op = (enum op)ops[i], .path = "/x" };
		int n = wire_put_ask(frame, sizeof(frame), &r, 0, 0, 0);

		ck_assert_int_eq(wire_get_ask(frame, (size_t)n, &ask), -EPROTO);
	}
}
END_TEST

START_TEST(answer_round_trip)
{
	const struct wire_answer a = {
		.verdict = VERDICT_ALLOW, .reason = REASON_HUMAN, .text = "fine", .approval = "7f3a"
	};
	struct wire_answer b = { 0 };
	int n = wire_put_answer(frame, sizeof(frame), &a);

	ck_assert_int_eq(wire_get_answer(frame, (size_t)n, &b), 0);
	ck_assert_int_eq(b.verdict, VERDICT_ALLOW);
	ck_assert_int_eq(b.reason, REASON_HUMAN);
	ck_assert_str_eq(b.text, "fine");
	ck_assert_str_eq(b.approval, "7f3a");
	ck_assert_int_eq(wire_get_answer(frame, (size_t)n - 1, &b), -EPROTO);
	ck_assert_int_eq(wire_get_ask(frame, (size_t)n, &ask), -EPROTO);
}
END_TEST

/* CVE-2023-42465: no single flipped bit turns a deny into an allow. */
START_TEST(no_flip_allows)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_HUMAN, .text = "", .approval = ""
	};
	int n = wire_put_answer(frame, sizeof(frame), &a);

	for (int bit = 0; bit < n * 8; bit++) {
		struct wire_answer b = { 0 };

		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (wire_get_answer(frame, (size_t)n, &b) == 0)
			ck_assert_int_eq(b.verdict, VERDICT_DENY);
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}
END_TEST

static int sample_behalf(struct wire_behalf *b)
{
	*b = (struct wire_behalf){ .pid = 4242 };
	for (size_t i = 0; i < WIRE_NONCE; i++)
		b->nonce[i] = (uint8_t)(i * 17);
	return wire_put_behalf(frame, sizeof(frame), b);
}

START_TEST(behalf_round_trip)
{
	struct wire_behalf b, got = { .pid = 0 };
	int n = sample_behalf(&b);

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(wire_type(frame, (size_t)n), WIRE_BEHALF);
	ck_assert_int_eq(wire_get_behalf(frame, (size_t)n, &got), 0);
	ck_assert_int_eq(got.pid, 4242);
	ck_assert_mem_eq(got.nonce, b.nonce, WIRE_NONCE);
	ck_assert_int_eq(wire_put_behalf(frame, (size_t)n - 1, &b), -EMSGSIZE);
}
END_TEST

START_TEST(behalf_is_strict)
{
	struct wire_behalf b, got = { .pid = 7 };
	int n = sample_behalf(&b);
	uint32_t image;

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(wire_get_behalf(frame, (size_t)i, &got), -EPROTO);
	frame[n] = 0;
	ck_assert_int_eq(wire_get_behalf(frame, (size_t)n + 1, &got), -EPROTO);
	for (int i = 0; i < 8 * 8; i++) {
		frame[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert_int_eq(wire_get_behalf(frame, (size_t)n, &got), -EPROTO);
		frame[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ck_assert_int_eq(wire_get_ask(frame, (size_t)n, &ask), -EPROTO);
	ck_assert_int_eq(wire_get_narrow(frame, (size_t)n, &image), -EPROTO);
	/* Nobody, and every process at once. */
	for (int pid = 0; pid >= -1; pid--) {
		b.pid = pid;
		n = wire_put_behalf(frame, sizeof(frame), &b);
		ck_assert_int_eq(wire_get_behalf(frame, (size_t)n, &got), -EPROTO);
	}
}
END_TEST

/* A frame of one type is never one of another. */
START_TEST(types_keep_apart)
{
	struct wire_behalf b;
	struct wire_narrowed m;
	struct wire_answer a;
	int n = sample_behalf(&b);

	for (unsigned type = 0; type < 16; type++) {
		frame[6] = (uint8_t)type;
		ck_assert_int_eq(wire_type(frame, (size_t)n),
				 type >= WIRE_ASK && type <= WIRE_BEHALF ? (int)type : -EPROTO);
		ck_assert_int_eq(wire_get_behalf(frame, (size_t)n, &b), type == WIRE_BEHALF ? 0 : -EPROTO);
		ck_assert_int_eq(wire_get_answer(frame, (size_t)n, &a), -EPROTO);
		ck_assert_int_eq(wire_get_narrowed(frame, (size_t)n, &m), -EPROTO);
	}
}
END_TEST

Suite *suite_wire(void)
{
	Suite *s = suite_create("wire");
	TCase *t = tcase_create("wire");

	tcase_add_test(t, ask_round_trip);
	tcase_add_test(t, connect_round_trip);
	tcase_add_test(t, every_cut_is_refused);
	tcase_add_test(t, every_flip_is_bounded);
	tcase_add_test(t, limits_are_refused);
	tcase_add_test(t, unknown_ops_are_refused);
	tcase_add_test(t, answer_round_trip);
	tcase_add_test(t, no_flip_allows);
	tcase_add_test(t, behalf_round_trip);
	tcase_add_test(t, behalf_is_strict);
	tcase_add_test(t, types_keep_apart);
	suite_add_tcase(s, t);
	return s;
}
