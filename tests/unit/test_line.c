/* Lines: how many there may be, what is left of them, and what they say and take as datagram sockets do. */
#include <sys/resource.h>

#include "policy/base/util.h"

#include "tests/unit/line_fixture.h"

Suite *suite_line(void);

#define SERVERS 3

static struct carried t;
static int servers[SERVERS];
static uint16_t ports[SERVERS], closed_port;
static pthread_t threads[SERVERS];
static char rule[SERVERS][32];

static void rules(struct fixture *f)
{
	for (int i = 0; i < SERVERS; i++)
		fixture_rule(f, RULE_NET_UDP, rule[i]);
}

static void setup(void)
{
	int closed = udp_server(&closed_port);

	for (int i = 0; i < SERVERS; i++) {
		servers[i] = udp_server(&ports[i]);
		snprintf(rule[i], sizeof(rule[i]), "localhost:%u", ports[i]);
		ck_assert_int_eq(pthread_create(&threads[i], NULL, udp_echo, &servers[i]), 0);
	}
	close(closed);
	net_setup(&t, rules);
	carried_handler = line_handler;
}

static void teardown(void)
{
	net_done(&t);
	for (int i = 0; i < SERVERS; i++)
		udp_stop(servers[i], ports[i], threads[i]);
}

/* --- birth and death -------------------------------------------------------------------------------- */

/* More than there may be at once, each with a real socket; some are left to the end. */
static int come_and_go(void)
{
	for (int i = 0; i < 2000; i++) {
		int flags = i % 2 ? SOCK_CLOEXEC : 0, fd = udp_line(flags);

		/* Who is gone is let go by the loop, which may be later. */
		for (int k = 0; fd == -ENOBUFS && k < 5000; k++) {
			usleep(1000);
			fd = udp_line(flags);
		}
		EXPECT(fd >= 0);
		EXPECT(fcntl(fd, F_GETFD) == (i % 2 ? FD_CLOEXEC : 0));
		if (i % 4 == 0)
			EXPECT(send_to(fd, "x", 1, ports[0]) == 1);
		if (i % 100)
			close(fd);
	}
	return 0;
}

START_TEST(none_is_left)
{
	size_t files;

	carried_start(&t, come_and_go);
	files = carried_entries("/proc/self/fd");
	carried_go(&t);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, no_lines);
	/* The loop's own two, and what is remembered of the child. */
	ck_assert_uint_le(carried_entries("/proc/self/fd"), files + 6);
}
END_TEST

static int too_many(void)
{
	struct rlimit room;
	int fd = 0, n = 0, held[LINES_MAX + 1];

	EXPECT(getrlimit(RLIMIT_NOFILE, &room) == 0);
	room.rlim_cur = room.rlim_max;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	while (n <= (int)LINES_MAX && (fd = udp_line(0)) >= 0)
		held[n++] = fd;
	EXPECT(fd == -ENOBUFS && n >= 64 && n <= (int)LINES_MAX);
	close(held[0]);
	for (int k = 0; k < 5000 && (fd = udp_line(0)) < 0; k++)
		usleep(1000);
	EXPECT(fd >= 0);
	return 0;
}

START_TEST(so_many_and_no_more)
{
	net_run(&t, too_many);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, "too many datagram sockets"), 1);
}
END_TEST

static size_t files_here(void)
{
	return carried_entries("/proc/self/fd");
}

/* Both or none. */
static int pairs_at_the_limit(void)
{
	struct rlimit room = { 0, 1024 };
	int fd[2] = { 7, 7 }, spare, low;
	size_t before;

	/* No hole below what was inherited. */
	EXPECT(syscall(SYS_close_range, 3, ~0u, 0) == 0);
	EXPECT(CALL(LINE_SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, fd) == 0);
	close(fd[0]);
	close(fd[1]);
	low = dup(0);
	close(low);
	room.rlim_cur = (rlim_t)low + 1;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	EXPECT((spare = dup(0)) == low && dup(0) < 0);
	close(spare);
	room.rlim_cur = (rlim_t)low + 4;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	before = files_here();
	room.rlim_cur = (rlim_t)low + 1;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	EXPECT(CALL(LINE_SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, fd) == -EMFILE);
	room.rlim_cur = (rlim_t)low + 4;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	EXPECT(files_here() == before);
	/* A number beyond the limit takes nobody's place. */
	EXPECT(dup2(0, low + 3) == low + 3);
	room.rlim_cur = (rlim_t)low + 2;
	EXPECT(setrlimit(RLIMIT_NOFILE, &room) == 0);
	EXPECT(CALL(LINE_SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, fd) == 0);
	EXPECT(fd[0] == low && fd[1] == low + 1);
	return 0;
}

START_TEST(a_pair_is_two)
{
	net_run(&t, pairs_at_the_limit);
}
END_TEST

/* --- whose it is --------------------------------------------------------------------------------------- */

/* Until so many bytes lie there unread. */
static void arrive(int fd, int bytes)
{
	int n = 0;

	for (int i = 0; i < 5000 && n < bytes; i++) {
		(void)syscall(SYS_ioctl, fd, 0x541B /* FIONREAD */, &n);
		usleep(1000);
	}
}

static int ask_around(void)
{
	static const char *said[] = { "a", "", "bb", "ccc", "", "b", "aaaa" };
	static const int by[] = { 0, 2, 1, 2, 0, 1, 0 };
	int fd = udp_line(0), sum = 0;
	char buf[16];
	uint16_t port;

	for (unsigned i = 0; i < NELEM(said); i++) {
		EXPECT(send_to(fd, said[i], strlen(said[i]), ports[by[i]]) == (long)strlen(said[i]));
		sum += (int)strlen(said[i]);
		arrive(fd, sum);
		usleep(20000);
	}
	for (unsigned i = 0; i < NELEM(said); i++) {
		EXPECT(recv_from(fd, buf, sizeof(buf), MSG_PEEK, &port) == (long)strlen(said[i]));
		EXPECT(port == ports[by[i]]);
		/* The kernel's own receiving in between. */
		if (i == 2) {
			EXPECT(recv(fd, buf, sizeof(buf), 0) == (long)strlen(said[i]));
			continue;
		}
		EXPECT(recv_from(fd, buf, sizeof(buf), 0, &port) == (long)strlen(said[i]));
		EXPECT(port == ports[by[i]] && memcmp(buf, said[i], strlen(said[i])) == 0);
	}
	EXPECT(recv_from(fd, buf, sizeof(buf), MSG_DONTWAIT, NULL) == -EAGAIN);
	/* Nobody is there to have it. */
	EXPECT(send_to(fd, "x", 1, closed_port) == 1);
	return 0;
}

START_TEST(each_has_its_source)
{
	net_run(&t, ask_around);
}
END_TEST

/* --- memory --------------------------------------------------------------------------------------------- */

static int small_rooms(void)
{
	struct sockaddr_in from = { 0 };
	struct iovec iov[2] = { { 0 } };
	struct line_message m = { 0 };
	char buf[8] = "........";
	int fd = udp_line(0), len = 4;

	EXPECT(send_to(fd, "12345", 5, ports[0]) == 5 && send_to(fd, "12345", 5, ports[0]) == 5);
	EXPECT(send_to(fd, "12345", 5, ports[0]) == 5);
	arrive(fd, 15);
	EXPECT(CALL(LINE_RECVFROM, fd, buf, 3, MSG_PEEK | MSG_TRUNC, &from, &len) == 5);
	EXPECT(memcmp(buf, "123.", 4) == 0 && len == sizeof(from) && from.sin_family == AF_INET);
	/* Four bytes of it, and how many there were. */
	EXPECT(from.sin_addr.s_addr == 0);
	iov[0] = (struct iovec){ buf, 1 };
	iov[1] = (struct iovec){ buf + 4, 2 };
	m = (struct line_message){ (uint64_t)&from, sizeof(from), 0, (uint64_t)iov, 2, 0, 0, 0, 0 };
	EXPECT(CALL(LINE_RECVMSG, fd, &m, 0) == 3);
	EXPECT(m.flags == MSG_TRUNC && m.namelen == sizeof(from) && m.controllen == 0);
	EXPECT(memcmp(buf, "123.23", 6) == 0 && ntohs(from.sin_port) == ports[0]);
	m.flags = 0;
	EXPECT(CALL(LINE_RECVMSG, fd, &m, MSG_TRUNC | MSG_DONTWAIT) == 5 && m.flags == MSG_TRUNC);
	return 0;
}

/* What cannot be read or written is said; nothing is sent from there. */
static int bad_memory(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, ports[0]);
	char *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), buf[8];
	struct line_message m = { (uint64_t)&at, sizeof(at), 0, (uint64_t)bad, 1, 0, 0, 0, 0 };
	int fd = udp_line(0), len = -1;

	EXPECT(CALL(LINE_SENDTO, fd, bad, 4, 0, &at, sizeof(at)) == -EFAULT);
	EXPECT(CALL(LINE_SENDTO, fd, buf, 4, 0, bad, sizeof(at)) == -EFAULT);
	EXPECT(CALL(LINE_SENDTO, fd, buf, 4, 0, &at, 3) == -EINVAL);
	EXPECT(CALL(LINE_SENDTO, fd, buf, 4, 0, &at, -1) == -EINVAL);
	EXPECT(CALL(LINE_SENDTO, fd, buf, 70000, 0, &at, sizeof(at)) == -EMSGSIZE);
	EXPECT(CALL(LINE_SENDMSG, fd, &m, 0) == -EFAULT);
	EXPECT(CALL(LINE_SENDMSG, fd, bad, 0) == -EFAULT);
	m.iovlen = LINE_IOV_MAX + 1;
	EXPECT(CALL(LINE_SENDMSG, fd, &m, 0) == -EMSGSIZE);
	EXPECT(CALL(LINE_SOCKNAME, fd, bad, bad) == -EFAULT);
	EXPECT(CALL(LINE_SOCKNAME, fd, &at, &len) == -EINVAL);
	for (int i = 0; i < 3; i++)
		EXPECT(send_to(fd, "12345", 5, ports[0]) == 5);
	arrive(fd, 15);
	len = sizeof(at);
	EXPECT(CALL(LINE_RECVFROM, fd, bad, 4, 0, &at, &len) == -EFAULT);
	EXPECT(CALL(LINE_RECVFROM, fd, buf, 4, 0, &at, bad) == -EFAULT);
	len = 2;
	EXPECT(CALL(LINE_RECVFROM, fd, buf, 4, 0, &at, &len) == 4 && len == sizeof(at));
	EXPECT(CALL(LINE_RECVFROM, fd, buf, 4, MSG_OOB, &at, &len) == -EOPNOTSUPP);
	return 0;
}

START_TEST(small_buffers)
{
	net_run(&t, small_rooms);
}
END_TEST

START_TEST(no_memory_of_the_callers)
{
	net_run(&t, bad_memory);
}
END_TEST

/* --- ends --- */

static int where(int what, int fd, struct sockaddr_in *ret)
{
	socklen_t len = sizeof(*ret);

	memset(ret, 0, sizeof(*ret));
	return (int)CALL(what, fd, ret, &len);
}

static long connect_to(int fd, uint16_t port)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);

	return CALL(LINE_CONNECT, fd, &at, sizeof(at));
}

static int connect_around(void)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	const struct timeval limit = { .tv_sec = 5 };
	struct sockaddr_in own, peer, before;
	int fd = udp_line(0);
	char buf[8];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	EXPECT(where(LINE_SOCKNAME, fd, &own) == 0 && own.sin_family == AF_INET && own.sin_port == 0);
	EXPECT(where(LINE_PEERNAME, fd, &peer) == -ENOTCONN);
	EXPECT(connect_to(fd, ports[0]) == 0);
	EXPECT(where(LINE_SOCKNAME, fd, &before) == 0 && before.sin_port != 0);
	EXPECT(before.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	EXPECT(send(fd, "one", 3, 0) == 3 && recv(fd, buf, 8, 0) == 3);
	EXPECT(where(LINE_SOCKNAME, fd, &own) == 0 && own.sin_port == before.sin_port);
	EXPECT(where(LINE_PEERNAME, fd, &peer) == 0 && ntohs(peer.sin_port) == ports[0]);
	/* Another peer, and the first is not heard any more. */
	EXPECT(connect_to(fd, ports[1]) == 0);
	EXPECT(send(fd, "two", 3, 0) == 3 && recv_from(fd, buf, 8, 0, &own.sin_port) == 3);
	EXPECT(own.sin_port == ports[1]);
	EXPECT(send_to(fd, "three", 5, ports[0]) == 5);
	usleep(100000);
	EXPECT(recv(fd, buf, 8, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	EXPECT(CALL(LINE_CONNECT, fd, &none, sizeof(none)) == 0);
	EXPECT(where(LINE_PEERNAME, fd, &peer) == -ENOTCONN);
	EXPECT(send_to(fd, "four", 4, ports[2]) == 4 && recv_from(fd, buf, 8, 0, &own.sin_port) == 4);
	EXPECT(own.sin_port == ports[2]);
	/* Nobody denied is told so before something is sent, and then it is not sent. */
	EXPECT(connect_to(fd, closed_port) == 0);
	EXPECT(send(fd, "five", 4, 0) == 4);
	EXPECT(CALL(LINE_CONNECT, fd, &none, 1) == -EINVAL);
	return 0;
}

START_TEST(connected_and_not)
{
	net_run(&t, connect_around);
}
END_TEST

static int join_a_group(void)
{
	struct ip_mreq group = { { htonl(0xe00000fbu) }, { htonl(INADDR_ANY) } };
	int fd = udp_line(0), on = 1;

	EXPECT(CALL(LINE_SETSOCKOPT, fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)) == -EACCES);
	EXPECT(CALL(LINE_SETSOCKOPT, fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) == 0);
	EXPECT(CALL(LINE_SETSOCKOPT, fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == -ENOPROTOOPT);
	return 0;
}

START_TEST(no_groups)
{
	net_run(&t, join_a_group);
	ck_assert_uint_eq(count_records(&t, VERDICT_DENY, "multicast group"), 1);
}
END_TEST

Suite *suite_line(void)
{
	Suite *s = suite_create("line");
	TCase *tc = tcase_create("line");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, none_is_left);
	tcase_add_test(tc, so_many_and_no_more);
	tcase_add_test(tc, a_pair_is_two);
	tcase_add_test(tc, each_has_its_source);
	tcase_add_test(tc, small_buffers);
	tcase_add_test(tc, no_memory_of_the_callers);
	tcase_add_test(tc, connected_and_not);
	tcase_add_test(tc, no_groups);
	suite_add_tcase(s, tc);
	return s;
}
