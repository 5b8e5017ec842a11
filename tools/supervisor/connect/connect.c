/*
 * connect(2), bind(2) and listen(2) performed for the caller.
 *
 * connect(2): judged by the destination, performed on a duplicate of the caller's socket with our own
 * copy of the address, so that neither can be exchanged in between.
 *
 * The duplicate is the same open file, so the caller's own descriptor shows that a connection is under way,
 * its error and its time limits.
 */
#include <errno.h>
#include <string.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/datagrams/line.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/net/net.h"

static struct answer connect_inet(struct caller *c, struct endpoint *e)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT), .has_addr = true };
	struct connecting to = { .fd = e->fd, .sa = &e->addr.sa, .len = e->len, .file = -1 };
	struct meaning m;

	if (e->addr.sa.sa_family == AF_UNIX && e->len >= sizeof(struct sockaddr_in))
		return answer_result(-EAFNOSUPPORT);
	/* AF_UNSPEC dissolves an association; an address that is too short is refused by the kernel. */
	if (e->addr.sa.sa_family == AF_UNSPEC || !sockaddr_reached(&e->addr, e->len, req.addr, &req.port))
		return connect_as_said(c, e);
	if (req.port == DNS_PORT && endpoint_option(e, SO_TYPE) != SOCK_STREAM)
		return refuse_family(c, e, OP_CONNECT);
	if (req.port == DNS_PORT)
		return connect_resolver(c, e, &req);
	meaning_find(c, &req, &m);
	/* A process that begins to listen now was not judged. */
	if (m.port.owner == PORT_NOBODYS && e->addr.sa.sa_family == e->domain)
		return answer_result(-ECONNREFUSED);
	if (m.port.owner == PORT_NOBODYS) /* the kernel returns the error */
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
		return caller_may_reach(c, false) ? connect_inet(c, e) : answer_result(-EACCES);
	case AF_UNIX:
		return connect_unix(c, e);
	case AF_NETLINK: /* stays inside the kernel */
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
