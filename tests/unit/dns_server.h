/* A name server on loopback that lies, is late, or is not there: what it does says the first label of a name.
 */
#ifndef PALE_TEST_DNS_SERVER_H
#define PALE_TEST_DNS_SERVER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/dns_fixture.h"

static int udp_fd, tcp_fd;
static uint16_t port;
static _Atomic int asked, asked_tcp;
static pthread_t udp_thread, tcp_thread;

static struct packet answer(const uint8_t *msg, size_t n, unsigned flags)
{
	struct packet k = { 0 };

	/* The question stands in front, EDNS behind it. */
	pk_bytes(&k, msg, n);
	for (n = 12; k.p[n]; n += k.p[n] + 1u)
		;
	k.n = n + 5;
	k.p[2] = (uint8_t)(0x81 | flags >> 8);
	k.p[3] = (uint8_t)(0x80 | (flags & 0xff));
	memset(k.p + 6, 0, 6);
	if (flags)
		return k;
	put_pointer(&k, 12);
	put_record(&k, 1, 60, "\300\0\2\7", 4);
	return k;
}

static bool starts(const uint8_t *msg, const char *label)
{
	return msg[12] == strlen(label) && strncasecmp((const char *)msg + 13, label, msg[12]) == 0;
}

static void send_to(const struct sockaddr_in *to, const struct packet *k)
{
	(void)sendto(udp_fd, k->p, k->n, 0, (const struct sockaddr *)to, sizeof(*to));
}

static void serve(const uint8_t *msg, size_t n, const struct sockaddr_in *to)
{
	bool edns = msg[11];
	struct packet k = answer(msg, n, 0);

	if (starts(msg, "dead"))
		return;
	if (starts(msg, "late"))
		nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
	if (starts(msg, "liar")) {
		k.p[1] ^= 1; /* another id, an address of its own */
		k.p[k.n - 1] = 66;
		send_to(to, &k);
		k = answer(msg, n, 0);
	}
	if (starts(msg, "spelt")) {
		k.p[13] ^= 0x20; /* another spelling */
		k.p[k.n - 1] = 66;
	}
	if (starts(msg, "long"))
		k = answer(msg, n, 0x0200);
	if (starts(msg, "fail"))
		k = answer(msg, n, DNS_SERVFAIL);
	if (starts(msg, "old") && edns)
		k = answer(msg, n, DNS_FORMERR);
	if (starts(msg, "none"))
		k = answer(msg, n, DNS_NXDOMAIN);
	send_to(to, &k);
}

static void *udp_main(void *arg)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint8_t msg[512];
	ssize_t n;

	while ((n = recvfrom(udp_fd, msg, sizeof(msg), 0, (struct sockaddr *)&from, &len)) > 12) {
		atomic_fetch_add(&asked, 1);
		serve(msg, (size_t)n, &from);
		len = sizeof(from);
	}
	return arg;
}

/* 300 addresses, a byte at a time. */
static void *tcp_main(void *arg)
{
	static struct {
		uint8_t p[DNS_MESSAGE_MAX];
	} out;
	int fd;

	while ((fd = accept(tcp_fd, NULL, NULL)) >= 0) {
		uint8_t msg[514];
		ssize_t n = recv(fd, msg, sizeof(msg), 0);
		struct packet k;
		size_t at;

		atomic_fetch_add(&asked_tcp, 1);
		if (n > 14) {
			k = answer(msg + 2, (size_t)n - 2, 0);
			at = k.n - 16;
			memcpy(out.p + 2, k.p, at);
			for (int i = 0; i < 300; i++, at += 16) {
				memcpy(out.p + 2 + at, k.p + k.n - 16, 16);
				out.p[2 + at + 14] = (uint8_t)(i >> 8);
				out.p[2 + at + 15] = (uint8_t)i;
			}
			out.p[2 + 6] = 300 >> 8;
			out.p[2 + 7] = 300 & 0xff;
			out.p[0] = (uint8_t)(at >> 8);
			out.p[1] = (uint8_t)at;
			(void)!send(fd, out.p, 1, 0);
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
			(void)!send(fd, out.p + 1, 1000, 0);
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
			(void)!send(fd, out.p + 1001, at + 2 - 1001, 0);
		}
		close(fd);
	}
	return arg;
}

static void server_start(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	/* A port that is free for both. */
	for (int tries = 0;; tries++) {
		udp_fd = socket(AF_INET, SOCK_DGRAM, 0);
		tcp_fd = socket(AF_INET, SOCK_STREAM, 0);
		at.sin_port = 0;
		ck_assert_int_eq(bind(udp_fd, (struct sockaddr *)&at, len), 0);
		ck_assert_int_eq(getsockname(udp_fd, (struct sockaddr *)&at, &len), 0);
		if (bind(tcp_fd, (struct sockaddr *)&at, len) == 0)
			break;
		ck_assert_int_lt(tries, 50);
		close(udp_fd);
		close(tcp_fd);
	}
	ck_assert_int_eq(listen(tcp_fd, 8), 0);
	port = ntohs(at.sin_port);
	atomic_store(&asked, 0);
	atomic_store(&asked_tcp, 0);
	pthread_create(&udp_thread, NULL, udp_main, NULL);
	pthread_create(&tcp_thread, NULL, tcp_main, NULL);
}

static void server_stop(void)
{
	shutdown(udp_fd, SHUT_RDWR);
	shutdown(tcp_fd, SHUT_RDWR);
	pthread_join(udp_thread, NULL);
	pthread_join(tcp_thread, NULL);
	close(udp_fd);
	close(tcp_fd);
}

#endif
