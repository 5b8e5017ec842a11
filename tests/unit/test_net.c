/* Carried calls of inet sockets: whom they reach, what they say, how long they wait. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "tests/unit/net_fixture.h"
#include "tools/supervisor/lobby/waiting.h"
#include "tools/supervisor/supervisor.h"

Suite *suite_net(void);

static struct carried t;
static uint16_t good, bad; /* ports */
static int good_fd, bad_fd;
static char good_name[32];

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_NET_ALLOW, good_name);
	fixture_rule(f, RULE_NET_ALLOW,
		     "192.0.2.0/24:443"); /* not public: a name alone does not lead there */
}

static void setup(void)
{
	good_fd = listener_at(&good, 16);
	bad_fd = listener_at(&bad, 16);
	set_nonblock(good_fd);
	set_nonblock(bad_fd);
	snprintf(good_name, sizeof(good_name), "localhost:%u", good);
	net_setup(&t, rules);
}

static void teardown(void)
{
	net_done(&t);
	close(good_fd);
	close(bad_fd);
}

static const char *at_port(const char *host, uint16_t port)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s:%u", host, port);
	return text;
}

/* --- whom ----------------------------------------------------------------------------------------- */

static int reach_both(void)
{
	struct sockaddr_in yes = in_at(INADDR_LOOPBACK, good), no = in_at(INADDR_LOOPBACK, bad);
	int a = tcp(), b = tcp();
	char byte = 'x';

	if (carried_connect(a, &yes, sizeof(yes)) != 0 || send(a, &byte, 1, 0) != 1)
		return 1;
	if (carried_connect(b, &no, sizeof(no)) != -EACCES)
		return 2;
	return 0;
}

START_TEST(allowed_and_denied)
{
	struct ring_record r;

	net_run(&t, reach_both);
	ck_assert_uint_eq(arrived(good_fd), 1);
	ck_assert_uint_eq(arrived(bad_fd), 0);
	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.verdict, VERDICT_ALLOW);
	ck_assert_str_eq(r.target, at_port("127.0.0.1", good));
	ck_assert(carried_record(&t, &r));
	ck_assert_int_eq(r.verdict, VERDICT_DENY);
	ck_assert_int_eq(r.op, OP_CONNECT);
	ck_assert_str_eq(r.target, at_port("127.0.0.1", bad));
	ck_assert(!carried_record(&t, &r));
}
END_TEST

/* Each spelling of this machine, to either port. */
static long reach_as(const uint8_t addr[16], uint16_t port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	long r;

	memcpy(&at.sin6_addr, addr, 16);
	r = carried_connect(fd, &at, sizeof(at));
	close(fd);
	return r;
}

static int reach_spelled(void)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
	static const uint8_t mapped_any[16] = { [10] = 0xff, 0xff, 0, 0, 0, 0 };
	static const uint8_t any[16], nat64[16] = { 0, 0x64, 0xff, 0x9b, [12] = 127, 0, 0, 1 };
	struct sockaddr_in any4 = in_at(INADDR_ANY, bad), other = in_at(INADDR_LOOPBACK + 4, bad);

	if (carried_connect(tcp(), &any4, sizeof(any4)) != -EACCES ||
	    carried_connect(tcp(), &other, sizeof(other)) != -ECONNREFUSED)
		return 1;
	if (reach_as(mapped, bad) != -EACCES || reach_as(mapped_any, bad) != -EACCES ||
	    reach_as(any, bad) != -ECONNREFUSED /* ::1, where nobody is */ || reach_as(nat64, bad) != -EACCES)
		return 2;
	any4.sin_port = htons(good);
	if (carried_connect(tcp(), &any4, sizeof(any4)) != 0 || reach_as(mapped, good) != 0 ||
	    reach_as(mapped_any, good) != 0)
		return 3;
	return 0;
}

START_TEST(one_destination_many_spellings)
{
	net_run(&t, reach_spelled);
	ck_assert_uint_eq(arrived(good_fd), 3);
	ck_assert_uint_eq(arrived(bad_fd), 0);
}
END_TEST

/* --- what it says: as the kernel, for every nonsense ------------------------------------------------- */

static int speak_alike(void)
{
	struct sockaddr_in yes = in_at(INADDR_LOOPBACK, good);
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons(good),
				    .sin6_addr.s6_addr[15] = 1 };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "x" };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int in4 = tcp(), in6 = socket(AF_INET6, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
	int file = open("/dev/null", O_RDONLY), path = open("/dev/null", O_PATH);
	const struct {
		int fd;
		const void *addr;
		long len;
	} calls[] = {
		{ -1, &yes, sizeof(yes) },
		{ 999, &yes, sizeof(yes) },
		{ file, &yes, sizeof(yes) },
		{ path, &yes, sizeof(yes) },
		{ in4, NULL, sizeof(yes) },
		{ in4, (void *)8, sizeof(yes) },
		{ in4, &yes, -1 },
		{ in4, &yes, 129 },
		{ in4, &yes, 0 },
		{ in4, &yes, 1 },
		{ in4, &yes, sizeof(yes) - 1 },
		{ in4, &six, sizeof(six) },
		{ in6, &yes, sizeof(yes) },
		{ in6, &six, 23 },
		{ in4, &un, sizeof(un) },
		{ in4, &none, sizeof(none) },
		{ local, &none, sizeof(none) },
		{ local, &yes, sizeof(yes) },
		{ local, &un, 2 },
		{ local, &un, sizeof(un) + 1 },
		{ 999, NULL, -1 },
		{ file, NULL, 16 },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		long want = bare_connect(calls[i].fd, calls[i].addr, calls[i].len);
		long have = carried_connect(calls[i].fd, calls[i].addr, calls[i].len);

		/* What leads nowhere may be denied before the kernel says so. */
		if (have != want && have != -EACCES)
			return (int)i + 1;
		if (have == -EACCES && want != -EAFNOSUPPORT && want != -EINVAL)
			return (int)i + 101;
	}
	return 0;
}

START_TEST(errors_are_the_kernels)
{
	net_run(&t, speak_alike);
}
END_TEST

/* What a program that does not block sees of one connection. */
#define SEEN 5
static void live_through(long (*conn)(int, const void *, long), long seen[SEEN])
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);
	int fd = tcp(), error = -1;
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(error);

	fcntl(fd, F_SETFL, O_NONBLOCK);
	seen[0] = conn(fd, &at, sizeof(at));
	seen[1] = poll(&p, 1, 2000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	seen[2] = error;
	seen[3] = conn(fd, &at, sizeof(at));
	at.sin_family = AF_UNSPEC;
	seen[4] = conn(fd, &at, sizeof(at));
	close(fd);
}

static int live_both(void)
{
	long bare[SEEN], carried[SEEN];

	live_through(bare_connect, bare);
	live_through(carried_connect, carried);
	for (size_t i = 0; i < SEEN; i++)
		if (bare[i] != carried[i])
			return (int)i + 1;
	return 0;
}

START_TEST(a_socket_that_does_not_block)
{
	net_run(&t, live_both);
	ck_assert_uint_eq(arrived(good_fd), 2);
}
END_TEST

/* --- how long ----------------------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Fills the good port's queue: on this machine too a connection then waits for the server to accept. */
static void fill(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);

	ck_assert_int_eq(listen(good_fd, 0), 0);
	for (int i = 0; i < 4; i++) {
		int fd = tcp();

		fcntl(fd, F_SETFL, O_NONBLOCK);
		(void)bare_connect(fd, &at, sizeof(at));
	}
}

static void *answer_quickly(void *ret)
{
	double t0 = now();

	for (int i = 0; i < 20; i++) {
		struct sockaddr_in no = in_at(INADDR_LOOPBACK, bad);
		int fd = tcp();

		if (carried_connect(fd, &no, sizeof(no)) != -EACCES)
			return NULL;
		close(fd);
	}
	*(double *)ret = now() - t0;
	return NULL;
}

static int wait_as_told(void)
{
	const struct timeval limit = { .tv_usec = 400000 };
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);
	struct timeval after = { 0 };
	socklen_t len = sizeof(after);
	double took, others = 9, t0;
	pthread_t thread;
	int fd = tcp();
	long r;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	pthread_create(&thread, NULL, answer_quickly, &others);
	t0 = now();
	r = carried_connect(fd, &at, sizeof(at));
	took = now() - t0;
	pthread_join(thread, NULL);
	if (r != -EINPROGRESS)
		return 1;
	if (took < 0.35 || took > 1.5)
		return 2;
	if (others > 0.3)
		return 3;
	getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &after, &len);
	return after.tv_sec || after.tv_usec < 390000 || after.tv_usec > 410000 ? 4 : 0;
}

START_TEST(a_limit_is_kept_and_nobody_else_waits)
{
	fill();
	net_run(&t, wait_as_told);
}
END_TEST

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static void alarm_in(long us, int flags)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval it = { .it_value.tv_usec = us };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static int be_woken(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);
	int fd = tcp();
	double t0 = now();
	long r;

	alarm_in(200000, 0);
	r = carried_connect(fd, &at, sizeof(at));
	if (r != -EINTR || alarms != 1 || now() - t0 > 1.5)
		return 1;
	/* It goes on by itself. */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return bare_connect(fd, &at, sizeof(at)) == -EALREADY ? 0 : 2;
}

START_TEST(a_handled_signal_ends_the_wait)
{
	fill();
	net_run(&t, be_woken);
}
END_TEST

/* With SA_RESTART the kernel restarts the call, and it is carried again. */
static int be_restarted(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);
	int fd = tcp();
	long r;

	alarm_in(200000, SA_RESTART);
	r = carried_connect(fd, &at, sizeof(at));
	return r == 0 && alarms == 1 ? 0 : 1;
}

static void *accept_later(void *arg)
{
	const struct timespec later = { .tv_nsec = 700000000 };

	(void)arg;
	nanosleep(&later, NULL);
	listen(good_fd, 64);
	arrived(good_fd);
	return NULL;
}

START_TEST(or_restarts_it)
{
	pthread_t thread;

	fill();
	pthread_create(&thread, NULL, accept_later, NULL);
	net_run(&t, be_restarted);
	pthread_join(thread, NULL);
}
END_TEST

static int wait_for_ever(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, good);

	return (int)-carried_connect(tcp(), &at, sizeof(at));
}

static bool is_blocked(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == 1;
}

static bool is_free(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == 0;
}

START_TEST(a_killed_caller_is_given_up)
{
	fill();
	carried_start(&t, wait_for_ever);
	carried_go(&t);
	carried_until(&t, is_blocked);
	kill(t.child, SIGKILL);
	ck_assert_int_eq(carried_wait(&t), 128 + SIGKILL);
	carried_until(&t, is_free);
}
END_TEST

/* --- the address changes under way ------------------------------------------------------------------ */

#define FLIPS 20000

static struct sockaddr_in flipped;
static volatile bool flipping;

static void *flip(void *arg)
{
	(void)arg;
	while (flipping) {
		__atomic_store_n(&flipped.sin_port, htons(bad), __ATOMIC_RELAXED);
		__atomic_store_n(&flipped.sin_port, htons(good), __ATOMIC_RELAXED);
	}
	return NULL;
}

static int race(void)
{
	unsigned denied = 0;
	pthread_t thread;

	flipped = in_at(INADDR_LOOPBACK, good);
	flipping = true;
	pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < FLIPS; i++) {
		const struct linger off = { .l_onoff = 1 };
		int fd = tcp();

		fcntl(fd, F_SETFL, O_NONBLOCK); /* a full queue is not what is raced */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
		denied += carried_connect(fd, &flipped, sizeof(flipped)) == -EACCES;
		close(fd);
	}
	flipping = false;
	pthread_join(thread, NULL);
	return denied > 0 && denied < FLIPS ? 0 : 1; /* else nothing was raced */
}

START_TEST(a_flipped_address_wins_nothing)
{
	net_run(&t, race);
	ck_assert_uint_gt(arrived(good_fd), 0);
	ck_assert_uint_eq(arrived(bad_fd), 0);
}
END_TEST

Suite *suite_net(void)
{
	Suite *s = suite_create("net");
	TCase *tc = tcase_create("inet");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, allowed_and_denied);
	tcase_add_test(tc, one_destination_many_spellings);
	tcase_add_test(tc, errors_are_the_kernels);
	tcase_add_test(tc, a_socket_that_does_not_block);
	tcase_add_test(tc, a_limit_is_kept_and_nobody_else_waits);
	tcase_add_test(tc, a_handled_signal_ends_the_wait);
	tcase_add_test(tc, or_restarts_it);
	tcase_add_test(tc, a_killed_caller_is_given_up);
	tcase_add_test(tc, a_flipped_address_wins_nothing);
	return s;
}
