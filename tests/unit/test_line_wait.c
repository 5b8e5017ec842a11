/* Lines that are waited for: many at once, by who dies and who has no more time; and a session that ends
 * while a human is asked. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/line_fixture.h"
#include "tools/supervisor/lobby/waiting.h"
#include "tools/supervisor/threads/workers.h"

Suite *suite_line_wait(void);

#define MANY 200

static struct carried t;
static uint16_t port, asked_port;
static int server, helper_fd;
static char rule[32], asked_rule[32], helper_path[128];

static void rules(struct fixture *f)
{
	fixture_rule(f, RULE_NET_UDP, rule);
	fixture_rule(f, RULE_NET_ASK, asked_rule);
	f->p.s.timeout_s = 60;
}

static void setup(void)
{
	int asked = udp_server(&asked_port);

	server = udp_server(&port);
	snprintf(rule, sizeof(rule), "localhost:%u", port);
	snprintf(asked_rule, sizeof(asked_rule), "localhost:%u", asked_port);
	close(asked);
	net_setup(&t, rules);
	carried_handler = line_handler;
}

static void teardown(void)
{
	net_done(&t);
	close(server);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* --- many ---------------------------------------------------------------------------------------------- */

static void *hear_one(void *arg)
{
	long *ret = arg;
	uint16_t from = 0;
	char buf[8];
	int fd = udp_line(0);

	*ret = fd < 0 ? fd : send_to(fd, "here", 4, port);
	if (*ret == 4)
		*ret = recv_from(fd, buf, sizeof(buf), 0, &from);
	if (*ret == 4 && from != port)
		*ret = -1;
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* One of them by another process, which is killed. */
static int hear_many(void)
{
	static pthread_t waiters[MANY];
	static long results[MANY];
	pthread_attr_t small;
	int bad = 0;
	pid_t child = fork();

	if (child == 0) {
		hear_one(&results[0]);
		_exit(0);
	}
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < MANY; i++)
		EXPECT(pthread_create(&waiters[i], &small, hear_one, &results[i]) == 0);
	/* The server's word: all are there. */
	pause();
	kill(child, SIGKILL);
	EXPECT(waitpid(child, NULL, 0) == child);
	for (int i = 0; i < MANY; i++) {
		pthread_join(waiters[i], NULL);
		bad += results[i] != 4;
	}
	EXPECT(bad == 0);
	return 0;
}

static bool all_wait(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == MANY + 1;
}

static bool one_is_gone(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == MANY;
}

static bool none_waits(struct carried *ct)
{
	return atomic_load(&ct->sup->lobby->n) == 0;
}

static void on_word(int sig)
{
	(void)sig;
}

static int hear_many_told(void)
{
	const struct sigaction sa = { .sa_handler = on_word };

	sigaction(SIGUSR1, &sa, NULL);
	return hear_many();
}

START_TEST(no_thread_for_each)
{
	static struct sockaddr_in from[MANY + 1];
	socklen_t len = sizeof(from[0]);
	char buf[8];

	carried_start(&t, hear_many_told);
	carried_go(&t);
	for (int i = 0; i < MANY + 1; i++)
		ck_assert_int_eq(recvfrom(server, buf, sizeof(buf), 0, (struct sockaddr *)&from[i], &len), 4);
	carried_until(&t, all_wait);
	/* This one, the loop's, the one that waits, and workers. */
	ck_assert_uint_le(carried_entries("/proc/self/task") - 2, 3 + IDLE_KEPT + 2);
	ck_assert_uint_eq(t.sup->n_blocked, 0);
	syscall(SYS_tgkill, t.child, t.child, SIGUSR1);
	carried_until(&t, one_is_gone);
	for (int i = 0; i < MANY + 1; i++)
		ck_assert_int_eq(sendto(server, "word", 4, 0, (struct sockaddr *)&from[i], len), 4);
	ck_assert_int_eq(carried_wait(&t), 0);
	carried_until(&t, none_waits);
	carried_until(&t, no_lines);
}
END_TEST

START_TEST(a_session_ends_while_they_wait)
{
	carried_start(&t, hear_many_told);
	carried_go(&t);
	carried_until(&t, all_wait);
	kill(t.child, SIGKILL);
	ck_assert_int_eq(carried_wait(&t), 128 + SIGKILL);
}
END_TEST

/* --- who has no more time ------------------------------------------------------------------------------ */

static void *send_later(void *arg)
{
	usleep(300000);
	(void)send_to(*(int *)arg, "x", 1, port);
	return NULL;
}

/* The limit runs from when the call began, whatever wakes it. */
static int wait_a_while(void)
{
	const struct timeval limit = { .tv_usec = 400000 }, ample = { .tv_sec = 30 };
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	int fd = udp_line(0), other = dup(fd);
	struct iovec iov = { .iov_len = 0 };
	struct line_message m = { (uint64_t)&own, sizeof(own), 0, (uint64_t)&iov, 1, 0, 0, 0, 0 };
	pthread_t thread;
	char buf[8];
	double t0;

	EXPECT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
	t0 = now();
	EXPECT(recv_from(fd, buf, sizeof(buf), 0, NULL) == -EAGAIN);
	EXPECT(now() - t0 > 0.35 && now() - t0 < 5);
	EXPECT(CALL(LINE_RECVMSG, fd, &m, 0) == -EAGAIN);
	EXPECT(CALL(LINE_RECVMSG, fd, &m, MSG_DONTWAIT) == -EAGAIN);
	EXPECT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &ample, sizeof(ample)) == 0);
	pthread_create(&thread, NULL, send_later, &other);
	EXPECT(recv_from(fd, buf, sizeof(buf), 0, NULL) == 1);
	pthread_join(thread, NULL);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
	EXPECT(CALL(LINE_RECVFROM, fd, buf, sizeof(buf), 0, &own, &len) == -EAGAIN);
	return 0;
}

START_TEST(no_more_time)
{
	pthread_t echo;

	ck_assert_int_eq(pthread_create(&echo, NULL, udp_echo, &server), 0);
	net_run(&t, wait_a_while);
	udp_stop(server, port, echo);
	server = -1;
}
END_TEST

static void interrupt(int sig)
{
	(void)sig;
}

static int wait_for_a_signal(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 200000 };
	const struct sigaction sa = { .sa_handler = interrupt };
	char buf[8];

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	EXPECT(recv_from(udp_line(0), buf, sizeof(buf), 0, NULL) == -EINTR);
	return 0;
}

START_TEST(a_signal_ends_it)
{
	net_run(&t, wait_for_a_signal);
}
END_TEST

/* --- a human ------------------------------------------------------------------------------------------- */

/* One who never answers. */
static void helper_start(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(helper_path, sizeof(helper_path), "%s/%s", t.dir, WIRE_AGENT_SOCKET);
	strcpy(sun.sun_path, helper_path);
	helper_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(helper_fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert_int_eq(listen(helper_fd, 32), 0);
}

/* More than may be asked at once. */
static int ask_many(void)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, asked_port);

	for (int i = 0; i < (int)LINE_CONSULTS + 4; i++) {
		int fd = udp_line(0);

		EXPECT(CALL(LINE_CONNECT, fd, &at, sizeof(at)) == 0);
		EXPECT(send(fd, "x", 1, 0) == 1);
	}
	for (;;)
		pause();
}

static bool all_asked(struct carried *ct)
{
	struct lines *all = atomic_load(&ct->sup->lines);
	unsigned n = 0;

	for (size_t i = 0; all && i < LINE_CONSULTS; i++)
		n += all->consults[i].line != NULL;
	return n == LINE_CONSULTS;
}

START_TEST(the_end_waits_for_no_human)
{
	double t0;

	helper_start();
	carried_start(&t, ask_many);
	carried_go(&t);
	carried_until(&t, all_asked);
	unlink(helper_path);
	t0 = now();
	net_done(&t);
	ck_assert(now() - t0 < 1.5);
	kill(t.child, SIGKILL);
	ck_assert_int_eq(waitpid(t.child, NULL, 0), t.child);
	close(helper_fd);
	close(server);
}
END_TEST

Suite *suite_line_wait(void)
{
	Suite *s = suite_create("line_wait");
	TCase *tc = tcase_create("wait");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_thread_for_each);
	tcase_add_test(tc, a_session_ends_while_they_wait);
	tcase_add_test(tc, no_more_time);
	tcase_add_test(tc, a_signal_ends_it);
	suite_add_tcase(s, tc);
	tc = tcase_create("end");
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, the_end_waits_for_no_human);
	return s;
}
