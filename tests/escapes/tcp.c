/* Streams to hosts and ports that the policy does not name. */
#include "netprobe.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/victims/rawcall.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#define FASTOPEN 0x20000000

#define HIGH(v) (1L << 32 | (long)(v))

static int tcp_v4(const char *host)
{
	struct sockaddr_in a = v4(host);

	return call(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

static int tcp_v6(const char *host)
{
	struct sockaddr_in6 a = v6(host);

	return call(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

/* --- addresses, and what they are dressed as ----------------------------------------------------------- */

#define TO_V4(name, host)                                                                                    \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		return tcp_v4(host);                                                                         \
	}
#define TO_V6(name, host)                                                                                    \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		return tcp_v6(host);                                                                         \
	}

TO_V4(net_tcp, "127.0.0.1")
TO_V4(net_tcp_any, "0.0.0.0")
TO_V6(net_tcp_v6, "::1")
TO_V6(net_tcp_v6_any, "::")
TO_V6(net_tcp_mapped, "::ffff:127.0.0.1")
TO_V6(net_tcp_mapped_any, "::ffff:0.0.0.0")
TO_V4(net_tcp_stranger, EVIL)
TO_V6(net_tcp_stranger_v6, EVIL6)
TO_V6(net_tcp_stranger_mapped, "::ffff:" EVIL)
TO_V6(net_tcp_stranger_compatible, "::" EVIL)
TO_V6(net_tcp_stranger_nat64, "64:ff9b::" EVIL)
TO_V6(net_tcp_stranger_local_nat64, "64:ff9b:1::" EVIL)
TO_V6(net_tcp_stranger_6to4, "2002:2d21:2042::1")
TO_V6(net_tcp_stranger_teredo, "2001:0:2d21:2042::1")
TO_V4(net_tcp_private, "10.7.7.7")
TO_V6(net_tcp_private_nat64, "64:ff9b::10.7.7.7")
TO_V4(net_tcp_carrier, "100.64.0.66")
TO_V6(net_tcp_unique_local, "fc00::66")
TO_V6(net_tcp_site_local, "fec0::66")
TO_V4(net_tcp_metadata, "169.254.169.254")
TO_V6(net_tcp_metadata_v6, "fd00:ec2::254")
TO_V6(net_tcp_metadata_mapped, "::ffff:169.254.169.254")

PROBE(net_tcp_other_loopback)
{
	struct sockaddr_in a = v4("127.9.9.9");

	return call(made(AF_INET, SOCK_STREAM, IPPROTO_TCP), &a, sizeof(a));
}

PROBE(net_tcp_link_local)
{
	struct sockaddr_in6 a = v6("fe80::66");

	a.sin6_scope_id = 1;
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

/* As long as RFC 2133 had it. */
PROBE(net_tcp_short_address)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return call(made(AF_INET6, SOCK_STREAM, 0), &a, 24);
}

PROBE(net_tcp_flow_label)
{
	struct sockaddr_in6 a = v6(EVIL6);

	a.sin6_scope_id = 77;
	a.sin6_flowinfo = 0;
	return call(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

/* The kernel takes an int of each; what is above is nobody's. */
PROBE(net_tcp_high_bits)
{
	struct sockaddr_in a = v4(EVIL);
	int s = (int)SC(socket, HIGH(AF_INET), HIGH(SOCK_STREAM), HIGH(0));

	if (s < 0 || SC(connect, HIGH(s), &a, HIGH(sizeof(a))) < 0)
		return STOPPED;
	(void)write(s, escape_name, strlen(escape_name));
	return WORKED;
}

/* --- names that lead there ----------------------------------------------------------------------------- */

PROBE(net_tcp_name_of_other_port)
{
	want_net();
	look_up("good.example", 1);
	return tcp_v4(GOOD2);
}

/* An allowed name is looked up, and somebody else is called. */
PROBE(net_tcp_beside_the_name)
{
	want_net();
	look_up("good.example", 1);
	return tcp_v4(EVIL);
}

/* The answer has records that nobody asked for. */
PROBE(net_tcp_name_with_a_stranger)
{
	want_net();
	look_up("lie.wild.example", 1);
	return tcp_v4(EVIL);
}

#define REBOUND(name, what, type, to)                                                                        \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		want_net();                                                                                  \
		look_up(what ".wild.example", type);                                                         \
		return to;                                                                                   \
	}

REBOUND(net_rebind_loopback, "lo", 1, tcp_v4("127.0.0.1"))
REBOUND(net_rebind_loopback_v6, "lo", 28, tcp_v6("::1"))
REBOUND(net_rebind_any, "any", 1, tcp_v4("0.0.0.0"))
REBOUND(net_rebind_private, "private", 1, tcp_v4("10.7.7.7"))
REBOUND(net_rebind_private_mapped, "mapped", 28, tcp_v6("::ffff:10.7.7.7"))
REBOUND(net_rebind_private_nat64, "nat64", 28, tcp_v6("64:ff9b::10.7.7.7"))
REBOUND(net_rebind_unique_local, "unique", 28, tcp_v6("fc00::66"))
REBOUND(net_rebind_carrier, "carrier", 1, tcp_v4("100.64.0.66"))
REBOUND(net_rebind_metadata, "metadata", 1, tcp_v4("169.254.169.254"))
REBOUND(net_rebind_metadata_v6, "metadata", 28, tcp_v6("fd00:ec2::254"))

/* --- ways to call
 * --------------------------------------------------------------------------------------------
 */

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

PROBE(net_tcp_bound)
{
	struct sockaddr_in here = v4_at("127.0.0.1", 0), a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, 0);

	if (s >= 0)
		(void)DO(bind, s, (void *)&here, sizeof(here));
	return call(s, &a, sizeof(a));
}

/* Called once where that is allowed, then loosened (connect(2): AF_UNSPEC). */
PROBE(net_tcp_again)
{
	struct sockaddr_in good = v4(GOOD), a = v4(EVIL);
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	int s = made(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || DO(connect, s, (void *)&good, sizeof(good)) < 0)
		return STOPPED;
	(void)DO(connect, s, &nobody, sizeof(nobody));
	return call(s, &a, sizeof(a));
}

/* Another process has the socket, by way of a message. */
PROBE(net_tcp_passed)
{
	struct sockaddr_in a = v4(EVIL);
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {
		.h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec iov = { &c, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	int s = made(AF_INET, SOCK_STREAM, 0), ends[2], status;
	pid_t pid;

	if (s < 0 || DO(socketpair, AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return STOPPED;
	memcpy(CMSG_DATA(&c.h), &s, sizeof(s));
	if (DO(sendmsg, ends[0], &m, 0) < 0)
		return STOPPED;
	close(s);
	pid = fork();
	if (pid == 0) {
		if (DO(recvmsg, ends[1], &m, 0) < 0)
			_exit(STOPPED);
		memcpy(&s, CMSG_DATA(&c.h), sizeof(s));
		_exit(call(s, &a, sizeof(a)));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : STOPPED;
}

/* The address turns to a stranger's and back while it is judged.  The listener counts only the stranger's. */
PROBE(net_tcp_turned)
{
	struct sockaddr_in good = v4(GOOD), a = v4(EVIL), *both = shared_page();
	pid_t child = turn(both, &good, &a, sizeof(a));

	for (uint64_t since = 0; still(&since);) {
		int s = made(AF_INET, SOCK_STREAM, 0);

		(void)call(s, both, sizeof(*both));
		close(s);
	}
	end_turn(child);
	return STOPPED;
}

/* From a family that is nobody's business to one that is. */
PROBE(net_tcp_turned_family)
{
	struct sockaddr_in a = v4(EVIL), none = a, *both = shared_page();
	pid_t child;

	none.sin_family = AF_UNSPEC;
	child = turn(both, &none, &a, sizeof(a));
	for (uint64_t since = 0; still(&since);) {
		int s = made(AF_INET, SOCK_STREAM, 0);

		(void)call(s, both, sizeof(*both));
		close(s);
	}
	end_turn(child);
	return STOPPED;
}

/* --- with the first packet ----------------------------------------------------------------------------- */

static int open_fast(const void *addr, socklen_t len, int family, long flags)
{
	long n = SC(sendto, made(family, SOCK_STREAM, 0), escape_name, strlen(escape_name), flags, addr, len);

	return if_done(n);
}

PROBE(net_tcp_fast_open_sendto)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, 0);

	return if_done(DO(sendto, s, escape_name, strlen(escape_name), FASTOPEN, (void *)&a, sizeof(a)));
}

PROBE(net_tcp_fast_open_v6)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return open_fast(&a, sizeof(a), AF_INET6, FASTOPEN);
}

PROBE(net_tcp_fast_open_high_bits)
{
	struct sockaddr_in a = v4(EVIL);

	return open_fast(&a, sizeof(a), AF_INET, HIGH(FASTOPEN));
}

PROBE(net_tcp_fast_open_among_flags)
{
	struct sockaddr_in a = v4(EVIL);

	return open_fast(&a, sizeof(a), AF_INET, FASTOPEN | MSG_NOSIGNAL | MSG_DONTROUTE | MSG_EOR);
}

PROBE(net_tcp_fast_open_sendmsg)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 };

	return if_done(DO(sendmsg, made(AF_INET, SOCK_STREAM, 0), &m, FASTOPEN));
}

PROBE(net_tcp_fast_open_sendmmsg)
{
	struct sockaddr_in a = v4(EVIL);
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct mmsghdr m = {
		.msg_hdr = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &iov, .msg_iovlen = 1 }
	};

	return if_done(DO(sendmmsg, made(AF_INET, SOCK_STREAM, 0), &m, 1, FASTOPEN));
}

/* connect(2) alone sends nothing: the first write does. */
PROBE(net_tcp_fast_open_connect)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int s = made(AF_INET, SOCK_STREAM, 0), one = 1;

	if (setsockopt(s, IPPROTO_TCP, 30, &one, sizeof(one)) < 0)
		return NOT_HERE;
	return call(s, &a, sizeof(a));
}

/* --- other protocols of streams ------------------------------------------------------------------------ */

static int by_mptcp(int family, const void *addr, socklen_t len)
{
	int s = made(family, SOCK_STREAM, IPPROTO_MPTCP);

	if (s < 0 && (errno == EPROTONOSUPPORT || errno == EINVAL))
		return NOT_HERE;
	return call(s, addr, len);
}

PROBE(net_mptcp)
{
	struct sockaddr_in a = v4("127.0.0.1");

	return by_mptcp(AF_INET, &a, sizeof(a));
}

PROBE(net_mptcp_v6)
{
	struct sockaddr_in6 a = v6(EVIL6);

	return by_mptcp(AF_INET6, &a, sizeof(a));
}
