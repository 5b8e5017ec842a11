/* Ways to hosts, ports and other programs' sockets that the policy does not name. */
#include "escape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#define FASTOPEN 0x20000000

static struct sockaddr_in v4(const char *host)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)escape_port) };

	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static struct sockaddr_in6 v6(const char *host)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)escape_port) };

	inet_pton(AF_INET6, host, &a.sin6_addr);
	return a;
}

static int made(int family, int type, int protocol)
{
	return (int)DO(socket, family, type, protocol);
}

/* The listener notes who called: by the probe's name. */
static int call(int s, const void *addr, socklen_t len)
{
	if (s < 0 || DO(connect, s, addr, len) < 0)
		return STOPPED;
	(void)write(s, escape_name, strlen(escape_name));
	return WORKED;
}

PROBE(net_tcp)
{
	struct sockaddr_in a = v4("127.0.0.1");

	return call(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_tcp_other_loopback)
{
	struct sockaddr_in a = v4("127.9.9.9");

	return call(made(AF_INET, SOCK_STREAM, IPPROTO_TCP), &a, sizeof(a));
}

PROBE(net_tcp_any)
{
	struct sockaddr_in a = v4("0.0.0.0");

	return call(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_tcp_v6)
{
	struct sockaddr_in6 a = v6("::1");

	return call(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_tcp_v6_any)
{
	struct sockaddr_in6 a = v6("::");

	return call(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_tcp_mapped)
{
	struct sockaddr_in6 a = v6("::ffff:127.0.0.1");

	return call(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

/* With an address that is longer than its family's. */
PROBE(net_tcp_long_address)
{
	struct sockaddr_storage big = { 0 };
	struct sockaddr_in a = v4("127.0.0.1");

	memcpy(&big, &a, sizeof(a));
	return call(made(AF_INET, SOCK_STREAM, 0), &big, sizeof(big));
}

PROBE(net_tcp_nonblocking)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = s, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (s < 0 || (DO(connect, s, (void *)&a, sizeof(a)) < 0 && errno != EINPROGRESS))
		return STOPPED;
	poll(&p, 1, 1000);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len);
	(void)write(s, escape_name, strlen(escape_name));
	return error ? STOPPED : WORKED;
}

PROBE(net_tcp_fast_open_sendto)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, 0);

	return if_done(DO(sendto, s, escape_name, strlen(escape_name), FASTOPEN, (void *)&a, sizeof(a)));
}

PROBE(net_tcp_fast_open_sendmsg)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 };

	return if_done(DO(sendmsg, made(AF_INET, SOCK_STREAM, 0), &m, FASTOPEN));
}

PROBE(net_tcp_fast_open_connect)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, 0), one = 1;

	if (setsockopt(s, IPPROTO_TCP, 30, &one, sizeof(one)) < 0)
		return NOT_HERE;
	return call(s, &a, sizeof(a));
}

PROBE(net_mptcp)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

	if (s < 0 && (errno == EPROTONOSUPPORT || errno == EINVAL))
		return NOT_HERE;
	return call(s, &a, sizeof(a));
}

static int say_udp(const void *addr, socklen_t len, int family)
{
	return if_done(
		DO(sendto, made(family, SOCK_DGRAM, 0), escape_name, strlen(escape_name), 0, addr, len));
}

PROBE(net_udp_sendto)
{
	struct sockaddr_in a = v4("127.0.0.1");

	return say_udp(&a, sizeof(a), AF_INET);
}

PROBE(net_udp_v6)
{
	struct sockaddr_in6 a = v6("::1");

	return say_udp(&a, sizeof(a), AF_INET6);
}

/* Whether a datagram came anywhere its sender is not told: only the listener knows. */
static int say_connected(int s, const void *addr, socklen_t len)
{
	if (s >= 0 && DO(connect, s, addr, len) == 0)
		(void)write(s, escape_name, strlen(escape_name));
	return STOPPED;
}

PROBE(net_udp_connect)
{
	struct sockaddr_in a = v4("127.0.0.1");

	return say_connected(made(AF_INET, SOCK_DGRAM, 0), &a, sizeof(a));
}

PROBE(net_udp_sendmsg)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 };

	return if_done(DO(sendmsg, made(AF_INET, SOCK_DGRAM, 0), &m, 0));
}

PROBE(net_udp_high_bits)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = (int)SC(socket, 1L << 32 | AF_INET, 1L << 32 | SOCK_DGRAM, 0);

	return say_connected(s, &a, sizeof(a));
}

/* A name server's port is let through: somebody else may listen there. */
PROBE(net_udp_reconnected)
{
	struct sockaddr_in dns = v4("127.0.0.1"), a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_DGRAM, IPPROTO_UDP);

	dns.sin_port = htons(53);
	if (s < 0)
		return STOPPED;
	(void)DO(connect, s, (void *)&dns, sizeof(dns));
	return say_connected(s, &a, sizeof(a));
}

PROBE(net_udp_sendmsg_past_connect)
{
	struct sockaddr_in dns = v4("127.0.0.1"), a = v4("127.0.0.1");
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 };
	int s = made(AF_INET, SOCK_DGRAM, IPPROTO_UDP);

	dns.sin_port = htons(53);
	if (s < 0)
		return STOPPED;
	(void)DO(connect, s, (void *)&dns, sizeof(dns));
	return DO(sendmsg, s, &m, 0) > 0 ? WORKED : STOPPED;
}

/* One that listens on lo alone lets in nobody but this machine. */
static int listens_for_the_world(int s)
{
	int device = 0;
	socklen_t len = sizeof(device);

	if (s < 0 || DO(listen, s, 1) < 0)
		return STOPPED;
	return getsockopt(s, SOL_SOCKET, SO_BINDTOIFINDEX, &device, &len) < 0 || device == 0 ? WORKED
											     : STOPPED;
}

PROBE(net_listen_unbound)
{
	return listens_for_the_world(made(AF_INET, SOCK_STREAM, 0));
}

PROBE(net_listen_any)
{
	struct sockaddr_in a = v4("0.0.0.0");
	int s = made(AF_INET, SOCK_STREAM, 0);

	a.sin_port = 0;
	if (s < 0 || DO(bind, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	return listens_for_the_world(s);
}

PROBE(net_listen_v6)
{
	return listens_for_the_world(made(AF_INET6, SOCK_STREAM, 0));
}

PROBE(net_uevents)
{
	return if_done(made(AF_NETLINK, SOCK_RAW, 15));
}

PROBE(net_diagnosis)
{
	return if_done(made(AF_NETLINK, SOCK_RAW, 4));
}

PROBE(net_vsock)
{
	int s = made(40, SOCK_STREAM, 0);

	return s < 0 && errno == EAFNOSUPPORT ? NOT_HERE : if_done(s);
}

PROBE(net_algorithms)
{
	int s = made(38, SOCK_SEQPACKET, 0);

	return s < 0 && errno == EAFNOSUPPORT ? NOT_HERE : if_done(s);
}

/* --- sockets of other programs -------------------------------------------------------------------------- */

static int call_unix(int type, const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	return call(made(AF_UNIX, type, 0), &sun, sizeof(sun));
}

static bool stand_there(void)
{
	return chdir(escape_other) == 0;
}

PROBE(unix_stream)
{
	return stand_there() ? call_unix(SOCK_STREAM, "stream") : STOPPED;
}

PROBE(unix_by_symlink)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	return symlink(path, "l") < 0 ? STOPPED : call_unix(SOCK_STREAM, "./l");
}

PROBE(unix_by_held)
{
	char path[4096], short_path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	fd = (int)DO(open, path, O_PATH, 0);
	snprintf(short_path, sizeof(short_path), "/proc/self/fd/%d", fd);
	return fd < 0 ? STOPPED : call_unix(SOCK_STREAM, short_path);
}

PROBE(unix_by_hard_link)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	return DO(link, path, "k") < 0 ? STOPPED : call_unix(SOCK_STREAM, "k");
}

PROBE(unix_seqpacket)
{
	return stand_there() ? call_unix(SOCK_SEQPACKET, "seqpacket") : STOPPED;
}

PROBE(unix_datagram)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };

	if (!stand_there())
		return STOPPED;
	return if_done(DO(sendto, made(AF_UNIX, SOCK_DGRAM, 0), escape_name, strlen(escape_name), 0,
			  (void *)&sun, sizeof(sun)));
}

PROBE(unix_datagram_raw_type)
{
	/* The kernel takes SOCK_RAW of AF_UNIX for a datagram socket. */
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };

	if (!stand_there())
		return STOPPED;
	return if_done(DO(sendto, made(AF_UNIX, SOCK_RAW, 0), escape_name, strlen(escape_name), 0,
			  (void *)&sun, sizeof(sun)));
}

/* What stands in for such a pair ignores the name and sends to its other end: the listener knows. */
PROBE(unix_datagram_pair)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &sun, .msg_namelen = sizeof(sun), .msg_iov = &iov, .msg_iovlen = 1 };
	int p[2];

	if (stand_there() && DO(socketpair, AF_UNIX, SOCK_DGRAM, 0, p) == 0)
		(void)DO(sendmsg, p[0], &m, 0);
	return STOPPED;
}

/* A datagram pair of the type that does not say so. */
PROBE(unix_raw_pair)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &sun, .msg_namelen = sizeof(sun), .msg_iov = &iov, .msg_iovlen = 1 };
	int p[2];

	if (!stand_there() || DO(socketpair, AF_UNIX, SOCK_RAW, 0, p) < 0)
		return STOPPED;
	return if_done(DO(sendmsg, p[0], &m, 0));
}

static int call_abstract(int type, const char *kind)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "escapes-%s-%d", kind, escape_port);

	return call(made(AF_UNIX, type, 0), &sun,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n));
}

PROBE(unix_abstract)
{
	return call_abstract(SOCK_STREAM, "stream");
}

PROBE(unix_abstract_datagram)
{
	return call_abstract(SOCK_DGRAM, "dgram");
}
