/*
 * What hostile native code throws at a fence's network: `storm KIND ARG...`.  Linked statically nothing but
 * the kernel's side can hold it.
 *
 *   ask SERVER NAME [MS]          one A question in a datagram: RCODE ADDRESS..., or "timeout"
 *   ask-tcp SERVER NAME [MS]      the same by a stream
 *   flood SERVER NAME RATE SECS   so many questions a second, whether answered or not: SENT ANSWERED
 *   names SERVER SUFFIX N         N different names below it, 64 at once: RCODE=COUNT...
 *   sockets N                     so many datagram sockets: MADE ERROR
 *   loris SERVER N SECS           N streams to port 53 that say one byte a second: OPENED LEFT
 *   blocked ADDR PORT N SECS      N threads in a blocking connect for so long: how many still wait
 *
 * SERVER is an IPv4 address; port 53.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 64
#define MESSAGE 65535

static char **args;
static int n_args;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pause_until(double when)
{
	double left = when - now();

	if (left > 0)
		poll(NULL, 0, (int)(left * 1000) + 1);
}

static struct sockaddr_in peer_of(const char *addr, int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, addr, &sa.sin_addr) != 1) {
		fprintf(stderr, "storm: no address: %s\n", addr);
		exit(2);
	}
	return sa;
}

/* Connected to the server, or -1 with the name of the error on stdout. */
static int to_server(int type)
{
	struct sockaddr_in sa = peer_of(args[0], 53);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		printf("%s\n", strerrorname_np(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* One question for the addresses of name. */
static size_t question(uint8_t *msg, uint16_t id, const char *name)
{
	static const uint8_t rest[] = { 1, 0, 0, 1, 0, 0, 0, 0, 0, 0 }, kind[] = { 0, 0, 1, 0, 1 };
	uint8_t *p = msg + 12, *label;

	msg[0] = (uint8_t)(id >> 8);
	msg[1] = (uint8_t)id;
	memcpy(msg + 2, rest, sizeof(rest));
	for (label = p++; *name; name++) {
		if (*name == '.') {
			*label = (uint8_t)(p - label - 1);
			label = p++;
		} else {
			*p++ = (uint8_t)*name;
		}
	}
	*label = (uint8_t)(p - label - 1);
	memcpy(p, kind, sizeof(kind));
	return (size_t)(p - msg) + sizeof(kind);
}

static size_t past_name(const uint8_t *msg, size_t at, size_t len)
{
	while (at < len && msg[at] && msg[at] < 0xc0)
		at += msg[at] + 1u;
	return at + (at < len && msg[at] ? 2 : 1);
}

static void tell(const uint8_t *msg, size_t len)
{
	static const char *const codes[] = {
		"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"
	};
	unsigned code = msg[3] & 15u, n = (unsigned)msg[6] << 8 | msg[7];
	size_t at = past_name(msg, 12, len) + 4;
	char text[INET_ADDRSTRLEN];

	printf("%s%s", code < 6 ? codes[code] : "?", msg[2] & 2 ? " TC" : "");
	while (n-- && at < len) {
		size_t size;

		at = past_name(msg, at, len);
		if (at + 10 > len)
			break;
		size = (size_t)msg[at + 8] << 8 | msg[at + 9];
		if (msg[at] == 0 && msg[at + 1] == 1 && size == 4 && at + 14 <= len)
			printf(" %s", inet_ntop(AF_INET, msg + at + 10, text, sizeof(text)));
		at += 10 + size;
	}
	printf("\n");
}

static ssize_t wait_for(int fd, uint8_t *buf, size_t size, double until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double left = until - now();

	if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) != 1)
		return 0;
	return recv(fd, buf, size, MSG_DONTWAIT);
}

static int storm_ask(void)
{
	static uint8_t msg[MESSAGE];
	double until = now() + (n_args > 2 ? atof(args[2]) / 1000 : 8);
	int fd = to_server(SOCK_DGRAM);
	ssize_t n;

	if (fd < 0)
		return 1;
	n = send(fd, msg, question(msg, 0x4c1e, args[1]), MSG_NOSIGNAL);
	if (n > 0)
		n = wait_for(fd, msg, sizeof(msg), until);
	if (n < 0)
		printf("%s\n", strerrorname_np(errno));
	else if (n < 12)
		printf("timeout\n");
	else if (msg[0] != 0x4c || msg[1] != 0x1e || !(msg[2] & 0x80))
		printf("another's answer\n");
	else
		tell(msg, (size_t)n);
	return n < 12;
}

static int storm_ask_tcp(void)
{
	static uint8_t msg[MESSAGE + 2];
	double until = now() + (n_args > 2 ? atof(args[2]) / 1000 : 8);
	int fd = to_server(SOCK_STREAM);
	size_t have = 0, n;
	ssize_t got;

	if (fd < 0)
		return 1;
	n = question(msg + 2, 0x4c1e, args[1]);
	msg[0] = (uint8_t)(n >> 8);
	msg[1] = (uint8_t)n;
	if (send(fd, msg, n + 2, MSG_NOSIGNAL) < 0) {
		printf("%s\n", strerrorname_np(errno));
		return 1;
	}
	while (have < 2 || have < 2 + ((size_t)msg[0] << 8 | msg[1])) {
		got = wait_for(fd, msg + have, sizeof(msg) - have, until);
		if (got <= 0) {
			printf("%s\n", now() >= until ? "timeout" : "closed");
			return 1;
		}
		have += (size_t)got;
	}
	tell(msg + 2, have - 2);
	return 0;
}

static int storm_flood(void)
{
	static uint8_t msg[MESSAGE];
	long rate = atol(args[2]), sent = 0, lost = 0, answered = 0;
	double start = now(), secs = atof(args[3]);
	int fd = to_server(SOCK_DGRAM);

	if (fd < 0)
		return 1;
	while (now() < start + secs) {
		while ((double)(sent + lost) < (now() - start) * (double)rate)
			if (send(fd, msg, question(msg, (uint16_t)sent, args[1]),
				 MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
				sent++;
			else
				lost++;
		while (recv(fd, msg, sizeof(msg), MSG_DONTWAIT) > 0)
			answered++;
		poll(NULL, 0, 1);
	}
	while (wait_for(fd, msg, sizeof(msg), now() + 0.3) > 0)
		answered++;
	printf("%ld %ld\n", sent, answered);
	return 0;
}

static int storm_names(void)
{
	static uint8_t msg[MESSAGE];
	long n = atol(args[2]), sent = 0, back = 0, counts[16] = { 0 };
	int fd = to_server(SOCK_DGRAM);
	char name[256];

	if (fd < 0)
		return 1;
	while (back < n) {
		ssize_t got;

		for (; sent < n && sent - back < AT_ONCE; sent++) {
			snprintf(name, sizeof(name), "n%ld.%s", sent, args[1]);
			if (send(fd, msg, question(msg, (uint16_t)sent, name), MSG_NOSIGNAL) < 0)
				break;
		}
		got = wait_for(fd, msg, sizeof(msg), now() + 2);
		if (got < 12) {
			back += sent - back; /* lost, as a datagram may be */
			counts[15]++;
		} else {
			back++;
			counts[msg[3] & 15]++;
		}
	}
	for (int i = 0; i < 16; i++)
		if (counts[i])
			printf("%d=%ld ", i, counts[i]);
	printf("\n");
	return 0;
}

static int storm_sockets(void)
{
	struct rlimit most;
	long n = atol(args[0]), i;

	getrlimit(RLIMIT_NOFILE, &most);
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	for (i = 0; i < n; i++)
		if (socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) < 0)
			break;
	printf("%ld %s\n", i, i < n ? strerrorname_np(errno) : "ok");
	return 0;
}

static int storm_loris(void)
{
	long n = atol(args[1]), opened = 0, left = 0;
	double until = now() + atof(args[2]);
	int fds[4096];

	for (; opened < n && opened < 4096; opened++) {
		fds[opened] = to_server(SOCK_STREAM);
		if (fds[opened] < 0)
			break;
	}
	while (now() < until) {
		for (long i = 0; i < opened; i++)
			(void)send(fds[i], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		pause_until(now() + 1);
	}
	for (long i = 0; i < opened; i++) {
		char c;
		ssize_t got = recv(fds[i], &c, 1, MSG_DONTWAIT);

		left += got < 0 && errno == EAGAIN;
	}
	printf("%ld %ld\n", opened, left);
	return 0;
}

static int waiting;

static void *block(void *arg)
{
	const struct sockaddr_in *sa = arg;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	__atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 || errno != EINTR)
		__atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int storm_blocked(void)
{
	static struct sockaddr_in sa;
	pthread_attr_t small;
	int n = atoi(args[2]);

	sa = peer_of(args[0], atoi(args[1]));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < n; i++) {
		pthread_t t;

		if (pthread_create(&t, &small, block, &sa) != 0)
			break;
	}
	pause_until(now() + atof(args[3]));
	printf("%d\n", __atomic_load_n(&waiting, __ATOMIC_RELAXED));
	fflush(stdout);
	_exit(0);
}

static const struct {
	const char *name;
	int n_args;
	int (*run)(void);
} kinds[] = {
	{ "ask", 2, storm_ask },	 { "ask-tcp", 2, storm_ask_tcp }, { "flood", 4, storm_flood },
	{ "names", 3, storm_names },	 { "sockets", 1, storm_sockets }, { "loris", 3, storm_loris },
	{ "blocked", 4, storm_blocked },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0 || argc - 2 < kinds[i].n_args)
			continue;
		args = argv + 2;
		n_args = argc - 2;
		return kinds[i].run();
	}
	fprintf(stderr, "usage: storm KIND ARG...\n");
	return 2;
}
