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
		{ "any.thing", "10.1.2.3", 443, Q, REASON_REBIND, 1 },
		{ "any.thing", "10.1.2.3", 80, D, REASON_HOST, 0 },
		{ "any.thing", "100.64.2.3", 443, D, REASON_REBIND, 1 },
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

/*
 * What speaks in which mode: a row a rule, a column a mode.  Unnamed hosts are asked about, so that what is
 * silent shows.
 */
static const struct spoken {
	enum rule_kind kind;
	enum rank rank;
	enum transport by;
	const char *rule, *host, *addr;
	enum verdict off, strict, merge, replace, open, models;
} spoken[] = {
	{ RULE_NET_CORE, RANK_PRESET, STREAM, "core.org", "core.org", NULL, D, A, A, Q, A, D },
	{ RULE_NET_MODEL, RANK_PRESET, STREAM, "model.org", "model.org", NULL, D, A, A, Q, A, A },
	{ RULE_NET_EXTRA, RANK_PRESET, STREAM, "extra.org", "extra.org", NULL, D, Q, A, Q, A, D },
	{ RULE_NET_ALLOW, RANK_PRESET, STREAM, "pallow.org", "pallow.org", NULL, D, Q, A, Q, A, D },
	{ RULE_NET_ASK, RANK_PRESET, STREAM, "pask.org", "pask.org", NULL, D, Q, Q, Q, Q, D },
	{ RULE_NET_DENY, RANK_PRESET, STREAM, "pdeny.org", "pdeny.org", NULL, D, D, D, D, D, D },
	{ RULE_NET_UDP, RANK_PRESET, DATAGRAM, "pudp.org", "pudp.org", NULL, D, D, A, D, A, D },
	{ RULE_NET_ALLOW, RANK_PRESET, STREAM, "localhost:3000", "localhost", NULL, D, A, A, A, A, A },
	{ RULE_NET_ALLOW, RANK_PRESET, STREAM, "localhost:3000", NULL, "127.0.0.1", D, A, A, A, A, A },
	{ RULE_NET_UDP, RANK_PRESET, DATAGRAM, "localhost:3000", NULL, "::1", D, A, A, A, A, A },
	{ RULE_NET_ALLOW, RANK_PRESET, STREAM, "127.0.0.2", NULL, "127.0.0.2", D, Q, A, Q, A, Q },
	{ RULE_NET_ALLOW, RANK_USER, STREAM, "allow.org", "allow.org", NULL, D, Q, A, A, A, D },
	{ RULE_NET_ASK, RANK_USER, STREAM, "ask.org", "ask.org", NULL, D, Q, Q, Q, Q, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "deny.org", "deny.org", NULL, D, D, D, D, D, D },
	{ RULE_NET_UDP, RANK_USER, DATAGRAM, "udp.org", "udp.org", NULL, D, D, A, A, A, D },
	{ RULE_NET_ALLOW, RANK_USER, STREAM, "10.0.0.0/8", NULL, "10.1.1.1", D, Q, A, A, A, D },
	{ RULE_NET_ALLOW, RANK_PROJECT, STREAM, "trusted.org", "trusted.org", NULL, D, Q, A, A, A, D },
	/* what no rule names */
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", "other.org", NULL, D, Q, Q, Q, A, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", NULL, "93.1.1.1", D, Q, Q, Q, A, D },
	{ RULE_NET_DENY, RANK_USER, DATAGRAM, "x.org", NULL, "93.1.1.1", D, D, D, D, A, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", NULL, "10.1.1.1", D, Q, Q, Q, Q, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", NULL, "127.0.0.1", D, Q, Q, Q, Q, Q },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", "localhost", NULL, D, Q, Q, Q, Q, Q },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", NULL, "169.254.169.254", D, D, D, D, D, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", "meta.org", "169.254.169.254", D, D, D, D, D, D },
	{ RULE_NET_DENY, RANK_USER, STREAM, "x.org", "other.org", "10.1.1.1", D, D, D, D, D, D },
};

START_TEST(test_modes)
{
	const struct spoken *s = &spoken[_i];
	const enum verdict want[] = { s->off, s->strict, s->merge, s->replace, s->open, s->models };

	fx.p.s.net_default = VERDICT_ASK;
	fixture_rule(&fx, s->kind, s->rule)->rank = s->rank;
	fixture_compile(&fx);
	for (size_t mode = 0; mode < sizeof(want) / sizeof(want[0]); mode++) {
		enum verdict got;

		((struct image_header *)fx.bytes)->network = (uint8_t)mode;
		got = judge_by(s->by, OP_CONNECT, s->host, s->addr, 3000).verdict;
		ck_assert_msg(got == want[mode], "%s for %s, mode %zu: %s", s->rule,
			      s->host ? s->host : s->addr, mode, verdict_name(got));
	}
}
END_TEST

START_TEST(test_mode_off)
{
	fixture_rule(&fx, RULE_NET_BIND, "8080");
	fx.p.s.network = NETWORK_OFF;
	fixture_compile(&fx);
	ck_assert(judge(OP_CONNECT, NULL, "127.0.0.1", 1).reason == REASON_OFFLINE);
	ck_assert(judge(OP_BIND, NULL, "127.0.0.1", 8080).reason == REASON_OFFLINE);
	ck_assert(judge(OP_RESOLVE, "localhost", NULL, 0).reason == REASON_OFFLINE);
	ck_assert(judge_by(DATAGRAM, OP_BIND, NULL, "0.0.0.0", 0).reason == REASON_OFFLINE);
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
		expect(STREAM, OP_CONNECT, &w, 1);
		snprintf(host, sizeof(host), "x.zone%u.org", i);
		w.verdict = Q;
		w.line = i * 3 + 2;
		expect(STREAM, OP_CONNECT, &w, 1);
		snprintf(host, sizeof(host), "20.%u.%u.9", i / 256, i % 256);
		w.verdict = A;
		w.line = i * 3 + 3;
		expect(STREAM, OP_CONNECT, &w, 1);
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
	tcase_add_loop_test(t, test_modes, 0, (int)(sizeof(spoken) / sizeof(spoken[0])));
	tcase_add_test(t, test_mode_off);
	tcase_add_test(t, test_resolve);
	tcase_add_test(t, test_layers);
	tcase_add_test(t, test_many_rules);
	tcase_add_test(t, test_trace);
	suite_add_tcase(s, t);
	suite_add_tcase(s, tcase_eval_addr());
	return s;
}
