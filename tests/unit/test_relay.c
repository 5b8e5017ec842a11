/* What the front of pale run carries between two terminals, here two sockets. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/run/terminal/relay.h"

Suite *suite_relay(void);

static struct front f;
static int keyboard, agent; /* the other ends */

static void setup(void)
{
	int tty[2], pty[2];

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, tty), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pty), 0);
	f = (struct front){ .tty = tty[0], .master = pty[0], .raw = true, .link = -1 };
	keyboard = tty[1];
	agent = pty[1];
}

static void teardown(void)
{
	(void)close(f.tty);
	(void)close(f.master);
	(void)close(keyboard);
	(void)close(agent);
	(void)signal(SIGPIPE, SIG_DFL);
}

static void put(int fd, const void *text, size_t n)
{
	ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
}

/* What is there to be read is this, and no more. */
static void expect(int fd, const void *text, size_t n)
{
	char got[1024];

	ck_assert_int_eq(read(fd, got, sizeof(got)), (ssize_t)n);
	ck_assert_mem_eq(got, text, n);
	ck_assert_int_lt(read(fd, got, sizeof(got)), 0);
}

START_TEST(test_bytes_as_they_are)
{
	enum { N = 256 };
	char all[N + 2] = "";

	for (size_t i = 0; i < N; i++)
		all[i] = (char)i;
	put(keyboard, all, N);
	ck_assert_int_eq(pump_keys(&f), 0);
	expect(agent, all, N);
	put(agent, all, N);
	put(agent, "\r\n", 2);
	ck_assert_int_eq(pump_screen(&f), 0);
	memcpy(all + N, "\r\n", 2);
	expect(keyboard, all, N + 2);
}
END_TEST

/* The operator's terminal, not raw, makes them itself. */
START_TEST(test_newlines_are_made_once)
{
	f.raw = false;
	put(agent, "one\r\ntwo\rthree\n\r\n\r", 18);
	ck_assert_int_eq(pump_screen(&f), 0);
	expect(keyboard, "one\ntwo\rthree\n\n\r", 16);
}
END_TEST

/* Keys are left to others until the terminal is ours. */
START_TEST(test_no_keys_before_it_is_ours)
{
	f.raw = false;
	put(keyboard, "keys", 4);
	ck_assert_int_eq(pump_keys(&f), 0);
	f.raw = true;
	ck_assert_int_eq(pump_keys(&f), 0);
	expect(agent, "keys", 4);
}
END_TEST

/* Fills a socket: how much it took. */
static size_t fill(int fd)
{
	static const char block[4096];
	size_t all = 0;
	ssize_t n;

	while ((n = write(fd, block, sizeof(block))) > 0)
		all += (size_t)n;
	return all;
}

static size_t empty(int fd)
{
	char block[4096];
	size_t all = 0;
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		all += (size_t)n;
	return all;
}

START_TEST(test_what_is_not_taken_waits)
{
	size_t full = fill(f.tty);

	put(agent, "first", 5);
	ck_assert_int_eq(pump_screen(&f), 0);
	ck_assert_uint_eq(f.screen.len, 5);
	put(agent, "second", 6);
	ck_assert_int_eq(pump_screen(&f), 0);
	ck_assert_uint_eq(f.screen.len, 5);
	ck_assert_uint_eq(empty(keyboard), full);
	ck_assert_int_eq(pump_screen(&f), 0);
	expect(keyboard, "firstsecond", 11);
}
END_TEST

START_TEST(test_ends_are_told)
{
	(void)close(agent);
	ck_assert_int_eq(pump_screen(&f), -EIO);
	put(keyboard, "x", 1);
	ck_assert_int_eq(pump_keys(&f), -EPIPE);
	f.keys.len = 0;
	(void)close(keyboard);
	ck_assert_int_eq(pump_keys(&f), -EIO);
}
END_TEST

START_TEST(test_drain_takes_all_there_is)
{
	size_t all = fill(agent);
	pid_t reader = fork();
	int status;

	/* Somebody at the other end reads. */
	if (reader == 0) {
		size_t got = 0;
		char block[4096];

		(void)fcntl(keyboard, F_SETFL, 0);
		while (got < all)
			got += (size_t)read(keyboard, block, sizeof(block));
		_exit(got == all ? 0 : 1);
	}
	pump_drain(&f);
	ck_assert_uint_eq(f.screen.len, 0);
	ck_assert_int_eq(waitpid(reader, &status, 0), reader);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* An operator who holds his terminal by ^S is waited for, but not by whom he tells to end. */
START_TEST(test_drain_ends_when_told)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	(void)raise(SIGTERM);
	(void)fill(f.tty);
	put(agent, "late", 4);
	pump_drain(&f);
	ck_assert_uint_eq(f.screen.len, 4);
	ck_assert_int_eq(sigwaitinfo(&set, NULL), SIGTERM);
	sigprocmask(SIG_SETMASK, &old, NULL);
}
END_TEST

START_TEST(test_numbers_of_terminals)
{
	int master, slave, null = open("/dev/null", O_RDWR);
	struct stat st;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(fstat(slave, &st), 0);
	ck_assert_uint_eq(tty_number(slave), st.st_rdev);
	ck_assert_uint_eq(tty_number(master), 0);
	ck_assert_uint_eq(tty_number(null), 0);
	ck_assert_uint_eq(tty_number(keyboard), 0);
	ck_assert(!tty_is_gone(slave));
	(void)close(master);
	ck_assert(tty_is_gone(slave));
	(void)close(slave);
	(void)close(null);
}
END_TEST

/* The agent is gone before the line to a killed front is closed: what the front made raw is put back. */
START_TEST(test_a_killed_front_is_waited_for)
{
	int master, slave, line[2], status;
	struct terminal t = { .is = true, .fore = true, .fd = -1 };
	struct termios raw, now;
	pid_t front;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, line), 0);
	ck_assert_int_eq(tcgetattr(slave, &t.modes), 0);
	raw = t.modes;
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &raw), 0);
	front = fork();
	if (front == 0) {
		(void)usleep(100000);
		_exit(0);
	}
	(void)close(line[1]);
	t.link = line[0];
	t.theirs = slave;
	terminal_done(&t);
	ck_assert_int_eq(tcgetattr(slave, &now), 0);
	ck_assert_uint_eq(now.c_lflag, t.modes.c_lflag);
	ck_assert_uint_eq(now.c_oflag, t.modes.c_oflag);
	ck_assert_int_eq(t.link, -1);
	ck_assert_int_eq(waitpid(front, &status, 0), front);
	(void)close(master);
	(void)close(slave);
}
END_TEST

Suite *suite_relay(void)
{
	Suite *s = suite_create("relay");
	TCase *t = tcase_create("relay");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_bytes_as_they_are);
	tcase_add_test(t, test_newlines_are_made_once);
	tcase_add_test(t, test_no_keys_before_it_is_ours);
	tcase_add_test(t, test_what_is_not_taken_waits);
	tcase_add_test(t, test_ends_are_told);
	tcase_add_test(t, test_drain_takes_all_there_is);
	tcase_add_test(t, test_drain_ends_when_told);
	tcase_add_test(t, test_numbers_of_terminals);
	tcase_add_test(t, test_a_killed_front_is_waited_for);
	suite_add_tcase(s, t);
	return s;
}
