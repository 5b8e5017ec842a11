/* The image: what is refused, what a broken one does, nested sessions, and decisions in words. */
#include <errno.h>
#include <stdio.h>

#include "image_fixture.h"

Suite *suite_image(void);

static struct fixture fx;

static void setup(void)
{
	fixture_init(&fx);
	fixture_workspace(&fx);
	fixture_rule(&fx, RULE_FILE_DENY, "/home/u/.ssh")->message = strdup("ask me for a deploy key");
	fixture_rule(&fx, RULE_FILE_ASK, "/home/u/Documents");
	fixture_rule(&fx, RULE_NET_ALLOW, "example.org:443");
}

static void teardown(void)
{
	fixture_done(&fx);
}

static struct decision judge(const struct image *img, enum op op, const char *path)
{
	const struct request req = { .op = op, .path = path };

	return eval(img, &req);
}

START_TEST(test_open_refuses)
{
	struct image img = { 0 };
	struct image_header *h;

	fixture_compile(&fx);
	h = (struct image_header *)fx.bytes;
	ck_assert_int_eq(image_open_checked(&img, NULL, 4096), -EINVAL);
	ck_assert_int_eq(image_open_checked(&img, fx.bytes, 16), -EINVAL);
	ck_assert_int_eq(image_open_checked(&img, fx.bytes, fx.size - 8), -EBADMSG);
	ck_assert_int_eq(image_open_checked(&img, fx.bytes + 1, fx.size - 1), -EINVAL);
	fx.bytes[fx.size - 9] ^= 1;
	ck_assert_int_eq(image_open_checked(&img, fx.bytes, fx.size), -EBADMSG);
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), 0);
	h->version++;
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), -EPROTO);
	h->version--;
	h->mode = 9;
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), -EBADMSG);
	h->mode = MODE_WORKSPACE_WRITE;
	h->network = 9;
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), -EBADMSG);
	h->network = NETWORK_OFF;
	h->sec[SEC_RULES].off = UINT32_MAX - 7;
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), -EBADMSG);
	h->magic = 0;
	ck_assert_int_eq(image_open(&img, fx.bytes, fx.size), -EINVAL);
}
END_TEST

START_TEST(test_accessors_check_again)
{
	struct image none = { 0 };
	struct image_header *h;
	size_t len = 7;

	fixture_compile(&fx);
	h = (struct image_header *)fx.bytes;
	ck_assert_str_eq(image_str(&fx.img, UINT32_MAX), "");
	ck_assert_ptr_null(image_rule(&fx.img, RULE_NONE));
	ck_assert_ptr_null(image_sec(&fx.img, (enum image_section_id)99, &len));
	ck_assert_ptr_null(image_sec(&none, SEC_RULES, &len));
	ck_assert_uint_eq(len, 0);
	ck_assert_str_eq(image_str(&none, 0), "");
	h->sec[SEC_STRINGS].len = UINT32_MAX;
	ck_assert_str_eq(image_str(&fx.img, 1), "");
	h->sec[SEC_RULES].off = 3;
	ck_assert_ptr_null(image_rule(&fx.img, 0));
}
END_TEST

/* Whatever section is missing or torn, nothing that was denied becomes allowed. */
START_TEST(test_torn_sections_deny)
{
	const struct request connect = { .op = OP_CONNECT, .host = "other.org", .port = 443 };

	fixture_compile(&fx);
	for (unsigned i = 0; i < SEC_COUNT; i++) {
		struct image_span *s = &((struct image_header *)fx.bytes)->sec[i], old = *s;
		const struct image_span torn[] = {
			{ 0, 0 }, { old.off, old.len / 2 }, { 4, 8 }, { old.off, 8 }
		};

		for (size_t j = 0; j < sizeof(torn) / sizeof(torn[0]); j++) {
			*s = torn[j];
			ck_assert(judge(&fx.img, OP_READ, "/home/u/.ssh/id_rsa").verdict == VERDICT_DENY ||
				  (i >= SEC_PATH_EDGE && i <= SEC_PATH_REF) || i == SEC_STRINGS);
			ck_assert(judge(&fx.img, OP_WRITE, "/etc/passwd").verdict == VERDICT_DENY);
			ck_assert(eval(&fx.img, &connect).verdict == VERDICT_DENY);
		}
		*s = old;
	}
}
END_TEST

START_TEST(test_same_policy_same_bytes)
{
	struct fixture other;

	fixture_compile(&fx);
	fixture_init(&other);
	fixture_workspace(&other);
	fixture_rule(&other, RULE_FILE_DENY, "/home/u/.ssh")->message = strdup("ask me for a deploy key");
	fixture_rule(&other, RULE_FILE_ASK, "/home/u/Documents");
	fixture_rule(&other, RULE_NET_ALLOW, "example.org:443");
	fixture_compile(&other);
	ck_assert_uint_eq(fx.size, other.size);
	ck_assert_mem_eq(fx.bytes, other.bytes, fx.size);
	fixture_done(&other);
}
END_TEST

START_TEST(test_header_carries_the_settings)
{
	struct environ_rule pass[] = { { .kind = ENVIRON_PASS, .pattern = (char *)"GH_TOKEN" },
				       { .kind = ENVIRON_DENY, .pattern = (char *)"NO" },
				       { .kind = ENVIRON_PASS, .pattern = (char *)"LANG" } };
	const uint32_t *off;
	size_t len;

	fx.p.environ = pass;
	fx.p.n_environ = 3;
	fx.p.s.timeout_s = 77;
	fx.p.preset = strdup("agent");
	fixture_compile(&fx);
	off = image_sec(&fx.img, SEC_PASS, &len);
	ck_assert_uint_eq(len, 2 * sizeof(*off));
	ck_assert_str_eq(image_str(&fx.img, off[0]), "GH_TOKEN");
	ck_assert_str_eq(image_str(&fx.img, off[1]), "LANG");
	ck_assert_uint_eq(fx.img.h->timeout_s, 77);
	ck_assert_str_eq(image_str(&fx.img, fx.img.h->workspace), "/ws");
	ck_assert_str_eq(image_str(&fx.img, fx.img.h->preset), "agent");
	ck_assert_str_eq(image_str(&fx.img, image_rule(&fx.img, 1)->pattern), "/home/u/.ssh");
	fx.p.environ = NULL;
	fx.p.n_environ = 0;
}
END_TEST

START_TEST(test_bad_patterns_are_findings)
{
	static const struct {
		enum rule_kind kind;
		const char *pattern;
	} bad[] = {
		{ RULE_FILE_DENY, "relative" },
		{ RULE_FILE_DENY, "" },
		{ RULE_FILE_WRITE, "/a/../b" },
		{ RULE_NET_UNIX, "sock" },
		{ RULE_NET_ALLOW, "a b" },
		{ RULE_NET_ALLOW, "a*.org" },
		{ RULE_NET_ALLOW, "*.*.org" },
		{ RULE_NET_ALLOW, "a..org" },
		{ RULE_NET_ALLOW, "" },
		{ RULE_NET_ALLOW, "h:0x50" },
		{ RULE_NET_ALLOW, "h:99999" },
		{ RULE_NET_ALLOW, "h:90-80" },
		{ RULE_NET_ALLOW, "h:0" },
		{ RULE_NET_UDP, "[::1]:0-9" },
		{ RULE_NET_ALLOW, "h:80," },
		{ RULE_NET_ALLOW, "1.2.3" },
		{ RULE_NET_ALLOW, "1.2.3.4/33" },
		{ RULE_NET_ALLOW, "1.2.3.4/24" },
		{ RULE_NET_ALLOW, "1.2.3.0/" },
		{ RULE_NET_ALLOW, "::1/129" },
		{ RULE_NET_ALLOW, "[::1" },
		{ RULE_NET_ALLOW, "[name]:80" },
		{ RULE_NET_ALLOW, "1:2:3" },
		{ RULE_NET_ALLOW, "https://a.org" },
		{ RULE_NET_ALLOW, "a.org/x" },
		{ RULE_NET_ALLOW, "h:80x" },
		{ RULE_NET_BIND, "any" },
		{ RULE_NET_BIND, "" },
		{ RULE_NET_ALLOW, "1.2.3.0/2x" },
		{ RULE_NET_ALLOW, "*." },
		{ RULE_NET_BIND, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fixture f;

		fixture_init(&f);
		fixture_rule(&f, bad[i].kind, bad[i].pattern);
		fixture_rule(&f, RULE_FILE_DENY, "/fine");
		fixture_rule(&f, RULE_NET_DENY, "also bad");
		ck_assert_msg(fixture_try(&f, NULL) == -EBADMSG, "%s", bad[i].pattern);
		ck_assert_uint_eq(f.d.n_errors, 2);
		ck_assert_uint_eq(f.d.list[0].line == 1 || f.d.list[1].line == 1, 1);
		fixture_done(&f);
	}
}
END_TEST

START_TEST(test_describe)
{
	struct decision d;
	char small[8];

	fixture_compile(&fx);
	d = judge(&fx.img, OP_READ, "/home/u/.ssh/id_rsa");
	ck_assert_str_eq(fixture_describe(&fx, &d), "policy.ini:1 [files] deny = /home/u/.ssh");
	ck_assert_str_eq(decision_message(&fx.img, &d), "ask me for a deploy key");
	decision_describe(&fx.img, &d, small, sizeof(small));
	ck_assert_str_eq(small, "policy.");
	d = judge(&fx.img, OP_RENAME, "/home/u");
	ck_assert_str_eq(fixture_describe(&fx, &d), "[files] outside the workspace");
	d = judge(&fx.img, OP_WRITE, "/ws/a");
	ck_assert_str_eq(fixture_describe(&fx, &d), "[files] inside the workspace");
	ck_assert_ptr_null(decision_message(&fx.img, &d));
	d = judge(&fx.img, OP_READ, "/etc/hosts");
	ck_assert_str_eq(fixture_describe(&fx, &d), "[files] nothing forbids reading it");
	d.rule = 4711;
	d.reason = REASON_RULE;
	ck_assert_str_eq(fixture_describe(&fx, &d), "a rule of the policy");
	d.nested = 1000;
	fixture_describe(&fx, &d);
	d = (struct decision){ VERDICT_DENY, REASON_ANCESTOR, 1, 0 };
	ck_assert_str_eq(fixture_describe(&fx, &d),
			 "policy.ini:1 [files] deny = /home/u/.ssh: "
			 "a directory above a protected path may not be moved or removed");
}
END_TEST

START_TEST(test_describe_names_presets_and_escapes)
{
	struct rule *r = fixture_rule(&fx, RULE_FILE_DENY, "/evil\x1b[2J");
	struct decision d;

	free(r->file);
	r->file = strdup("preset agent");
	r->line = 12;
	fixture_compile(&fx);
	d = judge(&fx.img, OP_READ, "/evil\x1b[2J");
	ck_assert_str_eq(fixture_describe(&fx, &d), "preset agent:12 [files] deny = /evil\\x1b[2J");
	/* the tables of describe.c and rule.c say the same */
	for (unsigned k = 0; k < RULE_KIND_COUNT; k++) {
		struct image_rule *ir = (struct image_rule *)(uintptr_t)image_rule(&fx.img, d.rule);
		char want[128];

		ir->kind = (uint8_t)k;
		snprintf(want, sizeof(want), "preset agent:12 [%s] %s = /evil\\x1b[2J",
			 rule_section((enum rule_kind)k), rule_key((enum rule_kind)k));
		ck_assert_str_eq(fixture_describe(&fx, &d), want);
	}
}
END_TEST

START_TEST(test_denial_mark)
{
	const struct decision a = { VERDICT_DENY, REASON_RULE, 1, 0 },
			      b = { VERDICT_DENY, REASON_RULE, 2, 0 };

	ck_assert_uint_eq(denial_mark(OP_READ, "/x", &a, ""), denial_mark(OP_READ, "/x", &a, ""));
	ck_assert_uint_ne(denial_mark(OP_READ, "/x", &a, ""), denial_mark(OP_READ, "/x", &b, ""));
	ck_assert_uint_ne(denial_mark(OP_READ, "/x", &a, ""), denial_mark(OP_WRITE, "/x", &a, ""));
	ck_assert_uint_ne(denial_mark(OP_READ, "/x", &a, ""), denial_mark(OP_READ, "/y", &a, ""));
	ck_assert_uint_ne(denial_mark(OP_READ, "/x", &a, ""), denial_mark(OP_READ, "/x", &a, "because"));
}
END_TEST

/* A nested session may only narrow, whatever its own policy says. */
START_TEST(test_outer_image_holds)
{
	struct fixture in;
	struct decision d;
	struct image_header *h;

	fixture_compile(&fx);
	fixture_init(&in);
	in.p.s.mode = MODE_DANGER;
	in.p.s.allow_danger = true;
	fixture_rule(&in, RULE_FILE_WRITE, "/home/u/.ssh");
	fixture_rule(&in, RULE_FILE_DENY, "/ws/closed");
	ck_assert_int_eq(fixture_try(&in, &fx.img), 0);
	ck_assert_uint_eq(in.img.h->parent, fx.img.h->id);
	d = judge(&in.img, OP_READ, "/home/u/.ssh/id_rsa");
	ck_assert(d.verdict == VERDICT_DENY && d.nested == 1);
	ck_assert_str_eq(fixture_describe(&in, &d),
			 "policy.ini:1 [files] deny = /home/u/.ssh (outer session)");
	ck_assert_str_eq(decision_message(&in.img, &d), "ask me for a deploy key");
	d = judge(&in.img, OP_WRITE, "/etc/x");
	ck_assert(d.verdict == VERDICT_DENY && d.reason == REASON_OUTSIDE && d.nested == 1);
	ck_assert(judge(&in.img, OP_WRITE, "/ws/x").verdict == VERDICT_ALLOW);
	d = judge(&in.img, OP_WRITE, "/ws/closed/x");
	ck_assert(d.verdict == VERDICT_DENY && d.nested == 0);
	d = judge(&in.img, OP_READ, "/home/u/Documents/x");
	ck_assert(d.verdict == VERDICT_ASK && d.nested == 1);
	/* an outer image that is there but broken denies */
	h = (struct image_header *)(in.bytes + in.img.h->sec[SEC_OUTER].off);
	h->magic = 0;
	ck_assert(judge(&in.img, OP_WRITE, "/ws/x").verdict == VERDICT_DENY);
	d.nested = 1;
	fixture_describe(&in, &d);
	((struct image_header *)in.bytes)->sec[SEC_OUTER].off = 1;
	ck_assert(judge(&in.img, OP_WRITE, "/ws/x").verdict == VERDICT_DENY);
	fixture_done(&in);
}
END_TEST

START_TEST(test_nesting_has_a_limit)
{
	struct fixture f[LIMIT_DEPTH + 1];
	unsigned n = 0;
	int err = 0;

	for (n = 0; n <= LIMIT_DEPTH; n++) {
		fixture_init(&f[n]);
		fixture_workspace(&f[n]);
		err = fixture_try(&f[n], n ? &f[n - 1].img : NULL);
		if (err)
			break;
		ck_assert(judge(&f[n].img, OP_WRITE, "/ws/x").verdict == VERDICT_ALLOW);
	}
	ck_assert_int_eq(err, -E2BIG);
	ck_assert_uint_ge(n, 4);
	for (unsigned i = 0; i <= n; i++)
		fixture_done(&f[i]);
}
END_TEST

START_TEST(test_eval_frames)
{
	struct request req = { .op = OP_READ, .path = "/home/u/Documents/x" };
	const char *argv[] = { "cat", NULL };
	struct image none = { 0 };
	struct trace t;

	fixture_compile(&fx);
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_ASK);
	req.is_root = true;
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_ALLOW);
	ck_assert(eval(&fx.img, &req).reason == REASON_OPERATOR);
	req.is_root = false;
	((struct image_header *)fx.bytes)->approvals = APPROVALS_NEVER;
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_DENY);
	ck_assert(eval(&fx.img, &req).reason == REASON_NEVER);
	ck_assert_uint_eq(eval(&fx.img, &req).rule, 2);
	ck_assert(eval(&none, &req).reason == REASON_MALFORMED);
	ck_assert(eval_trace(&fx.img, &req, &t).verdict == VERDICT_DENY);
	ck_assert_uint_eq(t.n, 1);
	for (unsigned op = OP_NONE; op <= OP_COUNT + 1; op++) {
		const struct request empty = { .op = (enum op)op };
		enum verdict v = eval(&fx.img, &empty).verdict;

		ck_assert(op == OP_EXEC || v == VERDICT_DENY);
	}
	/* a sensitive file is not executed either */
	req = (struct request){ .op = OP_EXEC, .path = "/home/u/.ssh/tool", .argv = argv, .argc = 1 };
	ck_assert(eval(&fx.img, &req).verdict == VERDICT_DENY);
}
END_TEST

START_TEST(test_trace_keeps_the_strongest)
{
	struct trace t = { .n = 0 };

	for (uint32_t i = 0; i < 40; i++)
		trace_add(&t, i, VERDICT_ALLOW, i * 7 % 40);
	ck_assert_uint_eq(t.n, 16);
	for (size_t i = 0; i < t.n; i++)
		ck_assert_uint_eq(t.list[i].specificity, 39 - i);
	trace_add(&t, t.list[0].rule, VERDICT_ALLOW, 39);
	ck_assert_uint_eq(t.list[1].specificity, 38);
	trace_add(NULL, 1, VERDICT_ALLOW, 1);
}
END_TEST

/* The same policy has the same id in every session, whatever the gate's word is there. */
START_TEST(test_pass_is_no_part_of_the_id)
{
	uint64_t id;

	fixture_compile(&fx);
	ck_assert_uint_eq(fx.img.h->pass, 0);
	ck_assert_uint_eq(fx.img.h->level, LEVEL_HOOKS);
	id = fx.img.h->id;
	free(fx.bytes);
	fx.p.s.pass = 0x0123456789abcdef;
	fx.p.s.began = 1;
	fixture_compile(&fx);
	ck_assert_uint_eq(fx.img.h->pass, 0x0123456789abcdef);
	ck_assert_uint_eq(fx.img.h->began, 1);
	ck_assert_uint_eq(fx.img.h->id, id);
	free(fx.bytes);
	fx.p.s.level = LEVEL_STRICT;
	fixture_compile(&fx);
	ck_assert_uint_eq(fx.img.h->level, LEVEL_STRICT);
}
END_TEST

/* Of another policy nothing may be taken over: not by its settings, its rules, nor its size. */
START_TEST(test_alike_but_for_the_pass)
{
	struct fixture other;
	uint8_t *last;

	fixture_done(&fx);
	fixture_init(&fx);
	fixture_init(&other);
	other.p.s.pass = 0x0123456789abcdef;
	fixture_compile(&fx);
	fixture_compile(&other);
	ck_assert(image_is_alike(&fx.img, &other.img) && image_is_alike(&other.img, &fx.img));
	last = (uint8_t *)(uintptr_t)(other.img.base + other.img.size - 1);
	*last ^= 1;
	ck_assert(!image_is_alike(&fx.img, &other.img));
	free(other.bytes);
	other.p.s.level = LEVEL_STRICT;
	fixture_compile(&other);
	ck_assert(!image_is_alike(&fx.img, &other.img));
	free(other.bytes);
	other.p.s.level = fx.p.s.level;
	fixture_rule(&other, RULE_FILE_DENY, "/home/u/x");
	fixture_compile(&other);
	ck_assert(!image_is_alike(&fx.img, &other.img));
	fixture_done(&other);
}
END_TEST

/* Whoever is inside lives behind the same gate: what its own policy says of level and pass is nothing. */
START_TEST(test_level_and_pass_are_inherited)
{
	struct fixture outer, in, innermost;

	fixture_init(&outer);
	outer.p.s.level = LEVEL_FULL;
	outer.p.s.pass = 0xfeedfacecafebeef;
	fixture_compile(&outer);
	fixture_init(&in);
	in.p.s.level = LEVEL_HOOKS;
	in.p.s.pass = 1;
	ck_assert_int_eq(fixture_try(&in, &outer.img), 0);
	fixture_init(&innermost);
	innermost.p.s.level = LEVEL_STRICT;
	ck_assert_int_eq(fixture_try(&innermost, &in.img), 0);
	ck_assert_uint_eq(in.img.h->level, LEVEL_FULL);
	ck_assert_uint_eq(in.img.h->pass, 0xfeedfacecafebeef);
	ck_assert_uint_eq(innermost.img.h->level, LEVEL_FULL);
	ck_assert_uint_eq(innermost.img.h->pass, 0xfeedfacecafebeef);
	fixture_done(&outer);
	fixture_done(&in);
	fixture_done(&innermost);
}
END_TEST

Suite *suite_image(void)
{
	Suite *s = suite_create("image");
	TCase *t = tcase_create("image");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_open_refuses);
	tcase_add_test(t, test_accessors_check_again);
	tcase_add_test(t, test_torn_sections_deny);
	tcase_add_test(t, test_same_policy_same_bytes);
	tcase_add_test(t, test_header_carries_the_settings);
	tcase_add_test(t, test_bad_patterns_are_findings);
	tcase_add_test(t, test_describe);
	tcase_add_test(t, test_describe_names_presets_and_escapes);
	tcase_add_test(t, test_denial_mark);
	tcase_add_test(t, test_outer_image_holds);
	tcase_add_test(t, test_nesting_has_a_limit);
	tcase_add_test(t, test_eval_frames);
	tcase_add_test(t, test_trace_keeps_the_strongest);
	tcase_add_test(t, test_pass_is_no_part_of_the_id);
	tcase_add_test(t, test_alike_but_for_the_pass);
	tcase_add_test(t, test_level_and_pass_are_inherited);
	suite_add_tcase(s, t);
	return s;
}
