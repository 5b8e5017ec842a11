/*
 * connect(2): judged by the destination, performed on a duplicate of the caller's socket with our own
 * copy of the address, so that neither can be exchanged in between.
 *
 * The duplicate is the same open file: that a connection is under way, its error and its time limits
 * are where the caller will look for them.
 */
#include <errno.h>
#include <string.h>

#include "tools/supervisor/line.h"
#include "tools/supervisor/net.h"
#include "tools/tools.h"

/* --- the socket -------------------------------------------------------------------------------------- */

int endpoint_option(const struct endpoint *e, int option)
{
	int value;
	socklen_t len = sizeof(value);

	return getsockopt(e->fd, SOL_SOCKET, option, &value, &len) < 0 ? -errno : value;
}

/* What family the socket is of. */
static int find_domain(struct endpoint *e)
{
	e->domain = endpoint_option(e, SO_DOMAIN);
	return e->domain < 0 ? e->domain : 0;
}

int endpoint_take(struct endpoint *e, struct caller *c)
{
	e->len = 0;
	e->reach = NULL;
	e->fd = caller_fd(c, (int)c->arg[0]);
	return e->fd < 0 ? e->fd : find_domain(e);
}

/* In the kernel's order, so that its errors come as from it. */
int endpoint_take_addr(struct endpoint *e, struct caller *c, uint64_t addr, uint64_t len)
{
	int n = (int)len, r; /* an int to the kernel, whatever stands above */

	e->reach = NULL;
	e->fd = caller_fd(c, (int)c->arg[0]);
	if (e->fd < 0)
		return e->fd;
	if (n < 0 || (size_t)n > sizeof(e->addr))
		return -EINVAL;
	e->len = (socklen_t)n;
	memset(&e->addr, 0, sizeof(e->addr));
	r = caller_read(c, addr, &e->addr, (size_t)n);
	return r < 0 ? r : find_domain(e);
}

void endpoint_done(struct endpoint *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

const char *inet_target(const struct request *req, char buf[INET_TARGET])
{
	struct out o = out_of(buf, INET_TARGET);

	if (req->is_datagram)
		text_str(&o, "udp ");
	if (req->host)
		text_str(&o, req->host);
	else
		text_inet(&o, req->addr);
	text_str(&o, ":");
	text_uint(&o, req->port);
	return text_end(&o);
}

struct answer connect_as_said(struct caller *c, const struct endpoint *e)
{
	const struct connecting to = { .fd = e->fd, .sa = &e->addr.sa, .len = e->len, .file = -1 };

	return connect_patiently(c, &to);
}

struct answer refuse_family(struct caller *c, const struct endpoint *e, enum op op)
{
	struct request req = { .op = op, .access = op_access(op) };
	char target[40];
	struct out o = out_of(target, sizeof(target));

	text_str(&o, "address family ");
	text_uint(&o, (unsigned)e->domain);
	verdict_refuse(c, &req, text_end(&o), REASON_SOCKET);
	return answer_result(-EACCES);
}

/* --- inet ---------------------------------------------------------------------------------------------- */

void inet_name_machine(void *sa, size_t len)
{
	uint8_t said[16], addr[16];
	uint16_t port;

	if (!sockaddr_inet(sa, len, said, &port) || !inet_is_any(said) ||
	    !sockaddr_reached(sa, len, addr, &port))
		return;
	if (((const struct sockaddr *)sa)->sa_family == AF_INET6)
		memcpy(&((struct sockaddr_in6 *)sa)->sin6_addr, addr, 16);
	else
		memcpy(&((struct sockaddr_in *)sa)->sin_addr, addr + 12, 4);
}

static struct answer connect_inet(struct caller *c, struct endpoint *e)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT), .has_addr = true };
	struct connecting to = { .fd = e->fd, .sa = &e->addr.sa, .len = e->len, .file = -1 };
	struct meaning m;

	/* AF_UNSPEC dissolves an association; what is too short the kernel refuses. */
	if (e->addr.sa.sa_family == AF_UNSPEC || !sockaddr_reached(&e->addr, e->len, req.addr, &req.port))
		return connect_as_said(c, e);
	if (req.port == DNS_PORT && endpoint_option(e, SO_TYPE) != SOCK_STREAM)
		return refuse_family(c, e, OP_CONNECT);
	if (req.port == DNS_PORT)
		return connect_resolver(c, e, &req);
	meaning_find(c, &req, &m);
	/* Who begins to listen now was not judged. */
	if (m.port.owner == PORT_NOBODYS && e->addr.sa.sa_family == e->domain)
		return answer_result(-ECONNREFUSED);
	if (m.port.owner == PORT_NOBODYS) /* the kernel knows what is wrong with it */
		return connect_as_said(c, e);
	if (!meaning_conclude(c, &req, &m))
		return answer_result(-EACCES);
	inet_name_machine(&e->addr, e->len);
	to.is_own = m.port.owner == PORT_OWN;
	to.image = c->image_number;
	return connect_patiently(c, &to);
}

static struct answer connect_any(struct caller *c, struct endpoint *e)
{
	struct answer a;

	if (line_connect(c, e, &a))
		return a;
	switch (e->domain) {
	case AF_INET:
	case AF_INET6:
		return connect_inet(c, e);
	case AF_UNIX:
		return connect_unix(c, e);
	case AF_NETLINK: /* ends in the kernel */
		return connect_as_said(c, e);
	default:
		return refuse_family(c, e, OP_CONNECT);
	}
}

struct answer carry_connect(struct caller *c)
{
	struct endpoint e;
	struct answer a;
	int r = endpoint_take_addr(&e, c, c->arg[1], c->arg[2]);

	a = r < 0 ? answer_result(r) : connect_any(c, &e);
	endpoint_done(&e);
	return a;
}
