/*
 * A stream to port 53 of any host is connected to the forwarder's address on loopback (its door) instead,
 * so that every program gets its answers from this name server.
 *
 * The door serves only connections that were announced by the address of their own end, so that end gets an
 * address before the connection is made.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/hosts/resolver.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/verdict/verdict.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

/* Changes an IPv4 address into the same one of the other family: ::ffff:a.b.c.d.  *sa is AF_INET. */
static void to_mapped(struct sockaddr_storage *sa, socklen_t *len)
{
	const struct sockaddr_in in = *(const struct sockaddr_in *)sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;

	memset(sa, 0, sizeof(*sa));
	in6->sin6_family = AF_INET6;
	in6->sin6_port = in.sin_port;
	memcpy(in6->sin6_addr.s6_addr, mapped, sizeof(mapped));
	memcpy(in6->sin6_addr.s6_addr + 12, &in.sin_addr, 4);
	*len = sizeof(*in6);
}

/* The reverse, where the address is a mapped one: the form in which the door sees the peer. */
static void from_mapped(struct sockaddr_storage *sa)
{
	const struct sockaddr_in6 in6 = *(const struct sockaddr_in6 *)sa;
	struct sockaddr_in *in = (struct sockaddr_in *)sa;

	if (sa->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	memset(sa, 0, sizeof(*sa));
	in->sin_family = AF_INET;
	in->sin_port = in6.sin6_port;
	memcpy(&in->sin_addr, in6.sin6_addr.s6_addr + 12, 4);
}

/* The door's address in the socket's own family.  0 or -errno. */
static int find_door(struct caller *c, const struct endpoint *e, const uint8_t wanted[16],
		     struct sockaddr_storage *door, socklen_t *len)
{
	bool six = e->domain == AF_INET6 && memcmp(wanted, mapped, sizeof(mapped)) != 0;
	int r = resolver_door(c->sup, six ? AF_INET6 : AF_INET, door, len);

	/* The machine has no ::1. */
	if (r < 0 && six)
		r = resolver_door(c->sup, AF_INET, door, len);
	if (r == 0 && e->domain == AF_INET6 && door->ss_family == AF_INET)
		to_mapped(door, len);
	return r;
}

static bool is_any(const struct sockaddr_storage *sa)
{
	uint8_t addr[16];
	uint16_t port;

	return sockaddr_inet(sa, sizeof(*sa), addr, &port) && inet_is_any(addr);
}

/* The port is at the same offset in both families. */
static in_port_t *port_of(struct sockaddr_storage *sa)
{
	return &((struct sockaddr_in *)sa)->sin_port;
}

/* The address of the socket's own end; a socket without one is bound beside the door.  0 or -errno. */
static int own_end(int fd, const struct sockaddr_storage *door, socklen_t door_len,
		   struct sockaddr_storage *ret)
{
	struct sockaddr_storage here = *door;
	socklen_t len = sizeof(*ret);
	in_port_t port;

	*ret = (struct sockaddr_storage){ 0 };
	if (getsockname(fd, (struct sockaddr *)ret, &len) < 0)
		return -errno;
	if (*port_of(ret) == 0) {
		*port_of(&here) = 0;
		if (bind(fd, (const struct sockaddr *)&here, door_len) < 0)
			return -errno;
		len = sizeof(*ret);
		if (getsockname(fd, (struct sockaddr *)ret, &len) < 0)
			return -errno;
	}
	if (is_any(ret)) {
		port = *port_of(ret);
		*ret = *door;
		*port_of(ret) = port;
	}
	from_mapped(ret);
	return 0;
}

static struct answer connect_door(struct caller *c, const struct endpoint *e, const uint8_t wanted[16])
{
	struct sockaddr_storage door = { 0 }, from = { 0 };
	struct connecting to = { .fd = e->fd, .sa = (const struct sockaddr *)&door, .file = -1 };
	struct asker who = asker_of(c);
	int r = find_door(c, e, wanted, &door, &to.len);

	if (r == 0)
		r = own_end(e->fd, &door, to.len, &from);
	if (r == 0)
		r = resolver_expect(c->sup, &from, &who);
	if (r < 0)
		return answer_result(r);
	return caller_alive(c) ? connect_patiently(c, &to) : answer_result(-ESRCH);
}

struct answer connect_resolver(struct caller *c, const struct endpoint *e, const struct request *req)
{
	char target[INET_TARGET];

	if (!verdict_judge(c, req, inet_target(req, target)))
		return answer_result(-EACCES);
	return connect_door(c, e, req->addr);
}
