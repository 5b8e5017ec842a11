/* What names may carry: their length, and how many there are below one domain. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tools/dns/limits.h"

Suite *suite_dns_limits(void);

START_TEST(test_limits)
{
	struct dns_limits *l = dns_limits_new();
	char name[256];

	ck_assert(dns_limits_pass(l, "d3b07384d113edec49eaa6238ad5ff00.cdn.example.com", 100));
	ck_assert(!dns_limits_pass(l, "d3b07384d113edec49eaa6238ad5ff00d3b07384d113edec4.example.com", 100));
	memset(name, 0, sizeof(name));
	for (int i = 0; i < 20; i++)
		strcat(name, "abcdef.");
	strcat(name, "com");
	ck_assert(!dns_limits_pass(l, name, 100));
	for (unsigned i = 1; i < DNS_BELOW_MAX; i++) {
		snprintf(name, sizeof(name), "n%u.b.example.com", i);
		ck_assert(dns_limits_pass(l, name, 100));
	}
	/* One below it more is too many, but not one that was asked for, nor one below another domain. */
	ck_assert(!dns_limits_pass(l, "more.example.com", 110));
	ck_assert(dns_limits_pass(l, "n1.b.example.com", 110));
	ck_assert(dns_limits_pass(l, "n1.example.org", 110));
	ck_assert(dns_limits_pass(l, "one.co.uk", 110) && dns_limits_pass(l, "two.co.uk", 110));
	ck_assert(dns_limits_pass(l, "more.example.com", 161));
	/* In all. */
	for (unsigned i = 0; i < DNS_ANY_MAX; i++) {
		snprintf(name, sizeof(name), "a.b%u.com", i);
		ck_assert(dns_limits_pass(l, name, 1000));
	}
	ck_assert(!dns_limits_pass(l, "a.other.com", 1000));
	ck_assert(dns_limits_pass(l, "a.b1.com", 1000));
	dns_limits_free(l);
}
END_TEST

Suite *suite_dns_limits(void)
{
	Suite *s = suite_create("dns_limits");
	TCase *c = tcase_create("dns_limits");

	tcase_add_test(c, test_limits);
	suite_add_tcase(s, c);
	return s;
}
