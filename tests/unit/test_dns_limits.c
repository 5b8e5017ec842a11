/* What names may carry: their length, and how many there are below one domain. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tools/dns/name_limits.h"

Suite *suite_dns_limits(void);

#define A     1
#define TXT   16
#define AAAA  28
#define HTTPS 65

START_TEST(test_limits)
{
	struct dns_limits *l = dns_limits_new();
	char name[256];

	ck_assert(dns_limits_pass(l, "d3b07384d113edec49eaa6238ad5ff00.cdn.example.com", A, 100));
	ck_assert(
		!dns_limits_pass(l, "d3b07384d113edec49eaa6238ad5ff00d3b07384d113edec4.example.com", A, 100));
	memset(name, 0, sizeof(name));
	for (int i = 0; i < 20; i++)
		strcat(name, "abcdef.");
	strcat(name, "com");
	ck_assert(!dns_limits_pass(l, name, A, 100));
	for (unsigned i = 1; i < DNS_BELOW_MAX; i++) {
		snprintf(name, sizeof(name), "n%u.b.example.com", i);
		ck_assert(dns_limits_pass(l, name, A, 100));
	}
	/* One below it more is too many, but not one that was asked for, nor one below another domain. */
	ck_assert(!dns_limits_pass(l, "more.example.com", A, 110));
	ck_assert(dns_limits_pass(l, "n1.b.example.com", A, 110));
	ck_assert(dns_limits_pass(l, "n1.example.org", A, 110));
	ck_assert(dns_limits_pass(l, "one.co.uk", A, 110) && dns_limits_pass(l, "two.co.uk", A, 110));
	ck_assert(dns_limits_pass(l, "more.example.com", A, 161));
	/* In all. */
	for (unsigned i = 0; i < DNS_ANY_MAX; i++) {
		snprintf(name, sizeof(name), "a.b%u.com", i);
		ck_assert(dns_limits_pass(l, name, A, 1000));
	}
	ck_assert(!dns_limits_pass(l, "a.other.com", A, 1000));
	ck_assert(dns_limits_pass(l, "a.b1.com", A, 1000));
	dns_limits_free(l);
}
END_TEST

/* Of a name, each type but those of an ordinary look-up counts. */
START_TEST(test_types)
{
	struct dns_limits *l = dns_limits_new();

	for (uint16_t type = 300; type < 300 + DNS_BELOW_MAX - 1; type++)
		ck_assert(dns_limits_pass(l, "a.example.com", type, 100));
	ck_assert(dns_limits_pass(l, "a.example.com", A, 100));
	ck_assert(!dns_limits_pass(l, "a.example.com", TXT, 101));
	ck_assert(!dns_limits_pass(l, "a.example.com", 999, 101));
	ck_assert(dns_limits_pass(l, "a.example.com", AAAA, 101));
	ck_assert(dns_limits_pass(l, "a.example.com", HTTPS, 101));
	ck_assert(dns_limits_pass(l, "a.example.com", 300, 101));
	dns_limits_free(l);
}
END_TEST

Suite *suite_dns_limits(void)
{
	Suite *s = suite_create("dns_limits");
	TCase *c = tcase_create("dns_limits");

	tcase_add_test(c, test_limits);
	tcase_add_test(c, test_types);
	suite_add_tcase(s, c);
	return s;
}
