/* Listeners for the world, and sockets of families that are no network of ours. */
#include "netprobe.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/mman.h>

#define HIGH(v) (1L << 32 | (long)(v))

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

/* Bound, and listening. */
static int listen_at(int s, const void *addr, socklen_t len)
{
	if (s < 0 || DO(bind, s, addr, len) < 0)
		return STOPPED;
	return listens_for_the_world(s);
}

PROBE(net_listen_unbound)
{
	return listens_for_the_world(made(AF_INET, SOCK_STREAM, 0));
}

PROBE(net_listen_v6)
{
	return listens_for_the_world(made(AF_INET6, SOCK_STREAM, 0));
}

/* What bound it to one device is taken off again. */
PROBE(net_listen_let_loose)
{
	struct sockaddr_in a = v4_at("0.0.0.0", 0);
	int s = made(AF_INET, SOCK_STREAM, 0), none = 0;

	if (s < 0 || DO(bind, s, (void *)&a, sizeof(a)) < 0 || DO(listen, s, 1) < 0)
		return STOPPED;
	(void)DO(setsockopt, s, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
	(void)DO(setsockopt, s, SOL_SOCKET, SO_BINDTOIFINDEX, &none, sizeof(none));
	return listens_for_the_world(s);
}

PROBE(net_listen_any)
{
	struct sockaddr_in a = v4_at("0.0.0.0", 0);

	return listen_at(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_listen_any_v6)
{
	struct sockaddr_in6 a = v6("::");

	a.sin6_port = 0;
	return listen_at(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_listen_mapped_any)
{
	struct sockaddr_in6 a = v6("::ffff:0.0.0.0");

	a.sin6_port = 0;
	return listen_at(made(AF_INET6, SOCK_STREAM, 0), &a, sizeof(a));
}

/* bind(2) takes no family where the address is any. */
PROBE(net_listen_no_family)
{
	struct sockaddr_in a = v4_at("0.0.0.0", 0);

	a.sin_family = AF_UNSPEC;
	return listen_at(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

/* One of this machine's that others see. */
PROBE(net_listen_public)
{
	struct sockaddr_in a = v4_at(GOOD2, 0);

	return listen_at(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

PROBE(net_listen_low_port)
{
	struct sockaddr_in a = v4_at("127.0.0.1", 54);

	want_net();
	return listen_at(made(AF_INET, SOCK_STREAM, 0), &a, sizeof(a));
}

/* Beside the operator's own, who lets others of the same user in: every second caller is ours. */
PROBE(net_listen_beside)
{
	struct sockaddr_in a = v4_at("0.0.0.0", (unsigned)escape_port);
	int s = made(AF_INET, SOCK_STREAM, 0), one = 1;

	(void)DO(setsockopt, s, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	return listen_at(s, &a, sizeof(a));
}

PROBE(net_listen_turned)
{
	struct sockaddr_in here = v4_at("127.0.0.1", 0), any = v4_at("0.0.0.0", 0), *both = shared_page();
	pid_t child = turn(both, &here, &any, sizeof(any));
	int found = STOPPED;

	for (uint64_t since = 0; found != WORKED && still(&since);) {
		int s = made(AF_INET, SOCK_STREAM, 0);
		struct sockaddr_in a = here;
		socklen_t len = sizeof(a);

		if (s >= 0 && listen_at(s, both, sizeof(*both)) == WORKED &&
		    DO(getsockname, s, (void *)&a, &len) == 0 && a.sin_addr.s_addr == INADDR_ANY)
			found = WORKED;
		close(s);
	}
	end_turn(child);
	return found;
}

/* --- other families ------------------------------------------------------------------------------------ */

static int family(int domain, int type, int protocol)
{
	int s = made(domain, type, protocol);

	return s < 0 && (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT) ? NOT_HERE : if_done(s);
}

#define FAMILY(name, domain, type, protocol)                                                                 \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		return family(domain, type, protocol);                                                       \
	}

FAMILY(net_uevents, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)
FAMILY(net_diagnosis, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)
FAMILY(net_xfrm, AF_NETLINK, SOCK_RAW, NETLINK_XFRM)
FAMILY(net_audit, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)
FAMILY(net_generic, AF_NETLINK, SOCK_DGRAM, NETLINK_GENERIC)
FAMILY(net_netfilter, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)
FAMILY(net_userland_link, AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK)
FAMILY(net_vsock, 40, SOCK_STREAM, 0)
FAMILY(net_vsock_packets, 40, SOCK_SEQPACKET, 0)
FAMILY(net_algorithms, 38, SOCK_SEQPACKET, 0)

PROBE(net_generic_high_bits)
{
	return if_done(SC(socket, HIGH(AF_NETLINK), HIGH(SOCK_RAW), HIGH(NETLINK_GENERIC)));
}

/* --- another architecture's way ------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(MAP_32BIT)
static long int80(long nr, const void *a, const void *b, long c)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return r;
}
#endif

/* socketcall(2): one number for all, its arguments behind a pointer. */
PROBE(net_int80_socketcall)
{
#if defined(__x86_64__) && defined(MAP_32BIT)
	struct sockaddr_in a = v4(EVIL);
	uint32_t *low =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long s;

	if (low == MAP_FAILED)
		return NOT_HERE;
	low[0] = AF_INET;
	low[1] = SOCK_STREAM;
	low[2] = 0;
	s = int80(102, (void *)1, low, 0);
	if (s < 0)
		return NOT_HERE;
	memcpy(low + 8, &a, sizeof(a));
	low[0] = (uint32_t)s;
	low[1] = (uint32_t)(uintptr_t)(low + 8);
	low[2] = sizeof(a);
	if (int80(102, (void *)3, low, 0) < 0)
		return STOPPED;
	(void)write((int)s, escape_name, strlen(escape_name));
	return WORKED;
#else
	return NOT_HERE;
#endif
}
