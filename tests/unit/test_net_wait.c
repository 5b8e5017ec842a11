/* Connections that take their time: many at once, to listeners without room, on sockets that somebody spoils.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "tests/unit/net_fixture.h"
#include "tools/supervisor/lobby/waiting.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"

Suite *suite_net_wait(void);

#define MANY 300

static struct carried t;
static uint16_t port;
static int listener, local_listener, filling[8];
static size_t n_filling;
static char rule[32], dir[64];
static struct sockaddr_un local_name = { .sun_family = AF_UNIX };

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_NET_ALLOW, rule);
	fixture_rule(f, RULE_NET_UNIX, dir);
}

static void setup(void)
{
	listener = listener_at(&port, 0);
	snprintf(rule, sizeof(rule), "localhost:%u", port);
	strcpy(dir, "/var/tmp/pale-wait-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(local_name.sun_path, sizeof(local_name.sun_path), "%s/s", dir);
	local_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(local_listener, (struct sockaddr *)&local_name, sizeof(local_name)), 0);
	ck_assert_int_eq(listen(local_listener, 0), 0);
	net_setup(&t, rules);
}

static void teardown(void)
{
	net_done(&t);
	close(listener);
	close(local_listener);
	while (n_filling > 0)
		close(filling[--n_filling]);
	unlink(local_name.sun_path);
	rmdir(dir);
}

/* Nobody accepts: the queue is full from here on. */
static void fill(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);

	for (int i = 0; i < 4; i++) {
		int fd = tcp(), one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		fcntl(fd, F_SETFL, O_NONBLOCK);
		(void)bare_connect(fd, &at, sizeof(at));
		(void)bare_connect(one, &local_name, sizeof(local_name));
		filling[n_filling++] = fd;
		filling[n_filling++] = one;
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long carried_local(int fd)
{
	return carried_connect(fd, &local_name, sizeof(local_name));
}

/* --- many ---------------------------------------------------------------------------------------------- */

static void *connect_one(void *ret)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);
	int fd = tcp();

	*(long *)ret = carried_connect(fd, &at, sizeof(at));
	return NULL;
}

static int connect_many(void)
{
	static pthread_t threads[MANY];
	static long results[MANY];
	pthread_attr_t small;
	int bad = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < MANY; i++)
		EXPECT(pthread_create(&threads[i], &small, connect_one, &results[i]) == 0);
	for (int i = 0; i < MANY; i++) {
		pthread_join(threads[i], NULL);
		bad += results[i] != 0;
	}
	EXPECT(bad == 0);
	return 0;
}

static bool all_wait(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == MANY;
}

static bool none_waits(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == 0;
}

static void *accept_all(void *arg)
{
	for (int i = 0; i < MANY + 1; i++)
		close(accept(listener, NULL, NULL));
	return arg;
}

START_TEST(no_thread_for_each)
{
	pthread_t server;
	size_t threads;

	fill();
	carried_start(&t, connect_many);
	carried_go(&t);
	carried_until(&t, all_wait);
	threads = carried_entries("/proc/self/task") - 2;
	ck_assert_uint_le(threads, 2 + IDLE_KEPT + 2);
	ck_assert_uint_eq(t.sup->n_blocked, 0);
	ck_assert_int_eq(listen(listener, 512), 0);
	pthread_create(&server, NULL, accept_all, NULL);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, none_waits);
	pthread_join(server, NULL);
}
END_TEST

START_TEST(a_session_ends_while_they_wait)
{
	fill();
	carried_start(&t, connect_many);
	carried_go(&t);
	carried_until(&t, all_wait);
	kill(t.child, SIGKILL);
	ck_assert_int_eq(carried_wait(&t), 128 + SIGKILL);
}
END_TEST

/* --- a listener without room ---------------------------------------------------------------------------- */

static int wait_for_room(void)
{
	const struct timeval limit = { .tv_usec = 200000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), flags = fcntl(fd, F_GETFL);
	double t0 = now();

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	EXPECT(carried_local(fd) == -EAGAIN);
	EXPECT(now() - t0 > 0.15 && now() - t0 < 1.5);
	EXPECT(fcntl(fd, F_GETFL) == flags);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	t0 = now();
	EXPECT(carried_local(fd) == -EAGAIN);
	EXPECT(now() - t0 < 0.1);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(carried_local(fd) == 0);
	return 0;
}

static void *accept_local(void *arg)
{
	const struct timespec later = { .tv_nsec = 800000000 };

	nanosleep(&later, NULL);
	for (int i = 0; i < 2; i++)
		(void)accept(local_listener, NULL, NULL);
	return arg;
}

START_TEST(a_unix_listener_without_room)
{
	pthread_t server;

	fill();
	pthread_create(&server, NULL, accept_local, NULL);
	net_run(&t, wait_for_room);
	pthread_join(server, NULL);
}
END_TEST

/* --- a socket that somebody spoils ------------------------------------------------------------------- */

static volatile bool spoiling;

/* Lets it block again whenever it was made one that does not, and dissolves what was begun. */
static void *spoil(void *arg)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = *(int *)arg;

	for (unsigned i = 0; spoiling; i++) {
		fcntl(fd, F_SETFL, 0);
		if (i % 64 == 0)
			(void)bare_connect(fd, &none, sizeof(none));
	}
	return NULL;
}

/* It may say what it likes, but it ends, and others are not held up. */
static int connect_spoiled(void)
{
	const struct timeval limit = { .tv_usec = 20000 };
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);
	double t0 = now();
	pthread_t thread;
	int fd = tcp();

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	spoiling = true;
	pthread_create(&thread, NULL, spoil, &fd);
	while (now() - t0 < 2) {
		double before = now();

		EXPECT(carried_connect(fd, &at, sizeof(at)) < 0);
		EXPECT(now() - before < 1);
	}
	spoiling = false;
	pthread_join(thread, NULL);
	return 0;
}

START_TEST(a_spoiled_try_ends)
{
	fill();
	net_run(&t, connect_spoiled);
}
END_TEST

Suite *suite_net_wait(void)
{
	Suite *s = suite_create("net_wait");
	TCase *tc = tcase_create("wait");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_thread_for_each);
	tcase_add_test(tc, a_session_ends_while_they_wait);
	tcase_add_test(tc, a_unix_listener_without_room);
	tcase_add_test(tc, a_spoiled_try_ends);
	return s;
}
