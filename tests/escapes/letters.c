/* Datagrams to whom no rule names, by messages that bear a name, and by names that change meanwhile. */
#include "netprobe.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define CONFIRM	     0x800
#define ZEROCOPY     0x4000000
#define UDP_SEGMENT_ 103
#define SO_ZEROCOPY_ 60

/* --- with a name in the message ------------------------------------------------------------------------ */

/* A message to an address, with control data. */
struct letter {
	struct sockaddr_storage to;
	struct iovec iov;
	struct mmsghdr m;
	union {
		struct cmsghdr h;
		char room[128];
	} control;
};

static struct letter *letter_to(struct letter *l, const void *addr, socklen_t len)
{
	memset(l, 0, sizeof(*l));
	memcpy(&l->to, addr, len);
	l->iov = (struct iovec){ (void *)escape_name, strlen(escape_name) };
	l->m.msg_hdr.msg_name = &l->to;
	l->m.msg_hdr.msg_namelen = len;
	l->m.msg_hdr.msg_iov = &l->iov;
	l->m.msg_hdr.msg_iovlen = 1;
	return l;
}

static void enclose(struct letter *l, int level, int type, const void *data, size_t len)
{
	l->control.h.cmsg_level = level;
	l->control.h.cmsg_type = type;
	l->control.h.cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(&l->control.h), data, len);
	l->m.msg_hdr.msg_control = &l->control;
	l->m.msg_hdr.msg_controllen = CMSG_SPACE(len);
}

static int post(int s, struct letter *l, int flags)
{
	if (s >= 0)
		(void)DO(sendmsg, s, &l->m.msg_hdr, flags);
	return STOPPED;
}

PROBE(net_udp_sendmsg)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct letter l;

	return post(udp(), letter_to(&l, &a, sizeof(a)), 0);
}

PROBE(net_udp_sendmsg_v6)
{
	struct sockaddr_in6 a = v6(EVIL6);
	struct letter l;

	return post(made(AF_INET6, SOCK_DGRAM, 0), letter_to(&l, &a, sizeof(a)), 0);
}

PROBE(net_udp_sendmsg_past_connect)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct letter l;

	return post(udp_to_server(), letter_to(&l, &a, sizeof(a)), 0);
}

PROBE(net_udp_sendmsg_flags)
{
	struct sockaddr_in a = v4(EVIL);
	struct letter l;

	return post(udp(), letter_to(&l, &a, sizeof(a)), CONFIRM | MSG_DONTROUTE | MSG_DONTWAIT);
}

PROBE(net_udp_zero_copy)
{
	struct sockaddr_in a = v4(EVIL);
	struct letter l;
	int s = udp(), one = 1;

	(void)DO(setsockopt, s, SOL_SOCKET, SO_ZEROCOPY_, &one, sizeof(one));
	return post(s, letter_to(&l, &a, sizeof(a)), ZEROCOPY);
}

/* The interface that it is to go by, and whom it is to come from. */
PROBE(net_udp_packet_info)
{
	struct in_pktinfo info = { .ipi_ifindex = 1, .ipi_spec_dst = v4_at("127.0.0.1", 0).sin_addr };
	struct sockaddr_in a = v4(EVIL);
	struct letter l;

	enclose(letter_to(&l, &a, sizeof(a)), IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	return post(udp_to_server(), &l, 0);
}

PROBE(net_udp_segments)
{
	struct sockaddr_in a = v4(EVIL);
	uint16_t size = 100;
	struct letter l;

	enclose(letter_to(&l, &a, sizeof(a)), IPPROTO_UDP, UDP_SEGMENT_, &size, sizeof(size));
	return post(udp(), &l, 0);
}

/* Half of it is sent to a name server, the other half after it. */
PROBE(net_udp_corked)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp();

	if (s < 0)
		return STOPPED;
	(void)DO(sendto, s, escape_name, 4, MSG_MORE, (void *)&a, sizeof(a));
	(void)DO(sendto, s, escape_name + 4, strlen(escape_name) - 4, 0, (void *)&a, sizeof(a));
	return STOPPED;
}

PROBE(net_udp_sendmmsg)
{
	struct sockaddr_in a = v4(EVIL);
	struct letter l;
	int s = udp();

	letter_to(&l, &a, sizeof(a));
	if (s >= 0)
		(void)DO(sendmmsg, s, &l.m, 1, 0);
	return STOPPED;
}

/* The first goes where it may. */
PROBE(net_udp_sendmmsg_second)
{
	struct sockaddr_in dns = v4_at(SERVER, DNS_PORT), a = v4(EVIL);
	struct letter first, second;
	struct mmsghdr both[2];
	int s = udp();

	letter_to(&first, &dns, sizeof(dns))->iov.iov_len = 3;
	letter_to(&second, &a, sizeof(a));
	both[0] = first.m;
	both[1] = second.m;
	if (s >= 0)
		(void)DO(sendmmsg, s, both, 2, 0);
	return STOPPED;
}

PROBE(net_udp_bound_to_device)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp();

	(void)DO(setsockopt, s, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	return say_to(s, &a, sizeof(a), 0);
}

PROBE(net_udp_bound)
{
	struct sockaddr_in here = v4_at("0.0.0.0", 0), a = v4(EVIL);
	int s = udp();

	if (s >= 0)
		(void)DO(bind, s, (void *)&here, sizeof(here));
	return say_to(s, &a, sizeof(a), 0);
}

PROBE(net_udp_in_child)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp_to_server(), status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(say_connected(s, &a, sizeof(a)));
	waitpid(pid, &status, 0);
	return STOPPED;
}

PROBE(net_udp_passed)
{
	struct sockaddr_in a = v4(EVIL);
	struct iovec iov = { &a, 1 };
	struct letter l = { .m.msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };
	int s = udp_to_server(), ends[2], got = -1;

	enclose(&l, SOL_SOCKET, SCM_RIGHTS, &s, sizeof(s));
	if (s < 0 || DO(socketpair, AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return STOPPED;
	if (DO(sendmsg, ends[0], &l.m.msg_hdr, 0) < 0 || DO(recvmsg, ends[1], &l.m.msg_hdr, 0) < 0)
		return STOPPED;
	memcpy(&got, CMSG_DATA(&l.control.h), sizeof(got));
	close(s);
	return say_to(got, &a, sizeof(a), 0);
}

/* --- what changes meanwhile ---------------------------------------------------------------------------- */

PROBE(net_udp_turned)
{
	struct sockaddr_in dns = v4_at(SERVER, DNS_PORT), a = v4(EVIL), *both = shared_page();
	pid_t child = turn(both, &dns, &a, sizeof(a));
	int s = udp();

	for (uint64_t since = 0; still(&since);)
		(void)say_to(s, both, sizeof(*both), 0);
	end_turn(child);
	return STOPPED;
}

PROBE(net_udp_turned_message)
{
	struct sockaddr_in dns = v4_at(SERVER, DNS_PORT), a = v4(EVIL), *both = shared_page();
	pid_t child = turn(both, &dns, &a, sizeof(a));
	struct letter l;
	int s = udp();

	letter_to(&l, &a, sizeof(a));
	l.m.msg_hdr.msg_name = both;
	l.m.msg_hdr.msg_namelen = sizeof(*both);
	for (uint64_t since = 0; still(&since);)
		(void)post(s, &l, 0);
	end_turn(child);
	return STOPPED;
}

/* The length of the name, and with it whether there is one. */
PROBE(net_udp_turned_length)
{
	static const socklen_t none = 0, all = sizeof(struct sockaddr_in);
	struct sockaddr_in a = v4(EVIL);
	struct letter *l = shared_page();
	pid_t child;
	int s = udp_to_server();

	letter_to(l, &a, sizeof(a));
	child = turn(&l->m.msg_hdr.msg_namelen, &none, &all, sizeof(none));
	for (uint64_t since = 0; still(&since);)
		(void)post(s, l, 0);
	end_turn(child);
	return STOPPED;
}

/* Who shares our descriptors puts a stream under the number, and the datagram socket back. */
PROBE(net_udp_turned_descriptor)
{
	struct sockaddr_in a = v4(EVIL);
	int s = udp(), stream = made(AF_INET, SOCK_STREAM, 0), at = 77;
	pid_t child;

	if (s < 0 || stream < 0 || dup2(s, at) < 0)
		return STOPPED;
	child = (pid_t)SC(clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (child == 0) {
		dup2(stream, at);
		dup2(s, at);
	}
	for (uint64_t since = 0; still(&since);)
		(void)say_to(at, &a, sizeof(a), MSG_NOSIGNAL);
	if (child > 0)
		end_turn(child);
	return STOPPED;
}

/* --- a peer that is allowed, and others after it ------------------------------------------------------- */

static int udp_to_allowed(void)
{
	struct sockaddr_in good = v4(GOOD);
	int s = udp();

	(void)say_connected(s, &good, sizeof(good));
	return s;
}

PROBE(net_udp_beside_allowed)
{
	struct sockaddr_in a = v4(EVIL);

	return say_to(udp_to_allowed(), &a, sizeof(a), 0);
}

PROBE(net_udp_after_allowed)
{
	struct sockaddr_in a = v4(EVIL);

	return say_connected(udp_to_allowed(), &a, sizeof(a));
}

PROBE(net_udp_allowed_at_other_port)
{
	struct sockaddr_in a = v4_at(GOOD, 5353);

	return say_to(udp_to_allowed(), &a, sizeof(a), 0);
}

PROBE(net_udp_message_beside_allowed)
{
	struct sockaddr_in a = v4(EVIL);
	struct letter l;

	return post(udp_to_allowed(), letter_to(&l, &a, sizeof(a)), 0);
}

PROBE(net_udp_turned_from_allowed)
{
	struct sockaddr_in good = v4(GOOD), a = v4(EVIL), *both = shared_page();
	pid_t child = turn(both, &good, &a, sizeof(a));
	int s = udp();

	for (uint64_t since = 0; still(&since);)
		(void)say_to(s, both, sizeof(*both), 0);
	end_turn(child);
	return STOPPED;
}

/* Connected now to the one, now to the other, while another process writes. */
PROBE(net_udp_turned_connection)
{
	struct sockaddr_in good = v4(GOOD), a = v4(EVIL);
	int s = udp_to_allowed();
	pid_t child = s < 0 ? -1 : fork();

	for (uint64_t since = 0; child == 0 && still(&since);)
		(void)say_to(s, NULL, 0, 0);
	for (uint64_t since = 0; child > 0 && still(&since);)
		for (int i = 0; i < 20; i++) {
			(void)DO(connect, s, (void *)&good, sizeof(good));
			(void)DO(connect, s, (void *)&a, sizeof(a));
		}
	if (child > 0)
		end_turn(child);
	return STOPPED;
}
