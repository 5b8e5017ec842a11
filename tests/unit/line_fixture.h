/* A child whose datagram sockets are lines: getpgid(2) with which call it is in the upper half of its first
 * argument, and servers of datagrams in this process. */
#ifndef PALE_TEST_LINE_FIXTURE_H
#define PALE_TEST_LINE_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/unit/net_fixture.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/datagrams/line.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/serve/dispatch.h"
#include "tools/supervisor/supervisor.h"

enum {
	LINE_SOCKET,
	LINE_SOCKETPAIR,
	LINE_CONNECT,
	LINE_BIND,
	LINE_SENDTO,
	LINE_SENDMSG,
	LINE_RECVFROM,
	LINE_RECVMSG,
	LINE_RECVMMSG,
	LINE_SOCKNAME,
	LINE_PEERNAME,
	LINE_SETSOCKOPT
};

static inline struct answer line_handler(struct caller *c)
{
	static const carry_fn carry[] = { carry_socket,	     carry_socketpair,	carry_connect,
					  carry_bind,	     carry_sendto,	carry_sendmsg,
					  carry_recvfrom,    carry_recvmsg,	carry_recvmmsg,
					  carry_getsockname, carry_getpeername, carry_setsockopt };
	uint64_t what = c->arg[0] >> 32;

	return what < sizeof(carry) / sizeof(carry[0]) ? carry[what](c) : answer_result(-ENOSYS);
}

#define CALL(what, a, ...) line_call((uint64_t)(what) << 32 | (uint32_t)(a), __VA_ARGS__, 0, 0, 0, 0, 0)
#define line_call(a, b, c, d, e, f, ...)                                                                     \
	line_call6(a, (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), (uint64_t)(f))

static inline long line_call6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	long r = syscall(SYS_getpgid, a, b, c, d, e, f);

	return r < 0 ? -errno : r;
}

static inline int udp_line(int flags)
{
	return (int)CALL(LINE_SOCKET, AF_INET, SOCK_DGRAM | flags, 0);
}

static inline long send_to(int fd, const void *data, size_t len, uint16_t port)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);

	return CALL(LINE_SENDTO, fd, data, len, 0, &at, sizeof(at));
}

/* With the port of who sent it. */
static inline long recv_from(int fd, void *data, size_t len, int flags, uint16_t *port)
{
	struct sockaddr_in from = { 0 };
	socklen_t room = sizeof(from);
	long r = CALL(LINE_RECVFROM, fd, data, len, flags, &from, &room);

	if (port)
		*port = room == sizeof(from) ? ntohs(from.sin_port) : 0;
	return r;
}

/* --- servers ---------------------------------------------------------------------------------------- */

static inline int udp_server(uint16_t *port)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, 0);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

#define ECHO_LONGEST 70000

/* Gives back what comes, until that is "stop". */
static inline void *udp_echo(void *arg)
{
	char *buf = malloc(ECHO_LONGEST);
	int fd = *(int *)arg;

	for (;;) {
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, buf, ECHO_LONGEST, 0, (struct sockaddr *)&from, &len);

		if (n == 4 && memcmp(buf, "stop", 4) == 0)
			break;
		if (n >= 0)
			(void)sendto(fd, buf, (size_t)n, 0, (struct sockaddr *)&from, len);
	}
	free(buf);
	return NULL;
}

static inline void udp_stop(int fd, uint16_t port, pthread_t thread)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, port);

	(void)sendto(fd, "stop", 4, 0, (struct sockaddr *)&at, sizeof(at));
	pthread_join(thread, NULL);
	close(fd);
}

/* --- what is left ------------------------------------------------------------------------------------- */

static inline unsigned lines_of(const struct carried *t)
{
	struct lines *all = atomic_load(&t->sup->lines);

	return all ? atomic_load(&all->n) : 0;
}

static inline bool no_lines(struct carried *t)
{
	return lines_of(t) == 0;
}

#endif
