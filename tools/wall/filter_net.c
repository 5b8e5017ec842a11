/*
 * The filter's rules for sockets.
 *
 * Streams are judged when they connect or listen; after that the kernel handles them alone.  A datagram
 * socket names its destination in each message, behind a pointer: so the supervisor makes such sockets
 * (line.h) and answers questions about their properties.
 */
#include "filter.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define TYPE_MASK 0xfu /* of socket's type, without SOCK_CLOEXEC and SOCK_NONBLOCK */

/* Yes where the loaded word is one of the values. */
static unsigned if_any(struct builder *b, const uint32_t *values, size_t n, unsigned yes, unsigned no)
{
	unsigned at = no;

	while (n-- > 0)
		at = bpf_test(&b->bpf, BPF_JEQ, values[n], yes, at);
	return at;
}

static unsigned if_type(struct builder *b, uint32_t type, unsigned yes, unsigned no)
{
	return bpf_test(&b->bpf, BPF_JEQ, type, yes, no);
}

static unsigned load_type(struct builder *b, unsigned next)
{
	return bpf_load(&b->bpf, low(1), bpf_mask(&b->bpf, TYPE_MASK, next));
}

static unsigned local_socket(struct builder *b)
{
	unsigned datagram = if_type(b, SOCK_DGRAM, b->notify, answer_at(b, EACCES));

	return load_type(b,
			 if_type(b, SOCK_STREAM, b->allow, if_type(b, SOCK_SEQPACKET, b->allow, datagram)));
}

static unsigned inet_socket(struct builder *b)
{
	static const uint32_t tcp_protocols[] = { 0, IPPROTO_TCP }, udp_protocols[] = { 0, IPPROTO_UDP };
	unsigned tcp = bpf_load(&b->bpf, low(2),
				if_any(b, tcp_protocols, 2, b->allow, answer_at(b, EPROTONOSUPPORT)));
	unsigned udp = bpf_load(&b->bpf, low(2),
				if_any(b, udp_protocols, 2, b->notify, answer_at(b, EPROTONOSUPPORT)));
	unsigned other = if_type(b, SOCK_RAW, answer_at(b, EPERM), answer_at(b, ESOCKTNOSUPPORT));

	return load_type(b, if_type(b, SOCK_STREAM, tcp, if_type(b, SOCK_DGRAM, udp, other)));
}

unsigned filter_socket(struct builder *b)
{
	static const uint32_t inet_families[] = { AF_INET, AF_INET6 };
	unsigned netlink =
		bpf_load(&b->bpf, low(2),
			 bpf_test(&b->bpf, BPF_JEQ, NETLINK_ROUTE, b->allow, answer_at(b, EPROTONOSUPPORT)));
	unsigned inet = inet_socket(b), local = local_socket(b), at;

	at = bpf_test(&b->bpf, BPF_JEQ, AF_NETLINK, netlink, answer_at(b, EAFNOSUPPORT));
	at = if_any(b, inet_families, 2, inet, at);
	return bpf_load(&b->bpf, low(0), bpf_test(&b->bpf, BPF_JEQ, AF_UNIX, local, at));
}

unsigned filter_socketpair(struct builder *b)
{
	static const uint32_t inet_families[] = { AF_INET, AF_INET6 };
	unsigned other = if_any(b, inet_families, 2, answer_at(b, EOPNOTSUPP), answer_at(b, EAFNOSUPPORT));

	return bpf_load(&b->bpf, low(0), bpf_test(&b->bpf, BPF_JEQ, AF_UNIX, local_socket(b), other));
}

/* --- options ------------------------------------------------------------------------------------- */

/* Levels that an inet datagram socket knows and its replacement does not. */
static const uint32_t datagram_levels[] = { IPPROTO_IP, IPPROTO_IPV6, IPPROTO_UDP };
#define DATAGRAM_LEVELS (sizeof(datagram_levels) / sizeof(datagram_levels[0]))

unsigned filter_getsockopt(struct builder *b)
{
	static const uint32_t kinds[] = { SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_REUSEPORT };
	unsigned kind = bpf_load(&b->bpf, low(2), if_any(b, kinds, 5, b->notify, b->allow));
	unsigned at = bpf_test(&b->bpf, BPF_JEQ, SOL_SOCKET, kind, b->allow);

	return bpf_load(&b->bpf, low(1), if_any(b, datagram_levels, DATAGRAM_LEVELS, b->notify, at));
}

/*
 * Source routes: the packets of a connection that was judged by its destination would pass through the
 * hosts that they name (ip(7) IP_OPTIONS; RFC 3542 IPV6_RTHDR, and the older IPV6_2292PKTOPTIONS).
 * Devices: a socket that is bound to a device sends even packets for this machine's own address out on it
 * (socket(7) SO_BINDTODEVICE; it needs no privilege since Linux 5.7).
 */
unsigned filter_setsockopt(struct builder *b)
{
	static const uint32_t v4_routes[] = { IP_OPTIONS }, v6_routes[] = { IPV6_RTHDR, IPV6_2292PKTOPTIONS };
	static const uint32_t devices[] = { SO_BINDTODEVICE, SO_BINDTOIFINDEX };
	static const uint32_t line_own[] = { SO_REUSEPORT, SO_PASSCRED, SO_TIMESTAMP_OLD,
					     SO_TIMESTAMPNS_OLD };
	unsigned denied = answer_at(b, EPERM);
	unsigned v4 = bpf_load(&b->bpf, low(2), if_any(b, v4_routes, 1, denied, b->notify));
	unsigned v6 = bpf_load(&b->bpf, low(2), if_any(b, v6_routes, 2, denied, b->notify));
	unsigned other = if_any(b, line_own, 4, b->notify, b->allow);
	unsigned own = bpf_load(&b->bpf, low(2), if_any(b, devices, 2, denied, other));
	unsigned at = bpf_test(&b->bpf, BPF_JEQ, SOL_SOCKET, own, b->allow);

	at = bpf_test(&b->bpf, BPF_JEQ, IPPROTO_UDP, b->notify, at);
	at = bpf_test(&b->bpf, BPF_JEQ, IPPROTO_IPV6, v6, at);
	return bpf_load(&b->bpf, low(1), bpf_test(&b->bpf, BPF_JEQ, IPPROTO_IP, v4, at));
}
