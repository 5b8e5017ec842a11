/* Addresses: parsing, address rules, loopback, rebinding, metadata, binding. */
#include "host_expect.h"

TCase *tcase_eval_addr(void);

START_TEST(test_addr_parse)
{
	static const char *const bad[] = { "",
					   "1.2.3",
					   "1.2.3.4.5",
					   "256.1.1.1",
					   "01.2.3.4",
					   "1.2.3.4 ",
					   "0x7f.0.0.1",
					   "1..2.3",
					   ":",
					   ":::",
					   "1:2",
					   "1::2::3",
					   "12345::",
					   "::1%lo",
					   "1:2:3:4:5:6:7:8:9",
					   "1:2:3:4:5:6:7:",
					   ":1::",
					   "::1.2.3",
					   "1:2:3:4:5:6:7:1.2.3.4",
					   "::g",
					   "1::2:",
					   "1:2:3:4:5:6:7:8::" };
	static const struct {
		const char *text;
		uint8_t want[16];
	} good[] = {
		{ "1.2.3.255", { [10] = 0xff, 0xff, 1, 2, 3, 255 } },
		{ "::", { 0 } },
		{ "::1", { [15] = 1 } },
		{ "1::", { 0, 1 } },
		{ "2001:DB8::a:b", { 0x20, 0x01, 0x0d, 0xb8, [13] = 0x0a, [15] = 0x0b } },
		{ "1:2:3:4:5:6:7:8", { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 } },
		{ "::ffff:10.0.0.1", { [10] = 0xff, 0xff, 10, 0, 0, 1 } },
		{ "64:ff9b::1.2.3.4", { 0, 0x64, 0xff, 0x9b, [12] = 1, 2, 3, 4 } },
	};
	uint8_t addr[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!addr_parse(bad[i], strlen(bad[i]), addr), "%s", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(addr_parse(good[i].text, strlen(good[i].text), addr), "%s", good[i].text);
		ck_assert_mem_eq(addr, good[i].want, 16);
	}
}
END_TEST

START_TEST(test_addresses)
{
	static const struct want w[] = {
		{ NULL, "93.184.216.34", 80, A, REASON_RULE, 1 },
		{ NULL, "93.184.216.35", 80, D, REASON_HOST, 0 },
		{ NULL, "10.9.9.9", 80, A, REASON_RULE, 2 },
		{ NULL, "10.1.2.3", 80, D, REASON_RULE, 3 },
		{ NULL, "::ffff:10.1.2.3", 80, D, REASON_RULE, 3 },
		{ NULL, "64:ff9b::10.1.2.3", 80, D, REASON_RULE, 3 },
		{ NULL, "::10.1.2.3", 80, D, REASON_RULE, 3 },
		{ NULL, "2001:db8::1", 443, A, REASON_RULE, 4 },
		{ NULL, "2001:db8::1", 80, D, REASON_HOST, 0 },
		{ NULL, "2001:db9::77", 80, Q, REASON_RULE, 5 },
		{ NULL, "192.168.1.1", 22, A, REASON_RULE, 6 },
		{ NULL, "192.168.1.1", 23, D, REASON_HOST, 0 },
		{ "93.184.216.34", NULL, 80, A, REASON_RULE, 1 },
		{ "93.184.216.34", "93.184.216.34", 80, A, REASON_RULE, 1 },
		{ "2001:db8::1", NULL, 443, A, REASON_RULE, 4 },
		{ "n.org", "93.9.9.9", 1, D, REASON_RULE, 7 },
		{ "n.org", "94.9.9.9", 1, A, REASON_RULE, 8 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "93.184.216.34");
	fixture_rule(&fx, RULE_NET_ALLOW, "10.0.0.0/8");
	fixture_rule(&fx, RULE_NET_DENY, "10.1.2.0/24");
	fixture_rule(&fx, RULE_NET_ALLOW, "[2001:db8::1]:443");
	fixture_rule(&fx, RULE_NET_ASK, "2001:db9::/32");
	fixture_rule(&fx, RULE_NET_ALLOW, "192.168.0.0/16:22");
	fixture_rule(&fx, RULE_NET_DENY, "93.9.0.0/16");
	fixture_rule(&fx, RULE_NET_ALLOW, "n.org");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

START_TEST(test_localhost)
{
	static const struct want w[] = {
		{ "localhost", NULL, 3000, A, REASON_RULE, 1 },
		{ "localhost", "127.0.0.1", 3000, A, REASON_RULE, 1 },
		{ "localhost", "::1", 3999, A, REASON_RULE, 1 },
		{ "localhost", "::1", 4000, D, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 3000, A, REASON_RULE, 1 },
		{ NULL, "127.8.8.8", 3000, A, REASON_RULE, 1 },
		{ NULL, "::1", 3000, A, REASON_RULE, 1 },
		{ NULL, "0.0.0.0", 3000, A, REASON_RULE, 1 },
		{ NULL, "::", 3000, A, REASON_RULE, 1 },
		{ NULL, "::ffff:127.0.0.1", 3000, A, REASON_RULE, 1 },
		{ NULL, "127.0.0.1", 22, D, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 3500, D, REASON_RULE, 2 },
		{ "localhost", "93.1.2.3", 3000, D, REASON_REBIND, 1 },
		/* a public name does not get what localhost may */
		{ "evil.org", "127.0.0.1", 3000, D, REASON_REBIND, 3 },
		{ "app.localhost", "127.0.0.1", 3000, A, REASON_RULE, 1 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "localhost:3000-3999");
	fixture_rule(&fx, RULE_NET_DENY, "127.0.0.1:3500");
	fixture_rule(&fx, RULE_NET_ALLOW, "evil.org");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

/* An address of this machine's own, whatever it looks like: the rules about it and those about localhost. */
START_TEST(test_here)
{
	static const struct {
		const char *host, *addr;
		uint16_t port;
		enum verdict verdict;
	} w[] = {
		{ NULL, "93.1.2.3", 3000, A },	  { NULL, "93.1.2.3", 443, D },
		{ NULL, "10.1.2.3", 3000, A },	  { NULL, "2a00::3", 3000, A },
		{ NULL, "10.1.2.3", 5432, D },	  { NULL, "10.9.9.9", 80, A },
		{ NULL, "10.1.2.3", 3500, D },	  { "any.org", "93.1.2.3", 443, D },
		{ NULL, "169.254.1.1", 3000, D },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "*");
	fixture_rule(&fx, RULE_NET_ALLOW, "localhost:3000-3999");
	fixture_rule(&fx, RULE_NET_DENY, "localhost:3500");
	fixture_rule(&fx, RULE_NET_ALLOW, "127.0.0.1:5432");
	fixture_rule(&fx, RULE_NET_ALLOW, "10.9.9.9");
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
		struct request req = {
			.op = OP_CONNECT, .host = w[i].host, .port = w[i].port, .has_addr = true
		};

		ck_assert(addr_parse(w[i].addr, strlen(w[i].addr), req.addr));
		req.is_here = true;
		ck_assert_msg(eval(&fx.img, &req).verdict == w[i].verdict, "%s:%u", w[i].addr, w[i].port);
	}
}
END_TEST

START_TEST(test_rebinding)
{
	static const char *const site[] = { "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.3.4",
					    "::ffff:10.0.0.1" };
	static const char *const private[] = { "100.64.0.1",
					       "127.0.0.1",
					       "::1",
					       "0.0.0.0",
					       "169.254.1.1",
					       "fe80::1",
					       "fc00::1",
					       "fd12::1",
					       "169.254.169.254",
					       "fd00:ec2::254",
					       "100.100.100.200",
					       "168.63.129.16",
					       "::",
					       "224.0.0.1",
					       "255.255.255.255",
					       "ff02::1",
					       "0.1.2.3",
					       "198.18.0.1",
					       "192.0.2.1",
					       "198.51.100.7",
					       "203.0.113.255",
					       "192.88.99.1",
					       "192.0.0.192",
					       "192.0.0.8",
					       "240.0.0.1",
					       "::ffff:169.254.169.254",
					       "64:ff9b::169.254.169.254",
					       "64:ff9b:1::8.8.8.8",
					       "64:ff9b:1:a9fe:a9:fe00::",
					       "::169.254.169.254",
					       "2002:a9fe:a9fe::1",
					       "2002:0808:0808::1",
					       "2001::1",
					       "2001:0:4136:e378:8000:63bf:f5ff:fffe",
					       "2001:2::1",
					       "2001:10::1",
					       "2001:2f::1",
					       "2001:db8:1::1",
					       "3fff:fff::1",
					       "5f00::1",
					       "100::1",
					       "fec0::1",
					       "feff::1",
					       "febf::1",
					       "fdff::1",
					       "fd20:ce::254",
					       "ff05::2",
					       "ff0e::1" };
	static const char *const public[] = {
		"93.184.216.34", "172.32.0.1",	     "100.128.0.1",	  "2606:4700::1", "169.253.1.1",
		"11.0.0.1",	 "64:ff9b::8.8.8.8", "192.0.1.1",	  "198.17.0.1",	  "198.20.0.1",
		"203.0.112.1",	 "223.255.255.255",  "2001:4860::8888",	  "2001:3::1",	  "2001:db9::1",
		"2003::1",	 "2400:cb00::1",     "2a00:1450:4001::1", "3ffe::1",	  "::ffff:8.8.8.8"
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "public.org");
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(private) / sizeof(private[0]); i++) {
		struct decision d = judge(OP_CONNECT, "public.org", private[i], 443);

		ck_assert_msg(d.verdict == D && d.reason == REASON_REBIND, "%s", private[i]);
	}
	for (size_t i = 0; i < sizeof(site) / sizeof(site[0]); i++) {
		struct decision d = judge(OP_CONNECT, "public.org", site[i], 443);

		ck_assert_msg(d.verdict == Q && d.reason == REASON_REBIND, "%s", site[i]);
		ck_assert_msg(judge(OP_CONNECT, "other.org", site[i], 443).verdict == D, "%s", site[i]);
	}
	ck_assert_int_eq(judge(OP_CONNECT, "public.org", "64:ff9b::10.0.0.1", 443).verdict, D);
	for (size_t i = 0; i < sizeof(public) / sizeof(public[0]); i++)
		ck_assert_msg(judge(OP_CONNECT, "public.org", public[i], 443).verdict == A, "%s", public[i]);
}
END_TEST

START_TEST(test_rebinding_where_an_address_rule_allows)
{
	static const struct want w[] = {
		{ "git.corp", "10.1.2.3", 443, A, REASON_RULE, 1 },
		{ "named.corp", "10.1.2.3", 443, Q, REASON_RULE, 2 },
		{ "denied.corp", "10.1.2.3", 443, D, REASON_RULE, 3 },
		{ "git.corp", "10.66.2.3", 443, Q, REASON_RULE, 4 },
		{ "open.corp", "10.66.2.3", 443, Q, REASON_RULE, 4 },
		{ "open.corp", "192.168.1.1", 443, Q, REASON_REBIND, 5 },
		{ "open.corp", "127.0.0.1", 443, D, REASON_REBIND, 5 },
		{ "named.corp", "192.168.1.1", 443, D, REASON_REBIND, 2 },
		{ "git.corp", "93.1.1.1", 443, D, REASON_HOST, 0 },
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "10.0.0.0/8");
	fixture_rule(&fx, RULE_NET_ASK, "named.corp");
	fixture_rule(&fx, RULE_NET_DENY, "denied.corp");
	fixture_rule(&fx, RULE_NET_ASK, "10.66.0.0/16");
	fixture_rule(&fx, RULE_NET_ALLOW, "open.corp");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

START_TEST(test_metadata_needs_its_own_address)
{
	static const struct want w[] = {
		{ NULL, "169.254.169.254", 80, D, REASON_HOST, 0 },
		{ NULL, "169.254.170.2", 80, A, REASON_RULE, 2 },
		{ "meta.internal", "169.254.169.254", 80, D, REASON_REBIND, 0 },
		{ NULL, "fe80::1", 80, D, REASON_HOST, 0 },
		{ NULL, "169.254.9.9", 80, D, REASON_RULE, 3 },
	};

	fx.p.s.network = NETWORK_OPEN;
	fixture_rule(&fx, RULE_NET_ALLOW, "169.254.0.0/16");
	fixture_rule(&fx, RULE_NET_ALLOW, "169.254.170.2");
	fixture_rule(&fx, RULE_NET_DENY, "169.254.9.0/24");
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, w);
}
END_TEST

/* One destination, one verdict, however its address is written into the socket's. */
START_TEST(test_canonical)
{
	static const struct {
		const char *given, *reached;
	} same[] = {
		{ "::ffff:10.1.2.3", "10.1.2.3" },
		{ "64:ff9b::10.1.2.3", "10.1.2.3" },
		{ "::10.1.2.3", "10.1.2.3" },
		{ "0.0.0.0", "127.0.0.1" },
		{ "::ffff:0.0.0.0", "127.0.0.1" },
		{ "64:ff9b::0.0.0.0", "127.0.0.1" },
		{ "::", "::1" },
		{ "::1", "::1" },
		{ "64:ff9b:1::1.2.3.4", "64:ff9b:1::1.2.3.4" },
		{ "2002:102:304::", "2002:102:304::" },
	};
	uint8_t addr[16], want[16];

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		ck_assert(addr_parse(same[i].given, strlen(same[i].given), addr));
		ck_assert(addr_parse(same[i].reached, strlen(same[i].reached), want));
		addr_canonical(addr);
		addr_reached(addr);
		ck_assert_msg(memcmp(addr, want, 16) == 0, "%s", same[i].given);
	}
}
END_TEST

/* What some resolver would read as 127.0.0.1 or 10.1.2.3 is to us a name that nobody allowed, or nonsense. */
START_TEST(test_literal_tricks)
{
	static const char *const tricks[] = {
		"127.1",
		"0177.0.0.1",
		"0x7f.0.0.1",
		"2130706433",
		"0x7f000001",
		"017700000001",
		"127.0.1",
		"127.0.0.1.",
		"127.0.0.01",
		"127.0.0.1:80",
		"[::1]",
		"::1%lo",
		"0",
		"10.0x1.2.3",
		"127.0.0.1 ",
		"%31%32%37.0.0.1",
		"127\xe3\x80\x82"
		"0.0.1",
		"localhost:80",
		"10.1.515",
		"localhost\n",
	};

	fixture_rule(&fx, RULE_NET_ALLOW, "localhost");
	fixture_rule(&fx, RULE_NET_ALLOW, "127.0.0.1");
	fixture_rule(&fx, RULE_NET_ALLOW, "10.0.0.0/8");
	fixture_rule(&fx, RULE_NET_ALLOW, "*.example.org");
	fixture_compile(&fx);
	for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
		ck_assert_msg(judge(OP_CONNECT, tricks[i], NULL, 80).verdict == D, "%s", tricks[i]);
		ck_assert_msg(judge(OP_RESOLVE, tricks[i], NULL, 0).verdict == D, "%s", tricks[i]);
	}
}
END_TEST

START_TEST(test_bind)
{
	static const struct want w[] = {
		{ NULL, "127.0.0.1", 3000, A, REASON_HOST, 0 },
		{ NULL, "::1", 1024, A, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 0, A, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 80, D, REASON_HOST, 0 },
		{ NULL, "0.0.0.0", 3000, D, REASON_HOST, 0 },
		{ NULL, "::", 3000, D, REASON_HOST, 0 },
		{ NULL, "192.168.1.5", 3000, D, REASON_HOST, 0 },
		{ NULL, "0.0.0.0", 8080, A, REASON_RULE, 1 },
		{ NULL, "0.0.0.0", 9005, A, REASON_RULE, 2 },
		{ NULL, NULL, 9005, A, REASON_RULE, 2 },
		{ NULL, NULL, 3000, D, REASON_HOST, 0 },
		{ NULL, "0.0.0.0", 7000, D, REASON_HOST, 0 },
	};

	fixture_rule(&fx, RULE_NET_BIND, "8080");
	fixture_rule(&fx, RULE_NET_BIND, "9000-9010,443");
	fixture_rule(&fx, RULE_NET_BIND, "7000")->layer = LAYER_PROJECT;
	fixture_compile(&fx);
	EXPECT(OP_BIND, w);
}
END_TEST

/* Datagrams: only `udp =` lets out, `deny` and `ask` hold, `allow`, `core`, `bind` and `default` say nothing.
 */
START_TEST(test_datagrams)
{
	static const struct want w[] = {
		{ "allow.org", "93.1.1.1", 443, D, REASON_UDP, 0 },
		{ "core.org", "93.1.1.1", 443, D, REASON_UDP, 0 },
		{ "extra.org", "93.1.1.1", 443, D, REASON_UDP, 0 },
		{ "udp.org", "93.1.1.1", 123, A, REASON_RULE, 4 },
		{ "udp.org", NULL, 123, A, REASON_RULE, 4 },
		{ "udp.org", "93.1.1.1", 124, D, REASON_UDP, 0 },
		{ "udp.org", "10.1.1.1", 123, D, REASON_REBIND, 4 },
		{ "deny.org", "93.1.1.1", 123, D, REASON_RULE, 5 },
		{ "ask.org", "93.1.1.1", 123, Q, REASON_RULE, 6 },
		{ NULL, "10.1.1.1", 514, A, REASON_RULE, 7 },
		{ NULL, "10.1.1.1", 515, D, REASON_UDP, 0 },
		{ "localhost", "127.0.0.1", 5353, A, REASON_RULE, 8 },
		{ NULL, "::1", 5353, A, REASON_RULE, 8 },
		{ NULL, "127.0.0.1", 8080, D, REASON_UDP, 0 },
		{ NULL, "169.254.169.254", 123, D, REASON_HOST, 0 },
	};
	static const struct want streams[] = {
		{ "udp.org", "93.1.1.1", 123, D, REASON_HOST, 0 },
		{ "allow.org", "93.1.1.1", 443, A, REASON_RULE, 1 },
		{ "extra.org", "93.1.1.1", 443, A, REASON_RULE, 3 },
	};
	static const struct want names[] = {
		{ "udp.org", NULL, 0, A, REASON_RULE, 4 },
		{ "allow.org", NULL, 0, A, REASON_RULE, 1 },
		{ "other.org", NULL, 0, Q, REASON_HOST, 0 },
	};

	fx.p.s.net_default = VERDICT_DENY;
	fixture_rule(&fx, RULE_NET_ALLOW, "allow.org");
	fixture_rule(&fx, RULE_NET_CORE, "core.org");
	fixture_rule(&fx, RULE_NET_EXTRA, "extra.org");
	fixture_rule(&fx, RULE_NET_UDP, "udp.org:123");
	fixture_rule(&fx, RULE_NET_DENY, "deny.org");
	fixture_rule(&fx, RULE_NET_ASK, "ask.org");
	fixture_rule(&fx, RULE_NET_UDP, "10.0.0.0/8:514");
	fixture_rule(&fx, RULE_NET_UDP, "localhost:5353");
	fixture_rule(&fx, RULE_NET_BIND, "8080");
	fixture_compile(&fx);
	EXPECT_UDP(OP_CONNECT, w);
	EXPECT(OP_CONNECT, streams);
	/* The default asks of streams and look-ups, never of datagrams. */
	((struct image_header *)fx.bytes)->net_default = VERDICT_ASK;
	EXPECT(OP_RESOLVE, names);
	EXPECT_UDP(OP_CONNECT, w);
}
END_TEST

/* Whichever name server is meant; at level hooks nobody answers in its stead. */
START_TEST(test_look_ups_end_at_the_resolver)
{
	static const struct want above[] = {
		{ NULL, "8.8.8.8", 53, A, REASON_DNS, 0 },
		{ "dns.org", NULL, 53, A, REASON_DNS, 0 },
		{ NULL, "8.8.8.8", 853, D, REASON_HOST, 0 },
	};
	static const struct want hooks[] = { { NULL, "8.8.8.8", 53, D, REASON_HOST, 0 } };
	static const struct want datagrams[] = { { NULL, "8.8.8.8", 53, A, REASON_DNS, 0 } };
	static const struct want off[] = { { NULL, "8.8.8.8", 53, D, REASON_OFFLINE, 0 } };

	fx.p.s.net_default = VERDICT_DENY;
	fixture_compile(&fx);
	EXPECT(OP_CONNECT, hooks);
	((struct image_header *)fx.bytes)->level = LEVEL_FULL;
	EXPECT(OP_CONNECT, above);
	EXPECT_UDP(OP_CONNECT, datagrams);
	((struct image_header *)fx.bytes)->network = NETWORK_OFF;
	EXPECT(OP_CONNECT, off);
}
END_TEST

START_TEST(test_datagram_bind)
{
	static const struct want w[] = {
		{ NULL, "0.0.0.0", 0, A, REASON_HOST, 0 },
		{ NULL, "::", 0, A, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 5353, A, REASON_HOST, 0 },
		{ NULL, "127.0.0.1", 68, A, REASON_RULE, 1 },
		{ NULL, "127.0.0.1", 69, D, REASON_UDP, 0 },
		{ NULL, "0.0.0.0", 5353, D, REASON_UDP, 0 },
		{ NULL, "0.0.0.0", 8080, D, REASON_UDP, 0 },
		{ NULL, "0.0.0.0", 9999, A, REASON_RULE, 3 },
		{ NULL, "192.168.1.5", 7, A, REASON_RULE, 4 },
		{ NULL, "192.168.1.6", 7, D, REASON_UDP, 0 },
		{ NULL, NULL, 0, D, REASON_UDP, 0 },
	};

	fixture_rule(&fx, RULE_NET_UDP, "localhost:68");
	fixture_rule(&fx, RULE_NET_BIND, "8080");
	fixture_rule(&fx, RULE_NET_UDP, "0.0.0.0:9999");
	fixture_rule(&fx, RULE_NET_UDP, "192.168.1.5:7");
	fixture_rule(&fx, RULE_NET_DENY, "127.0.0.1");
	fixture_compile(&fx);
	EXPECT_UDP(OP_BIND, w);
}
END_TEST

TCase *tcase_eval_addr(void)
{
	TCase *t = tcase_create("addresses");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_addr_parse);
	tcase_add_test(t, test_addresses);
	tcase_add_test(t, test_localhost);
	tcase_add_test(t, test_here);
	tcase_add_test(t, test_rebinding);
	tcase_add_test(t, test_rebinding_where_an_address_rule_allows);
	tcase_add_test(t, test_metadata_needs_its_own_address);
	tcase_add_test(t, test_canonical);
	tcase_add_test(t, test_literal_tricks);
	tcase_add_test(t, test_bind);
	tcase_add_test(t, test_datagrams);
	tcase_add_test(t, test_datagram_bind);
	tcase_add_test(t, test_look_ups_end_at_the_resolver);
	return t;
}
