/* Socket addresses: one spelling for each destination, whatever length and family are claimed. */
#include <check.h>
#include <stddef.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/sockaddr.h"
#include "policy/lesson/known_sockets.h"

Suite *suite_sockaddr(void);

static struct sockaddr_in6 in6(const char *text, uint16_t port)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	ck_assert(addr_parse(text, strlen(text), sa.sin6_addr.s6_addr));
	return sa;
}

static struct sockaddr_in in4(uint32_t addr, uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(addr) };
}

/* What a person reads of it: "ADDRESS:PORT", "-" where it is no address. */
static const char *shown(bool (*take)(const void *, size_t, uint8_t *, uint16_t *), const void *sa,
			 size_t len)
{
	static char text[64];
	struct out o = out_of(text, sizeof(text));
	uint8_t addr[16];
	uint16_t port;

	if (!take(sa, len, addr, &port))
		return "-";
	text_inet(&o, addr);
	text_str(&o, ":");
	text_uint(&o, port);
	return text_end(&o);
}

START_TEST(test_inet)
{
	struct sockaddr_in a = in4(0x7f000001, 80), any = in4(0, 8000);
	struct sockaddr_in6 b = in6("fe80::1:2", 443), mapped = in6("::ffff:10.0.0.1", 1),
			    any6 = in6("::", 2), any46 = in6("::ffff:0.0.0.0", 3);

	ck_assert_str_eq(shown(sockaddr_reached, &a, sizeof(a)), "127.0.0.1:80");
	ck_assert_str_eq(shown(sockaddr_reached, &b, sizeof(b)), "[fe80:0:0:0:0:0:1:2]:443");
	ck_assert_str_eq(shown(sockaddr_reached, &mapped, sizeof(mapped)), "10.0.0.1:1");
	ck_assert_str_eq(shown(sockaddr_reached, &any, sizeof(any)), "127.0.0.1:8000");
	ck_assert_str_eq(shown(sockaddr_reached, &any6, sizeof(any6)), "[0:0:0:0:0:0:0:1]:2");
	ck_assert_str_eq(shown(sockaddr_reached, &any46, sizeof(any46)), "127.0.0.1:3");
	/* Bound to, "any" is every address of the machine. */
	ck_assert_str_eq(shown(sockaddr_inet, &any, sizeof(any)), "0.0.0.0:8000");
	ck_assert_str_eq(shown(sockaddr_inet, &any6, sizeof(any6)), "[0:0:0:0:0:0:0:0]:2");
	a.sin_family = AF_UNSPEC;
	ck_assert_str_eq(shown(sockaddr_reached, &a, sizeof(a)), "127.0.0.1:80");
}
END_TEST

START_TEST(test_inet_lengths)
{
	struct sockaddr_in a = in4(0x7f000001, 80);
	struct sockaddr_in6 b = in6("::1", 443);

	for (size_t len = 0; len < sizeof(a); len++)
		ck_assert_str_eq(shown(sockaddr_reached, &a, len), "-");
	for (size_t len = 0; len < 24; len++)
		ck_assert_str_eq(shown(sockaddr_reached, &b, len), "-");
	/* Without the scope, as the kernel takes it. */
	ck_assert_str_eq(shown(sockaddr_reached, &b, 24), "[0:0:0:0:0:0:0:1]:443");
}
END_TEST

static const size_t head = offsetof(struct sockaddr_un, sun_path);

static enum sockaddr_name named(const char *path, size_t n, char name[SOCKADDR_NAME])
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	memset(un.sun_path, 'x', sizeof(un.sun_path)); /* what stands behind len is not looked at */
	memcpy(un.sun_path, path, n);
	return sockaddr_unix(&un, head + n, name);
}

START_TEST(test_unix)
{
	char name[SOCKADDR_NAME];

	ck_assert_int_eq(named("/run/a", 6, name), SOCKADDR_PATH);
	ck_assert_str_eq(name, "/run/a");
	ck_assert_int_eq(named("a\0b", 4, name), SOCKADDR_PATH);
	ck_assert_str_eq(name, "a");
	ck_assert_int_eq(named("\0a\0\x1b", 4, name), SOCKADDR_ABSTRACT);
	ck_assert_str_eq(name, "@a\\x00\\x1b");
	ck_assert_int_eq(named("\0", 1, name), SOCKADDR_ABSTRACT);
	ck_assert_str_eq(name, "@");
}
END_TEST

START_TEST(test_unix_lengths)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char longest[sizeof(un.sun_path)], name[SOCKADDR_NAME];

	memset(longest, '/', sizeof(longest));
	ck_assert_int_eq(named(longest, sizeof(longest), name), SOCKADDR_PATH);
	ck_assert_uint_eq(strlen(name), sizeof(longest));
	memset(longest, '\x01', sizeof(longest));
	longest[0] = '\0';
	ck_assert_int_eq(named(longest, sizeof(longest), name), SOCKADDR_ABSTRACT);
	ck_assert_uint_eq(strlen(name), 1 + 4 * (sizeof(longest) - 1));
	for (size_t len = 0; len <= head; len++)
		ck_assert_int_eq(sockaddr_unix(&un, len, name), SOCKADDR_NONE);
	ck_assert_int_eq(sockaddr_unix(&un, sizeof(un) + 1, name), SOCKADDR_NONE);
	un.sun_family = AF_INET;
	ck_assert_int_eq(sockaddr_unix(&un, sizeof(un), name), SOCKADDR_NONE);
}
END_TEST

START_TEST(name_services)
{
	ck_assert(sockaddr_is_name_service("/run/nscd/socket"));
	ck_assert(sockaddr_is_name_service("/var/run/nscd/socket"));
	ck_assert(sockaddr_is_name_service("/run/systemd/resolve/io.systemd.Resolve"));
	ck_assert(!sockaddr_is_name_service("/var/run/nscd/socket2"));
	ck_assert(!sockaddr_is_name_service("/var/run"));
	ck_assert(!sockaddr_is_name_service("run/nscd/socket"));
}
END_TEST

START_TEST(what_is_meant)
{
	uint8_t nat64[16] = { 0, 0x64, 0xff, 0x9b, [12] = 10, 0, 0, 1 }, any[16] = { 0 };
	const uint8_t ten[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, one[16] = { [15] = 1 };
	const uint8_t eight[16] = { [10] = 0xff, 0xff, 8, 8, 8, 8 };

	sockaddr_meant(nat64);
	ck_assert_mem_eq(nat64, ten, 16);
	sockaddr_meant(any);
	ck_assert_mem_eq(any, one, 16);
	ck_assert(!sockaddr_is_public(ten));
	ck_assert(!sockaddr_is_public(one));
	ck_assert(sockaddr_is_public(eight));
}
END_TEST

START_TEST(known_sockets)
{
	ck_assert_ptr_nonnull(socket_known("/run/docker.sock"));
	ck_assert_ptr_nonnull(socket_known("/run/user/1000/bus"));
	ck_assert_ptr_nonnull(socket_known("/tmp/tmux-1000/default"));
	ck_assert_ptr_nonnull(socket_known("@/tmp/.X11-unix/X0"));
	ck_assert_ptr_nonnull(socket_known("/home/ana/.gnupg/S.gpg-agent"));
	ck_assert_ptr_null(socket_known("/home/ana/work/server.sock"));
	ck_assert_ptr_null(socket_known("/var/run/postgresql/.s.PGSQL.5432"));
	ck_assert_ptr_null(socket_known(""));
}
END_TEST

Suite *suite_sockaddr(void)
{
	Suite *s = suite_create("sockaddr");
	TCase *tc = tcase_create("sockaddr");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, test_inet);
	tcase_add_test(tc, test_inet_lengths);
	tcase_add_test(tc, test_unix);
	tcase_add_test(tc, test_unix_lengths);
	tcase_add_test(tc, name_services);
	tcase_add_test(tc, what_is_meant);
	tcase_add_test(tc, known_sockets);
	return s;
}
