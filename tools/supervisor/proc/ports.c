/*
 * Asks the kernel by sock_diag(7) whose sockets stand at a port, and remembers the ports of the
 * sessions.
 */
#include "ports.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/addr.h"
#include "policy/base/sockaddr.h"
#include "policy/base/util.h"

#define LO	     1	/* the loopback device's number, in every network */
#define STATE_LISTEN 10 /* of include/net/tcp_states.h */

void ports_init(struct ports *p)
{
	pthread_mutex_init(&p->lock, NULL);
	p->diag = p->probe[0] = p->probe[1] = -1;
}

void ports_done(struct ports *p)
{
	const int fds[] = { p->diag, p->probe[0], p->probe[1] };

	for (size_t i = 0; i < NELEM(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&p->lock);
}

/* --- what the kernel says of a port -------------------------------------------------------------------- */

struct inquest {
	struct nlmsghdr head;
	struct inet_diag_req_v2 req;
};

/* Writes the address as words of the address family in which it is looked up, and returns the family. */
static uint8_t family_of(const uint8_t addr[16], uint32_t ret[4])
{
	bool v4 = addr_is_v4(addr);

	memset(ret, 0, 16);
	memcpy(ret, v4 ? addr + 12 : addr, v4 ? 4 : 16);
	return v4 ? AF_INET : AF_INET6;
}

static int send_question(struct ports *p, struct inquest *q, uint16_t flags)
{
	if (p->diag < 0)
		p->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	q->head = (struct nlmsghdr){ .nlmsg_len = sizeof(*q),
				     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				     .nlmsg_flags = NLM_F_REQUEST | flags,
				     .nlmsg_seq = ++p->seq };
	return send(p->diag, q, sizeof(*q), 0) < 0 ? -errno : 0;
}

/* The kernel has answered before send(2) returns.  Answers to earlier questions are skipped. */
static ssize_t take_answer(struct ports *p, struct nlmsghdr *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(p->diag, buf, size, MSG_DONTWAIT);
	while ((n < 0 && errno == EINTR) || (n >= (ssize_t)sizeof(*buf) && buf->nlmsg_seq != p->seq));
	return n;
}

union answers {
	struct nlmsghdr head;
	uint8_t bytes[8192];
};

/* Looks up as the kernel does for a packet that comes from the loopback device.  0, -ENOENT, -errno. */
static int look_up_socket(struct ports *p, bool is_datagram, const uint8_t addr[16], uint16_t port,
			  struct inet_diag_msg *ret)
{
	struct inquest q = { .req = {
				     .sdiag_protocol = is_datagram ? IPPROTO_UDP : IPPROTO_TCP,
				     .idiag_states = ~0u,
				     .id = { .idiag_if = LO,
					     .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } } };
	union answers a;
	ssize_t n;
	int r;

	q.req.sdiag_family = family_of(addr, q.req.id.idiag_src);
	memcpy(q.req.id.idiag_dst, q.req.id.idiag_src, sizeof(q.req.id.idiag_dst));
	/* For UDP the ends are exchanged, "for historical reasons" (udp_dump_one). */
	*(is_datagram ? &q.req.id.idiag_dport : &q.req.id.idiag_sport) = htons(port);
	r = send_question(p, &q, 0);
	if (r < 0)
		return r;
	n = take_answer(p, &a.head, sizeof(a));
	if (n < 0 || !NLMSG_OK(&a.head, (size_t)n))
		return n < 0 ? -errno : -EPROTO;
	if (a.head.nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(&a.head))->error;
	if (a.head.nlmsg_len < NLMSG_LENGTH(sizeof(*ret)))
		return -EPROTO;
	memcpy(ret, NLMSG_DATA(&a.head), sizeof(*ret));
	return 0;
}

static uint64_t cookie_in(const struct inet_diag_msg *m)
{
	return (uint64_t)m->id.idiag_cookie[1] << 32 | m->id.idiag_cookie[0];
}

/* --- what is the session's ----------------------------------------------------------------------------- */

static struct own_port *set_of(struct ports *p, uint16_t port)
{
	return p->own[port % PORT_SETS];
}

static const struct own_port *own_find(struct ports *p, uint16_t port, uint64_t cookie)
{
	for (size_t i = 0; i < PORT_WAYS; i++)
		if (set_of(p, port)[i].cookie == cookie)
			return &set_of(p, port)[i];
	return NULL;
}

/* A socket of the session is still found at the noted port. */
static bool is_alive(struct ports *p, const struct own_port *o)
{
	struct inet_diag_msg m;

	return look_up_socket(p, o->is_datagram, o->addr, o->port, &m) == 0 &&
	       own_find(p, o->port, cookie_in(&m));
}

/*
 * A free entry, else the oldest of those whose sockets have ended, else the oldest.  A socket that is bound
 * and does not listen yet cannot be found, so it looks as one that has ended.
 */
static struct own_port *place_for(struct ports *p, uint16_t port, uint64_t cookie)
{
	struct own_port *set = set_of(p, port);
	unsigned *next = &p->next[port % PORT_SETS];

	for (size_t i = 0; i < PORT_WAYS; i++)
		if (set[i].cookie == cookie)
			return &set[i];
	for (size_t i = 0; i < PORT_WAYS; i++)
		if (set[i].cookie == 0)
			return &set[i];
	for (unsigned i = 0; i < PORT_WAYS && is_alive(p, &set[*next % PORT_WAYS]); i++)
		++*next;
	return &set[(*next)++ % PORT_WAYS];
}

static int option(int fd, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? 0 : value;
}

static void note_socket(struct ports *p, int fd, uint32_t image, bool is_bound)
{
	struct own_port o = { .image = image, .is_datagram = option(fd, SO_TYPE) == SOCK_DGRAM };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa), size = sizeof(o.cookie);
	struct inet_diag_msg m;

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0 || !sockaddr_inet(&sa, len, o.addr, &o.port) ||
	    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &o.cookie, &size) < 0)
		return;
	if (option(fd, SO_REUSEPORT))
		atomic_store(&p->shares, true);
	pthread_mutex_lock(&p->lock);
	if (is_bound || own_find(p, o.port, o.cookie))
		*place_for(p, o.port, o.cookie) = o;
	/* A listening socket is found, unless this kernel does not support the look-up (then it returns
	 * ENOENT too). */
	if (option(fd, SO_ACCEPTCONN))
		p->is_blind = look_up_socket(p, false, o.addr, o.port, &m) < 0;
	pthread_mutex_unlock(&p->lock);
}

void ports_note(struct ports *p, int fd, uint32_t image)
{
	note_socket(p, fd, image, true);
}

void ports_listens(struct ports *p, int fd, uint32_t image, bool unbound)
{
	note_socket(p, fd, image, unbound);
}

/* Reads the messages of a dump: 1 where more follow, 0 at its end, -errno; -EEXIST: a socket is not the
 * session's. */
static int check_all(struct ports *p, const struct nlmsghdr *h, size_t len, uint16_t port)
{
	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		const struct inet_diag_msg *m = NLMSG_DATA(h);

		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
			return -EPROTO;
		if (!own_find(p, port, cookie_in(m)))
			return -EEXIST;
	}
	return 1;
}

/* A process that shares a port gets some of its connections: no other process may listen at it, whatever
 * the address. */
static bool is_shared(struct ports *p, uint16_t port)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	union answers a;
	int r = 0;

	for (size_t i = 0; i < NELEM(families) && r == 0; i++) {
		struct inquest q = { .req = { .sdiag_family = families[i],
					      .sdiag_protocol = IPPROTO_TCP,
					      .idiag_states = 1u << STATE_LISTEN,
					      .id.idiag_sport = htons(port) } };

		r = send_question(p, &q, NLM_F_DUMP);
		if (r == 0)
			r = 1;
		while (r > 0) {
			ssize_t n = take_answer(p, &a.head, sizeof(a));

			r = n < 0 ? -errno : check_all(p, &a.head, (size_t)n, port);
		}
	}
	return r != 0;
}

static struct port find_port(struct ports *p, const struct request *req, const uint8_t addr[16],
			     uint32_t image)
{
	struct port port = { .owner = PORT_OTHERS };
	const struct own_port *o;
	struct inet_diag_msg m;
	int r = p->is_blind ? -EOPNOTSUPP : look_up_socket(p, req->is_datagram, addr, req->port, &m);

	if (r == -ENOENT)
		port.owner = PORT_NOBODYS;
	if (r < 0)
		return port;
	port = (struct port){ PORT_OTHERS, m.idiag_uid, m.idiag_inode, cookie_in(&m) };
	o = own_find(p, req->port, port.cookie);
	if (o && (image == 0 || o->image == image) && !(atomic_load(&p->shares) && is_shared(p, req->port)))
		port.owner = PORT_OWN;
	return port;
}

struct port ports_find(struct ports *p, const struct request *req, uint32_t image)
{
	struct port port;
	uint8_t addr[16];

	memcpy(addr, req->addr, sizeof(addr));
	sockaddr_meant(addr);
	pthread_mutex_lock(&p->lock);
	port = find_port(p, req, addr, image);
	pthread_mutex_unlock(&p->lock);
	return port;
}

/* --- what is this machine ------------------------------------------------------------------------------ */

/* A process that connects to an address of this machine gets the same address as its own (RTN_LOCAL). */
static bool leads_back(int fd, const uint8_t addr[16])
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_in6 to = { .sin6_port = htons(9) };
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	uint8_t got[16];
	uint16_t port;

	to.sin6_family = AF_INET6;
	memcpy(&to.sin6_addr, addr, 16);
	if (addr_is_v4(addr)) {
		to.sin6_family = AF_INET;
		memcpy(&((struct sockaddr_in *)&to)->sin_addr, addr + 12, 4);
	}
	return connect(fd, &none, sizeof(none)) == 0 &&
	       connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
	       getsockname(fd, (struct sockaddr *)&own, &len) == 0 && sockaddr_inet(&own, len, got, &port) &&
	       memcmp(got, addr, 16) == 0;
}

bool ports_is_loopback(const uint8_t addr[16])
{
	uint8_t meant[16];

	memcpy(meant, addr, sizeof(meant));
	sockaddr_meant(meant);
	return addr_classify(meant) == ADDR_LOOPBACK;
}

bool ports_is_here(struct ports *p, const uint8_t addr[16])
{
	uint8_t meant[16];
	int *probe = &p->probe[0];
	bool is;

	if (ports_is_loopback(addr))
		return true;
	memcpy(meant, addr, sizeof(meant));
	sockaddr_meant(meant);
	if (!addr_is_v4(meant))
		probe++;
	pthread_mutex_lock(&p->lock);
	if (*probe < 0)
		*probe = socket(addr_is_v4(meant) ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	is = leads_back(*probe, meant);
	pthread_mutex_unlock(&p->lock);
	return is;
}
