/*
 * Sockets without libc: `net PROBE ARG...` prints what the kernel said, "ok" or the name of an error.
 * Linked statically nothing but the kernel's side can hold it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

static char **args;

static int stream(int family)
{
	return (int)raw_call(SYS_socket, family, SOCK_STREAM, 0, 0, 0, 0);
}

static long connect_to(int fd, const void *sa, size_t len)
{
	return raw_call(SYS_connect, fd, (long)sa, (long)len, 0, 0, 0);
}

/* ADDR PORT, v4 or v6 by its spelling. */
static size_t inet_arg(struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (void *)ret;
	struct sockaddr_in6 *in6 = (void *)ret;
	uint16_t port = htons((uint16_t)atoi(args[1]));

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, args[0], &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = port;
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, args[0], &in6->sin6_addr) != 1)
		exit(2);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	return sizeof(*in6);
}

/* PATH, or @NAME of the abstract ones. */
static size_t unix_arg(struct sockaddr_un *ret)
{
	size_t n = strlen(args[0]);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n >= sizeof(ret->sun_path))
		exit(2);
	memcpy(ret->sun_path, args[0], n);
	if (args[0][0] == '@')
		ret->sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + n;
}

static long probe_connect(void)
{
	struct sockaddr_storage sa;
	size_t len = inet_arg(&sa);
	int fd = stream(sa.ss_family);
	long r = connect_to(fd, &sa, len);

	if (r == 0)
		(void)!write(fd, "leak", 4);
	return r;
}

static long probe_bind(void)
{
	struct sockaddr_storage sa;
	size_t len = inet_arg(&sa);
	int fd = stream(sa.ss_family);
	long r = raw_call(SYS_bind, fd, (long)&sa, (long)len, 0, 0, 0);

	return r < 0 ? r : raw_call(SYS_listen, fd, 1, 0, 0, 0, 0);
}

/* Bound, and its port asked for, as those do who look for a free one. */
static long probe_bind_only(void)
{
	struct sockaddr_storage sa;
	socklen_t len = (socklen_t)inet_arg(&sa);
	int fd = stream(sa.ss_family);
	long r = raw_call(SYS_bind, fd, (long)&sa, (long)len, 0, 0, 0);

	if (r < 0)
		return r;
	len = sizeof(sa);
	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return -errno;
	return ((struct sockaddr_in *)&sa)->sin_port ? 0 : -ENOTCONN;
}

static long probe_listen(void)
{
	return raw_call(SYS_listen, stream(AF_INET), 1, 0, 0, 0, 0);
}

static long probe_unix(void)
{
	struct sockaddr_un un;
	size_t len = unix_arg(&un);
	int fd = stream(AF_UNIX);
	long r = connect_to(fd, &un, len);

	if (r == -EPROTOTYPE)
		r = connect_to((int)raw_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET, 0, 0, 0, 0), &un, len);
	return r;
}

static long probe_bind_unix(void)
{
	struct sockaddr_un un, got = { 0 };
	socklen_t len = (socklen_t)unix_arg(&un), got_len = sizeof(got);
	int fd = stream(AF_UNIX);
	long r = raw_call(SYS_bind, fd, (long)&un, len, 0, 0, 0);

	if (r < 0)
		return r;
	getsockname(fd, (struct sockaddr *)&got, &got_len);
	return got_len >= len && memcmp(&got, &un, len) == 0 ? 0 : -EUCLEAN;
}

/* FAMILY TYPE PROTOCOL */
static long probe_socket(void)
{
	long r = raw_call(SYS_socket, atoi(args[0]), atoi(args[1]), atoi(args[2]), 0, 0, 0);

	return r < 0 ? r : 0;
}

static long probe_pair(void)
{
	int fds[2];

	return raw_call(SYS_socketpair, AF_UNIX, atoi(args[0]), 0, (long)fds, 0, 0);
}

/* Data with an address on a stream that leads nowhere yet: FLAGS ADDR PORT */
static long probe_sendto(void)
{
	struct sockaddr_storage sa;
	int flags = (int)strtol(args[0], NULL, 0);
	size_t len;

	args++;
	len = inet_arg(&sa);
	return raw_call(SYS_sendto, stream(sa.ss_family), (long)"leak", 4, flags | MSG_NOSIGNAL, (long)&sa,
			(long)len);
}

/* The same on one that is connected to the good port: GOOD BAD; it goes where it was connected to. */
static long probe_sendto_connected(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)atoi(args[0])),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = stream(AF_INET);
	long r = connect_to(fd, &sa, sizeof(sa));

	if (r < 0)
		return r;
	sa.sin_port = htons((uint16_t)atoi(args[1]));
	r = raw_call(SYS_sendto, fd, (long)"data", 4, 0, (long)&sa, sizeof(sa));
	return r == 4 ? 0 : r;
}

static struct sockaddr_in flipped;
static volatile int done;
static uint16_t ports[2];

static void *flip(void *arg)
{
	(void)arg;
	while (!done)
		for (int i = 0; i < 2; i++)
			__atomic_store_n(&flipped.sin_port, ports[i], __ATOMIC_RELAXED);
	return NULL;
}

/* GOOD BAD TRIES: how often it was let through and denied; who was reached the listeners know. */
static long probe_flip(void)
{
	const struct linger off = { .l_onoff = 1 };
	long tries = atol(args[2]), ok = 0, denied = 0;
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		ports[i] = htons((uint16_t)atoi(args[i]));
	flipped.sin_family = AF_INET;
	flipped.sin_port = ports[0];
	flipped.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pthread_create(&thread, NULL, flip, NULL);
	for (long i = 0; i < tries; i++) {
		int fd = (int)raw_call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0, 0, 0, 0);
		long r = connect_to(fd, &flipped, sizeof(flipped));

		ok += r == 0 || r == -EINPROGRESS;
		denied += r == -EACCES;
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
		close(fd);
	}
	done = 1;
	pthread_join(thread, NULL);
	printf("raced %s\n", ok > tries / 100 && denied > tries / 100 ? "yes" : "no");
	return ok + denied == tries ? 0 : -EUCLEAN;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* ADDR PORT ROUNDS: microseconds of a connection, made and closed. */
static long probe_time(void)
{
	struct sockaddr_storage sa;
	size_t len = inet_arg(&sa);
	int rounds = atoi(args[2]);
	double t0 = now();

	for (int i = 0; i < rounds; i++) {
		int fd = stream(sa.ss_family);
		long r = connect_to(fd, &sa, len);

		close(fd);
		if (r < 0)
			return r;
	}
	printf("%.2f\n", (now() - t0) / rounds);
	return 0;
}

static const struct {
	const char *name;
	int n_args;
	long (*run)(void);
} probes[] = {
	{ "connect", 2, probe_connect },     { "bind", 2, probe_bind },
	{ "bind-only", 2, probe_bind_only }, { "listen", 0, probe_listen },
	{ "unix", 1, probe_unix },	     { "bind-unix", 1, probe_bind_unix },
	{ "socket", 3, probe_socket },	     { "pair", 1, probe_pair },
	{ "sendto", 3, probe_sendto },	     { "sendto-connected", 2, probe_sendto_connected },
	{ "flip", 3, probe_flip },	     { "time", 3, probe_time },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 2 && i < sizeof(probes) / sizeof(probes[0]); i++) {
		long r;

		if (strcmp(probes[i].name, argv[1]) != 0 || argc - 2 != probes[i].n_args)
			continue;
		args = argv + 2;
		r = probes[i].run();
		printf("%s\n", r < 0 ? strerrorname_np((int)-r) : "ok");
		return r < 0;
	}
	return 2;
}
