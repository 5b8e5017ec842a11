/*
 * What network.sh measures, one process bare and one under the fence, told what to do by drive.c as worker.c
 * is: requests on stdin, "VALUE STATUS" on stdout, nanoseconds and 0 or an errno.
 *
 *   connect N ADDR PORT       a stream connected and reset            (the time of one)
 *   stream MB ADDR PORT       so many MiB through one connected stream, until the other end has them (of one)
 *   udp N ADDR                questions on one connected datagram socket, one after the other (of one)
 *   fresh N ADDR              each on a socket of its own             (of one)
 *   tcp N ADDR                each on a stream of its own             (of one)
 *   getaddrinfo N             libc's, as resolv.conf and RES_OPTIONS have it  (of one)
 *   flood N ADDR              64 questions in flight at a time        (of one)
 *
 *   network serve ADDR PORT   instead: closes what comes to PORT, swallows what comes to PORT + 1 and says
 *                             one byte when it ends; until stdin ends
 *
 * Names asked for are h0.bench.example to h199.bench.example.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAMES	200u
#define WINDOW	64
#define MESSAGE 4096

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	inet_pton(AF_INET, text, &sa.sin_addr);
	return sa;
}

/* A connected socket, or -errno. */
static int reach(int type, const char *addr, int port)
{
	struct sockaddr_in sa = address(addr, port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa, sizeof sa) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int do_connect(char **arg)
{
	const struct linger reset = { .l_onoff = 1 };
	int fd = reach(SOCK_STREAM, arg[0], atoi(arg[1]));

	if (fd < 0)
		return -fd;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(fd);
	return 0;
}

static size_t question(uint8_t *msg, unsigned n)
{
	static const uint8_t head[] = { 1, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const uint8_t tail[] = "\5bench\7example\0\0\1\0";
	uint8_t *p = msg + 13;

	msg[0] = (uint8_t)(n >> 8);
	msg[1] = (uint8_t)n;
	memcpy(msg + 2, head, sizeof head);
	msg[12] = (uint8_t)sprintf((char *)p, "h%u", n % NAMES);
	p += msg[12];
	memcpy(p, tail, sizeof tail);
	p[sizeof tail - 1] = 1;
	return (size_t)(p - msg) + sizeof tail;
}

/* Whether it answers question n, with an address. */
static int answers(const uint8_t *msg, ssize_t len, unsigned n)
{
	if (len < 12)
		return EIO;
	if (msg[0] != (uint8_t)(n >> 8) || msg[1] != (uint8_t)n || !(msg[2] & 0x80))
		return EILSEQ;
	return (msg[3] & 15) || !msg[7] ? ENOENT : 0;
}

static int ask(int fd, unsigned n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t msg[MESSAGE];

	if (send(fd, msg, question(msg, n), MSG_NOSIGNAL) < 0)
		return errno;
	if (poll(&p, 1, 5000) != 1)
		return ETIMEDOUT;
	return answers(msg, recv(fd, msg, sizeof msg, 0), n);
}

static unsigned asked;

static int do_udp(char **arg)
{
	static int fd = -1;

	if (fd < 0)
		fd = reach(SOCK_DGRAM, arg[0], 53);
	return fd < 0 ? -fd : ask(fd, asked++);
}

static int do_fresh(char **arg)
{
	int fd = reach(SOCK_DGRAM, arg[0], 53), r;

	if (fd < 0)
		return -fd;
	r = ask(fd, asked++);
	close(fd);
	return r;
}

static int do_tcp(char **arg)
{
	const struct linger reset = { .l_onoff = 1 };
	uint8_t msg[MESSAGE + 2];
	ssize_t got, have = 0;
	unsigned n = asked++;
	size_t len = question(msg + 2, n);
	int fd = reach(SOCK_STREAM, arg[0], 53);

	if (fd < 0)
		return -fd;
	msg[0] = 0;
	msg[1] = (uint8_t)len;
	if (send(fd, msg, len + 2, MSG_NOSIGNAL) > 0)
		for (; have < 2 || have < 2 + (msg[0] << 8 | msg[1]); have += got)
			if ((got = recv(fd, msg + have, sizeof msg - (size_t)have, 0)) <= 0)
				break;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(fd);
	return answers(msg + 2, have - 2, n);
}

static int do_getaddrinfo(char **arg)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	char name[64];

	(void)arg;
	sprintf(name, "h%u.bench.example", asked++ % NAMES);
	if (getaddrinfo(name, "80", &hints, &list) != 0)
		return ENOENT;
	freeaddrinfo(list);
	return 0;
}

/* All n questions on one socket; the time is told by the caller. */
static int do_flood(long n, char **arg)
{
	int fd = reach(SOCK_DGRAM, arg[0], 53);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t msg[MESSAGE];
	long sent = 0, back = 0;
	int r = fd < 0 ? -fd : 0;

	while (r == 0 && back < n) {
		for (; sent < n && sent - back < WINDOW; sent++)
			if (send(fd, msg, question(msg, (unsigned)sent), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
				break;
		if (poll(&p, 1, 2000) != 1)
			r = ETIMEDOUT;
		for (ssize_t len; r == 0 && (len = recv(fd, msg, sizeof msg, MSG_DONTWAIT)) > 0; back++)
			r = (msg[3] & 15) || len < 12 ? ENOENT : 0;
	}
	close(fd);
	return r;
}

static int do_stream(long n, char **arg)
{
	static char block[1 << 20];
	int fd = reach(SOCK_STREAM, arg[0], atoi(arg[1]) + 1), r = 0;
	char c;

	if (fd < 0)
		return -fd;
	for (size_t left = (size_t)n * sizeof block; left > 0;) {
		ssize_t put = send(fd, block, left < sizeof block ? left : sizeof block, MSG_NOSIGNAL);

		if (put < 0) {
			r = errno;
			break;
		}
		left -= (size_t)put;
	}
	shutdown(fd, SHUT_WR);
	if (recv(fd, &c, 1, 0) != 1)
		r = r ? r : EIO;
	close(fd);
	return r;
}

static const struct {
	const char *name;
	int n_args;
	int (*once)(char **arg);
	int (*all)(long n, char **arg);
} kinds[] = {
	{ "connect", 2, do_connect, NULL }, { "stream", 2, NULL, do_stream },
	{ "udp", 1, do_udp, NULL },	    { "fresh", 1, do_fresh, NULL },
	{ "tcp", 1, do_tcp, NULL },	    { "getaddrinfo", 0, do_getaddrinfo, NULL },
	{ "flood", 1, NULL, do_flood },
};

static int serve_request(char *line, double *ret)
{
	char *word[8] = { strtok(line, " ") };
	int n = 1, r = 0;
	double start;
	long times;

	while (n < 8 && (word[n] = strtok(NULL, " ")))
		n++;
	times = n > 1 ? atol(word[1]) : 0;
	for (size_t i = 0; word[0] && times > 0 && i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strcmp(kinds[i].name, word[0]) != 0 || n < kinds[i].n_args + 2)
			continue;
		start = now_ns();
		if (kinds[i].all)
			r = kinds[i].all(times, word + 2);
		for (long k = 0; kinds[i].once && k < times && r == 0; k++)
			r = kinds[i].once(word + 2);
		*ret = (now_ns() - start) / (double)times;
		return r;
	}
	return EINVAL;
}

static int listen_at(const char *addr, int port)
{
	struct sockaddr_in sa = address(addr, port);
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&sa, sizeof sa) < 0 || listen(fd, 1024) < 0)
		exit(1);
	return fd;
}

static void swallow(int fd)
{
	static char block[1 << 20];

	if (fork() != 0) {
		close(fd);
		return;
	}
	while (recv(fd, block, sizeof block, 0) > 0)
		;
	(void)!write(fd, "", 1);
	_exit(0);
}

static int serve(const char *addr, int port)
{
	struct pollfd p[] = { { .fd = 0, .events = POLLIN },
			      { .fd = listen_at(addr, port), .events = POLLIN },
			      { .fd = listen_at(addr, port + 1), .events = POLLIN } };

	while (poll(p, 3, -1) > 0 && !p[0].revents) {
		if (p[1].revents)
			close(accept(p[1].fd, NULL, NULL));
		if (p[2].revents)
			swallow(accept(p[2].fd, NULL, NULL));
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char line[256];

	if (argc > 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], atoi(argv[3]));
#ifdef STATIC
	unsetenv("LD_PRELOAD");
#endif
	while (fgets(line, sizeof line, stdin)) {
		double value = 0;
		int status;

		line[strcspn(line, "\n")] = '\0';
		status = serve_request(line, &value);
		printf("%.1f %d\n", value, status);
		fflush(stdout);
	}
	return 0;
}
