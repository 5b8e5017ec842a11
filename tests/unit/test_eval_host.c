/* Host rules: names, ports, modes, look-ups, layers. */
#include <stdio.h>

#include "host_expect.h"

Suite *suite_eval_host(void);
TCase *tcase_eval_addr(void); /* test_eval_addr.c */

START_TEST(test_names)
{
	static const struct want w[] = {
		{ "example.com", NULL, 443, A, REASON_RULE, 1 },
		{ "EXAMPLE.com.", NULL, 443, A, REASON_RULE, 1 },
		{ "www.example.com", NULL, 443, D, REASON_HOST, 0 },
		{ "a.b.org", NULL, 1, A, REASON_RULE, 2 },
		{ "x.a.b.org", NULL, 1, A, REASON_RULE, 2 },
		{ "b.org", NULL, 1, D, REASON_HOST, 0 },
		{ "xb.org", NULL, 1, D, REASON_HOST, 0 },
		{ "x.bad.b.org", NULL, 1, D, REASON_RULE, 3 },
		{ "good.bad.b.org", NULL, 1, A, REASON_RULE, 4 },
		{ "p.net", NULL, 443, A, REASON_RULE, 5 },
		{ "p.net", NULL, 80, D, REASON_HOST, 0 },
		{ "r.net", NULL, 8080, A, REASON_RULE, 6 },
		{ "r.net", NULL, 8090, A, REASON_RULE, 6 },
		{ "r.net", NULL, 8091, D, REASON_HOST, 0 },
		{ "r.net", NULL, 22, A, REASON_RULE, 6 },
		{ "s.net", NULL, 443, A, REASON_RULE, 8 },
		{ "s.net", NULL, 80, Q, REASON_RULE, 7 },
		{ "tie.net", NULL, 80, D, REASON_RULE, 11 },
		{ "xn--mnchen-3ya.de", NULL, 80, A, REASON_RULE, 12 },
		{ "core.net", NULL, 80, A, REASON_RULE, 13 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "Example.com");
	fixture_rule(&fx, RULE_NET_ALLOW, "*.b.org");
	fixture_rule(&fx, RULE_NET_DENY, "*.bad.b.org");
	fixture_rule(&fx, RULE_NET_ALLOW, "good.bad.b.org:*");
	fixture_rule(&fx, RULE_NET_ALLOW, "p.net:443");
	fixture_rule(&fx, RULE_NET_ALLOW, "r.net:8080-8090,22");
	fixture_rule(&fx, RULE_NET_ASK, "s.net");
	fixture_rule(&fx, RULE_NET_ALLOW, "s.net:443");
	fixture_rule(&fx, RULE_NET_ALLOW, "tie.net");
	fixture_rule(&fx, RULE_NET_ASK, "tie.net");
	fixture_rule(&fx, RULE_NET_DENY, "tie.net.");
	fixture_rule(&fx, RULE_NET_ALLOW, "xn--mnchen-3ya.de");
	fixture_rule(&fx, RULE_NET_CORE, "core.net");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

START_TEST(test_bad_names)
{
	static const struct want w[] = {
		{ "a..b", NULL, 1, D, REASON_MALFORMED, 0 },
		{ ".a", NULL, 1, D, REASON_MALFORMED, 0 },
		{ ".", NULL, 1, D, REASON_MALFORMED, 0 },
		{ "a b", NULL, 1, D, REASON_MALFORMED, 0 },
		{ "a\x80", NULL, 1, D, REASON_MALFORMED, 0 },
		{ "*.a", NULL, 1, D, REASON_MALFORMED, 0 },
		{ "fe80::1%lo", NULL, 1, D, REASON_MALFORMED, 0 },
		{ "", NULL, 1, D, REASON_MALFORMED, 0 },
		{ NULL, NULL, 1, D, REASON_MALFORMED, 0 },
		{ "a.", NULL, 1, A, REASON_RULE, 1 },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL, 1, D,
		  REASON_MALFORMED, 0 },
	};
	char longest[LIMIT_HOST + 8];

	fixture_rule(&fx, RULE_NET_ALLOW, "*");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = i % 2 ? '.' : 'a';
	longest[sizeof(longest) - 1] = '\0';
	ck_assert(judge(OP_CONNECT, longest, NULL, 1).reason == REASON_TOO_LONG);
	longest[LIMIT_HOST - 1] = '\0';
	ck_assert(judge(OP_CONNECT, longest, NULL, 1).verdict == VERDICT_ALLOW);
}
END_TEST

START_TEST(test_star)
{
	static const struct want w[] = {
		{ "any.thing", NULL, 443, A, REASON_RULE, 1 },
		{ "any.thing", NULL, 80, D, REASON_HOST, 0 },
		{ "blocked.org", NULL, 443, D, REASON_RULE, 2 },
		{ NULL, "93.1.2.3", 443, A, REASON_RULE, 1 },
		{ NULL, "10.1.2.3", 443, D, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 443, D, REASON_HOST, 0 },
		{ "any.thing", "10.1.2.3", 443, D, REASON_REBIND, 1 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "*:443");
	fixture_rule(&fx, RULE_NET_DENY, "blocked.org");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

/* `deny = *` must not undo what a name allows when that name's address is looked at. */
START_TEST(test_deny_star_and_a_name)
{
	static const struct want w[] = {
		{ "github.com", "140.82.1.1", 443, A, REASON_RULE, 2 },
		{ NULL, "140.82.1.1", 443, D, REASON_RULE, 1 },
		{ "other.com", "140.82.1.1", 443, D, REASON_RULE, 1 },
	};

	fixture_rule(&fx, RULE_NET_DENY, "*");
	fixture_rule(&fx, RULE_NET_ALLOW, "github.com");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

START_TEST(test_modes)
{
	/* by mode: a core rule's host, an allowed, an asked, a denied, an unnamed one */
	static const struct {
		enum network network;
		enum verdict core, allow, ask, deny, other;
	} modes[] = {
		{ NETWORK_OFF, D, D, D, D, D },	  { NETWORK_STRICT, A, Q, Q, D, Q },
		{ NETWORK_MERGE, A, A, Q, D, Q }, { NETWORK_REPLACE, Q, A, Q, D, Q },
		{ NETWORK_OPEN, A, A, Q, D, A },
	};

	fx.p.s.net_default = VERDICT_ASK;
	fixture_rule(&fx, RULE_NET_CORE, "core.org");
	fixture_rule(&fx, RULE_NET_ALLOW, "allow.org");
	fixture_rule(&fx, RULE_NET_ASK, "ask.org");
	fixture_rule(&fx, RULE_NET_DENY, "deny.org");
	fixture_rule(&fx, RULE_NET_ALLOW, "localhost");
	fixture_rule(&fx, RULE_NET_BIND, "8080");
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		((struct image_header *)fx.bytes)->network = (uint8_t)modes[i].network;
		ck_assert(judge(OP_CONNECT, "core.org", NULL, 1).verdict == modes[i].core);
		ck_assert(judge(OP_CONNECT, "allow.org", NULL, 1).verdict == modes[i].allow);
		ck_assert(judge(OP_CONNECT, "ask.org", NULL, 1).verdict == modes[i].ask);
		ck_assert(judge(OP_CONNECT, "deny.org", NULL, 1).verdict == modes[i].deny);
		ck_assert(judge(OP_CONNECT, "other.org", NULL, 1).verdict == modes[i].other);
		ck_assert(judge(OP_RESOLVE, "other.org", NULL, 0).verdict == modes[i].other);
		ck_assert(judge(OP_CONNECT, NULL, "93.1.1.1", 1).verdict == modes[i].other);
	}
	((struct image_header *)fx.bytes)->network = NETWORK_OFF;
	ck_assert(judge(OP_CONNECT, NULL, "127.0.0.1", 1).reason == REASON_OFFLINE);
	ck_assert(judge(OP_BIND, NULL, "127.0.0.1", 8080).reason == REASON_OFFLINE);
	ck_assert(judge(OP_RESOLVE, "localhost", NULL, 0).reason == REASON_OFFLINE);
}
END_TEST

START_TEST(test_resolve)
{
	static const struct want w[] = {
		{ "port.org", NULL, 0, A, REASON_RULE, 1 },  { "www.wild.org", NULL, 0, A, REASON_RULE, 2 },
		{ "deny.org", NULL, 0, D, REASON_RULE, 3 },  { "some.org", NULL, 0, D, REASON_HOST, 0 },
		{ "mixed.org", NULL, 0, A, REASON_RULE, 6 }, { "except.org", NULL, 0, A, REASON_RULE, 8 },
		{ "wild.org", NULL, 0, D, REASON_HOST, 0 },  { "localhost", NULL, 0, A, REASON_HOST, 0 },
		{ "10.1.2.3", NULL, 0, A, REASON_HOST, 0 },  { "ask.org", NULL, 0, Q, REASON_RULE, 9 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "port.org:443");
	fixture_rule(&fx, RULE_NET_ALLOW, "*.wild.org:443");
	fixture_rule(&fx, RULE_NET_DENY, "deny.org");
	fixture_rule(&fx, RULE_NET_DENY, "some.org:25"); /* says nothing about looking it up */
	fixture_rule(&fx, RULE_NET_ASK, "mixed.org:80");
	fixture_rule(&fx, RULE_NET_ALLOW, "mixed.org:443");
	fixture_rule(&fx, RULE_NET_DENY, "except.org");
	fixture_rule(&fx, RULE_NET_ALLOW, "except.org:443");
	fixture_rule(&fx, RULE_NET_ASK, "ask.org:80");
	fixture_compile(&fx);
	EXPECT(OP_RESOLVE, w);
}
END_TEST

START_TEST(test_layers)
{
	static const struct want w[] = {
		{ "own.org", NULL, 1, D, REASON_RULE, 4 },
		{ "own.net", NULL, 1, D, REASON_HOST, 0 },

		{ "user.net", NULL, 1, D, REASON_RULE, 3 },
		{ "floor.org", NULL, 1, D, REASON_RULE, 4 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "own.org")->layer = LAYER_PROJECT;
	fixture_rule(&fx, RULE_NET_ALLOW, "user.net");
	fixture_rule(&fx, RULE_NET_DENY, "user.net")->layer = LAYER_PROJECT;
	fixture_rule(&fx, RULE_NET_DENY, "*.org")->layer = LAYER_FLOOR;
	fixture_rule(&fx, RULE_NET_ALLOW, "floor.org:1");
	fixture_rule(&fx, RULE_NET_ALLOW, "own.net")->layer = LAYER_PROJECT;
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

START_TEST(test_many_rules)
{
	char host[64];

	for (int i = 0; i < 3000; i++) {
		snprintf(host, sizeof(host), "host%d.example.org:443", i);
		fixture_rule(&fx, RULE_NET_ALLOW, host);
		snprintf(host, sizeof(host), "*.zone%d.org", i);
		fixture_rule(&fx, RULE_NET_ASK, host);
		snprintf(host, sizeof(host), "20.%d.%d.0/24", i / 256, i % 256);
		fixture_rule(&fx, RULE_NET_ALLOW, host);
	}
	fixture_compile(&fx);
	for (unsigned i = 0; i < 3000; i++) {
		struct want w = { host, NULL, 443, A, REASON_RULE, i * 3 + 1 };

		snprintf(host, sizeof(host), "host%u.example.org", i);
		expect(OP_CONNECT, &w, 1);
		snprintf(host, sizeof(host), "x.zone%u.org", i);
		w.verdict = Q;
		w.line = i * 3 + 2;
		expect(OP_CONNECT, &w, 1);
		snprintf(host, sizeof(host), "20.%u.%u.9", i / 256, i % 256);
		w.verdict = A;
		w.line = i * 3 + 3;
		expect(OP_CONNECT, &w, 1);
	}
}
END_TEST

START_TEST(test_trace)
{
	const struct request req = { .op = OP_CONNECT, .host = "a.b.org", .port = 443 };
	struct trace t;

	fixture_rule(&fx, RULE_NET_DENY, "*.org");
	fixture_rule(&fx, RULE_NET_ALLOW, "a.b.org:443");
	fixture_rule(&fx, RULE_NET_ASK, "*.b.org");
	fixture_compile(&fx);
	ck_assert(eval_trace(&fx.img, &req, &t).verdict == A);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_uint_eq(t.list[0].rule, 1);
	ck_assert_uint_eq(t.list[1].rule, 2);
	ck_assert_uint_eq(t.list[2].rule, 0);
}
END_TEST

Suite *suite_eval_host(void)
{
	Suite *s = suite_create("eval_host");
	TCase *t = tcase_create("names");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_names);
	tcase_add_test(t, test_bad_names);
	tcase_add_test(t, test_star);
	tcase_add_test(t, test_deny_star_and_a_name);
	tcase_add_test(t, test_modes);
	tcase_add_test(t, test_resolve);
	tcase_add_test(t, test_layers);
	tcase_add_test(t, test_many_rules);
	tcase_add_test(t, test_trace);
	suite_add_tcase(s, t);
	suite_add_tcase(s, tcase_eval_addr());
	return s;
}
