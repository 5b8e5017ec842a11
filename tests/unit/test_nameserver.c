/* Name servers: which lines of a resolv.conf name one, and which only look so. */
#include <check.h>
#include <string.h>

#include "policy/base/addr.h"
#include "tools/dns/nameserver.h"

Suite *suite_nameserver(void);

static bool names_in(const char *text, size_t len, const char *server)
{
	struct nameserver list[16];
	size_t n = nameserver_list(text, len, list, 16);
	uint8_t addr[16];

	ck_assert(addr_parse(server, strlen(server), addr));
	for (size_t i = 0; i < n; i++)
		if (memcmp(list[i].addr, addr, sizeof(addr)) == 0)
			return true;
	return false;
}

static bool names(const char *text, const char *server)
{
	return names_in(text, strlen(text), server);
}

START_TEST(test_listed)
{
	static const char text[] =
		"# made by hand\nsearch example.org\nnameserver 10.0.0.2\n"
		"nameserver\t192.0.2.1  # the other\nnameserver fe80::1%eth0\noptions use-vc";

	ck_assert(names(text, "10.0.0.2"));
	ck_assert(names(text, "192.0.2.1"));
	ck_assert(names(text, "fe80::1"));
	ck_assert(!names(text, "127.0.0.1"));
	ck_assert(!names(text, "10.0.0.20"));
	ck_assert(names("nameserver 0.0.0.0", "127.0.0.1"));
	ck_assert(names("nameserver ::", "::1"));
}
END_TEST

START_TEST(test_not_listed)
{
	static const char *const others[] = { "#nameserver 10.0.0.2\n", ";nameserver 10.0.0.2\n",
					      "nameservers 10.0.0.2\n", "nameserver10.0.0.2\n",
					      " nameserver 10.0.0.2\n", "search nameserver 10.0.0.2\n",
					      "nameserver 10.0.0.2.\n", "nameserver 10.0.2\n",
					      "nameserver\n10.0.0.2\n" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(!names(others[i], "10.0.0.2"), "%s", others[i]);
}
END_TEST

START_TEST(test_none_listed)
{
	static const char *const texts[] = { "", "\n\n", "search example.org\n", "nameserver",
					     "nameserver \n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(names(texts[i], "127.0.0.1"), "%s", texts[i]);
		ck_assert_msg(!names(texts[i], "127.0.0.2"), "%s", texts[i]);
	}
}
END_TEST

/* Only what stands within len counts: no line may borrow from what lies behind. */
START_TEST(test_cut)
{
	static const char text[] = "nameserver 10.0.0.23\n";

	ck_assert(names_in(text, strlen("nameserver 10.0.0.2"), "10.0.0.2"));
	ck_assert(!names_in(text, strlen("nameserver 10.0.0."), "10.0.0.2"));
}
END_TEST

Suite *suite_nameserver(void)
{
	Suite *s = suite_create("nameserver");
	TCase *tc = tcase_create("nameserver");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, test_listed);
	tcase_add_test(tc, test_not_listed);
	tcase_add_test(tc, test_none_listed);
	tcase_add_test(tc, test_cut);
	return s;
}
