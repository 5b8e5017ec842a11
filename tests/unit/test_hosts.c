/* Which names led to an address: what answers taught, for as long as they live, and a file of hosts(5). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/supervisor/hosts/hosts.h"

Suite *suite_hosts(void);

static struct hosts *h;
static const uint8_t here[16] = { [10] = 0xff, [11] = 0xff, 203, 0, 113, 1 };
static const uint8_t there[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
static struct host_name found[16];

static void setup(void)
{
	h = hosts_new();
	ck_assert_ptr_nonnull(h);
}

static void teardown(void)
{
	hosts_free(h);
}

static struct host_name named(const char *name)
{
	struct host_name n = { 0 };

	snprintf(n.name, sizeof(n.name), "%s", name);
	return n;
}

static void learn(const char *name, const uint8_t addr[16], uint32_t ttl)
{
	struct host_name n = named(name);

	hosts_learn(h, &n, addr, ttl);
}

static size_t find(const uint8_t addr[16])
{
	return hosts_find(h, addr, found, 16);
}

START_TEST(newest_first)
{
	ck_assert_uint_eq(find(here), 0);
	learn("a.example", here, 300);
	learn("b.example", here, 300);
	learn("c.example", there, 300);
	ck_assert_uint_eq(find(here), 2);
	ck_assert_str_eq(found[0].name, "b.example");
	ck_assert_str_eq(found[1].name, "a.example");
	learn("a.example", here, 300);
	ck_assert_uint_eq(find(here), 2);
	ck_assert_str_eq(found[0].name, "a.example");
	ck_assert_uint_eq(find(there), 1);
	ck_assert_uint_eq(hosts_find(h, here, found, 1), 1);
	ck_assert_uint_eq(hosts_find(h, here, found, 0), 0);
	learn("", there, 300);
	ck_assert_uint_eq(find(there), 1);
}
END_TEST

START_TEST(an_answer_lives_and_ends)
{
	learn("short.example", here, 0);
	learn("hour.example", here, 3600);
	learn("long.example", here, UINT32_MAX);
	hosts_shift(h, HOSTS_FLOOR - 2);
	ck_assert_uint_eq(find(here), 3);
	hosts_shift(h, 3);
	ck_assert_uint_eq(find(here), 2);
	/* What is said anew for a shorter time does not shorten what was said before. */
	learn("hour.example", here, 0);
	hosts_shift(h, 3000);
	ck_assert_uint_eq(find(here), 2);
	hosts_shift(h, 600);
	ck_assert_uint_eq(find(here), 1);
	ck_assert_str_eq(found[0].name, "long.example");
	hosts_shift(h, HOSTS_CAP);
	ck_assert_uint_eq(find(here), 0);
}
END_TEST

/* Whom a human let look it up is kept, each for himself. */
START_TEST(approvals)
{
	struct host_name n = named("ask.example");

	strcpy(n.yes.approval, "7f3a");
	n.yes.pid = 10;
	hosts_learn(h, &n, here, 300);
	n.yes.pid = 11;
	hosts_learn(h, &n, here, 300);
	ck_assert_uint_eq(find(here), 2);
	ck_assert_int_eq(found[0].yes.pid, 11);
	ck_assert_int_eq(found[1].yes.pid, 10);
	ck_assert_str_eq(found[1].yes.approval, "7f3a");
}
END_TEST

START_TEST(bounded)
{
	char name[32];
	uint8_t addr[16];

	learn("first.example", here, 3600);
	learn("second.example", there, 3600);
	for (unsigned i = 0; i < HOSTS_MAX - 1; i++) {
		memcpy(addr, here, 16);
		memcpy(addr + 12, &i, sizeof(i));
		snprintf(name, sizeof(name), "n%u.example", i);
		learn(name, addr, 60);
	}
	ck_assert_uint_eq(find(here), 0);
	ck_assert_uint_eq(find(there), 1);
	ck_assert_uint_eq(find(addr), 1);
}
END_TEST

/* --- the file ----------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(the_file)
{
	char path[] = "/tmp/pale-hosts-XXXXXX", long_name[2 * LIMIT_HOST] = { 0 };
	struct hosts_file f = { .path = path, .lock = PTHREAD_MUTEX_INITIALIZER };
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_eq(hosts_file_find(&f, here, found, 16), 0);
	write_file(path, "# a comment\n"
			 "203.0.113.1\tWWW.Example. alias # not.this\r\n"
			 "nonsense here.example\n203.0.113.01 octal.example\n"
			 "2001:db8::1 six.example\n203.0.113.1 later\nfe80::1%lo zone.example");
	ck_assert_uint_eq(hosts_file_find(&f, here, found, 16), 3);
	ck_assert_str_eq(found[0].name, "www.example");
	ck_assert_str_eq(found[1].name, "alias");
	ck_assert_str_eq(found[2].name, "later");
	ck_assert_int_eq(found[0].yes.pid, 0);
	ck_assert_uint_eq(hosts_file_find(&f, here, found, 2), 2);
	ck_assert_uint_eq(hosts_file_find(&f, there, found, 16), 1);
	ck_assert_str_eq(found[0].name, "six.example");
	/* It changes. */
	memset(long_name, 'x', sizeof(long_name) - 1);
	memcpy(long_name, "203.0.113.1 ", 12);
	write_file(path, long_name);
	ck_assert_uint_eq(hosts_file_find(&f, here, found, 16), 0);
	ck_assert_uint_eq(hosts_file_find(&f, there, found, 16), 0);
	unlink(path);
	ck_assert_uint_eq(hosts_file_find(&f, here, found, 16), 0);
	hosts_file_done(&f);
}
END_TEST

Suite *suite_hosts(void)
{
	Suite *s = suite_create("hosts");
	TCase *tc = tcase_create("hosts");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, newest_first);
	tcase_add_test(tc, an_answer_lives_and_ends);
	tcase_add_test(tc, approvals);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, the_file);
	return s;
}
