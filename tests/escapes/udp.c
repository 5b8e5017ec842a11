/* Datagrams to whom no rule names: a socket that is connected to nobody, or to somebody else. */
#include "netprobe.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define HIGH(v)	     (1L << 32 | (long)(v))
#define IPPROTO_LITE 136

int udp(void)
{
	return made(AF_INET, SOCK_DGRAM, 0);
}

static int udp_v4(const char *host)
{
	struct sockaddr_in a = v4(host);

	return say_to(udp(), &a, sizeof(a), 0);
}

static int udp_v6(const char *host)
{
	struct sockaddr_in6 a = v6(host);

	return say_to(made(AF_INET6, SOCK_DGRAM, 0), &a, sizeof(a), 0);
}

/* A socket that is connected to a name server, to whom it may be. */
int udp_to_server(void)
{
	struct sockaddr_in dns = v4_at(SERVER, DNS_PORT);
	int s = made(AF_INET, SOCK_DGRAM, IPPROTO_UDP);

	if (s >= 0)
		(void)DO(connect, s, (void *)&dns, sizeof(dns));
	return s;
}

static int udp_connected(void)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp();

	if (s >= 0)
		(void)DO(connect, s, (void *)&a, sizeof(a));
	return s;
}

/* --- addresses ----------------------------------------------------------------------------------------- */

#define SAY_V4(name, host)                                                                                   \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		return udp_v4(host);                                                                         \
	}
#define SAY_V6(name, host)                                                                                   \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		return udp_v6(host);                                                                         \
	}

SAY_V4(net_udp_sendto, "127.0.0.1")
SAY_V4(net_udp_any, "0.0.0.0")
SAY_V6(net_udp_v6, "::1")
SAY_V6(net_udp_v6_any, "::")
SAY_V6(net_udp_mapped, "::ffff:127.0.0.1")
SAY_V4(net_udp_stranger, EVIL)
SAY_V6(net_udp_stranger_v6, EVIL6)
SAY_V6(net_udp_stranger_mapped, "::ffff:" EVIL)
SAY_V6(net_udp_stranger_nat64, "64:ff9b::" EVIL)
SAY_V6(net_udp_stranger_compatible, "::" EVIL)
SAY_V4(net_udp_private, "10.7.7.7")
SAY_V4(net_udp_metadata, "169.254.169.254")

/* A group that is heard on this very machine. */
PROBE(net_udp_multicast)
{
	struct sockaddr_in a = v4_at("224.0.0.251", 5353);

	return say_to(udp(), &a, sizeof(a), 0);
}

PROBE(net_udp_broadcast)
{
	struct sockaddr_in a = v4("10.9.9.255");
	int s = udp(), one = 1;

	(void)DO(setsockopt, s, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	return say_to(s, &a, sizeof(a), 0);
}

/* sendto(2) takes no family for IPv4, and IPv4 addresses on an IPv6 socket. */
PROBE(net_udp_no_family)
{
	struct sockaddr_in a = v4(EVIL);

	a.sin_family = AF_UNSPEC;
	return say_to(udp(), &a, sizeof(a), 0);
}

PROBE(net_udp_v4_on_v6)
{
	struct sockaddr_in a = v4(EVIL);

	return say_to(made(AF_INET6, SOCK_DGRAM, 0), &a, sizeof(a), 0);
}

PROBE(net_udp_long_address)
{
	struct sockaddr_storage big = { 0 };
	struct sockaddr_in a = v4(EVIL);

	memcpy(&big, &a, sizeof(a));
	return say_to(udp(), &big, sizeof(big), 0);
}

PROBE(net_udp_short_address)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return say_to(made(AF_INET6, SOCK_DGRAM, 0), &a, 24, 0);
}

/* --- without a name: what the socket is connected to --------------------------------------------------- */

PROBE(net_udp_connect)
{
	struct sockaddr_in a = v4("127.0.0.1");

	return say_connected(udp(), &a, sizeof(a));
}

PROBE(net_udp_connect_stranger)
{
	struct sockaddr_in a = v4(EVIL);

	return say_connected(udp(), &a, sizeof(a));
}

PROBE(net_udp_high_bits)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = (int)SC(socket, HIGH(AF_INET), HIGH(SOCK_DGRAM), 0);

	return say_connected(s, &a, sizeof(a));
}

PROBE(net_udp_nonblocking)
{
	struct sockaddr_in a = v4(EVIL);

	return say_connected(made(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), &a, sizeof(a));
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

PROBE(net_udp_loosened)
{
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	struct sockaddr_in a = v4(EVIL);
	int s = udp_to_server();

	(void)DO(connect, s, &nobody, sizeof(nobody));
	return say_connected(s, &a, sizeof(a));
}

PROBE(net_udp_past_connect)
{
	struct sockaddr_in a = v4(EVIL);

	return say_to(udp_to_server(), &a, sizeof(a), 0);
}

PROBE(net_udp_dup)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp_to_server(), d = (int)DO(dup, s);

	(void)DO(connect, d, (void *)&a, sizeof(a));
	(void)write(s, escape_name, strlen(escape_name));
	return STOPPED;
}

PROBE(net_udp_writev)
{
	struct iovec iov[2] = { { (void *)escape_name, 4 },
				{ (void *)(uintptr_t)(escape_name + 4), strlen(escape_name) - 4 } };

	(void)writev(udp_connected(), iov, 2);
	return STOPPED;
}

PROBE(net_udp_send_oob)
{
	(void)DO(sendto, udp_connected(), escape_name, strlen(escape_name), MSG_NOSIGNAL | MSG_EOR, NULL, 0);
	return STOPPED;
}

PROBE(net_udp_splice)
{
	int s = udp_connected(), p[2];

	if (s < 0 || pipe(p) < 0)
		return STOPPED;
	(void)write(p[1], escape_name, strlen(escape_name));
	(void)DO(splice, p[0], NULL, s, NULL, strlen(escape_name), 0);
	return STOPPED;
}

PROBE(net_udp_sendfile)
{
	int s = udp_connected(), f;

	put("text", escape_name);
	f = open("text", O_RDONLY);
	if (s >= 0 && f >= 0)
		(void)DO(sendfile, s, f, NULL, strlen(escape_name));
	return STOPPED;
}

/* By the kernel's older way of asynchronous writes. */
PROBE(net_udp_aio)
{
	struct iocb cb = { .aio_fildes = (uint32_t)udp_connected(),
			   .aio_lio_opcode = IOCB_CMD_PWRITE,
			   .aio_buf = (uint64_t)(uintptr_t)escape_name,
			   .aio_nbytes = strlen(escape_name) };
	struct iocb *all[] = { &cb };
	aio_context_t context = 0;

	if (SC(io_setup, 1, &context) < 0)
		return NOT_HERE;
	(void)SC(io_submit, context, 1, all);
	return STOPPED;
}

/* --- datagrams that are not UDP
 * ----------------------------------------------------------------------------- */

static int by_udplite(int family, const void *addr, socklen_t len)
{
	int s = made(family, SOCK_DGRAM, IPPROTO_LITE);

	return s < 0 && errno == EPROTONOSUPPORT ? NOT_HERE : say_to(s, addr, len, 0);
}

PROBE(net_udplite)
{
	struct sockaddr_in a = v4(EVIL);

	return by_udplite(AF_INET, &a, sizeof(a));
}

PROBE(net_udplite_v6)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return by_udplite(AF_INET6, &a, sizeof(a));
}

/* An echo that came back. */
static int ping(int s, const void *addr, socklen_t len, int request)
{
	unsigned char text[64] = { (unsigned char)request };
	struct pollfd p = { .fd = s, .events = POLLIN };

	if (s < 0 || DO(sendto, s, text, sizeof(text), 0, addr, len) < 0)
		return STOPPED;
	return poll(&p, 1, 1000) == 1 && read(s, text, sizeof(text)) > 0 ? WORKED : STOPPED;
}

PROBE(net_ping)
{
	struct sockaddr_in a = v4(EVIL);

	return ping(made(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), &a, sizeof(a), 8);
}

PROBE(net_ping_v6)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return ping(made(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6), &a, sizeof(a), 128);
}
