/*
 * Sockets before and beside connect: bind, listen, sendto.
 *
 * A session may have stream sockets (and unix seqpacket, and the kernel's routing table by netlink): they
 * name their destination once, in connect(2), where it is judged.  Datagram sockets may name it in every
 * message, in memory that the call points to, so the session gets lines (line.h) in place of them.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/datagrams/line.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"

/* --- sendto -------------------------------------------------------------------------------------------- */

/*
 * Kinds of sockets that take no destination from a message: TCP ignores it (tcp(7); with MSG_FASTOPEN,
 * which the filter refuses, it would not), unix streams fail with EISCONN or EOPNOTSUPP, unix seqpacket
 * ignores it, netlink ends in the kernel.
 */
static bool is_deaf(int domain, int type)
{
	static const struct {
		int domain, type;
	} kinds[] = {
		{ AF_INET, SOCK_STREAM },    { AF_INET6, SOCK_STREAM }, { AF_UNIX, SOCK_STREAM },
		{ AF_UNIX, SOCK_SEQPACKET }, { AF_NETLINK, SOCK_RAW },	{ AF_NETLINK, SOCK_DGRAM },
	};

	for (size_t i = 0; i < NELEM(kinds); i++)
		if (kinds[i].domain == domain && kinds[i].type == type)
			return true;
	return false;
}

/*
 * The data is never read: the kernel sends it, where that is allowed.  The descriptor may refer to another
 * socket by then, but the session has only sockets of these kinds.  A socket of another kind that was passed
 * in from outside is refused if it is found here.
 */
static struct answer send_on(struct caller *c, const struct endpoint *e)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT) };

	if (is_deaf(e->domain, endpoint_option(e, SO_TYPE)))
		return answer_continue();
	verdict_refuse_once(c, &req, "datagram", REASON_SOCKET);
	return answer_result(-EACCES);
}

struct answer carry_sendto(struct caller *c)
{
	struct endpoint e;
	int r = endpoint_take(&e, c);
	struct line *l = r == 0 && e.domain == AF_UNIX ? line_get(c->sup, e.fd) : NULL;
	struct answer a;

	if (l)
		a = line_sendto(c, l, e.fd);
	else
		a = r < 0 ? answer_result(r) : send_on(c, &e);
	if (l)
		line_put(l);
	endpoint_done(&e);
	return a;
}

/* --- bind -------------------------------------------------------------------------------------------- */

static int bind_now(struct caller *c, const struct endpoint *e)
{
	if (bind(e->fd, &e->addr.sa, e->len) < 0)
		return -errno;
	if (e->domain != AF_NETLINK)
		ports_note(&c->sup->ports, e->fd, c->image_number);
	return 0;
}

/* False for an address that this machine does not have: the kernel's error comes before a denial. */
static bool is_here(const struct endpoint *e)
{
	_cleanup_close_ int fd = socket(e->domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage any = e->addr.all;

	/* The port is at the same offset in both families. */
	((struct sockaddr_in *)&any)->sin_port = 0;
	return fd < 0 || bind(fd, (const struct sockaddr *)&any, e->len) == 0 || errno != EADDRNOTAVAIL;
}

/* Judges the address that a socket is bound to: 0 or -errno. */
static int judge_bound(struct caller *c, const struct endpoint *e)
{
	struct request req = { .op = OP_BIND, .access = op_access(OP_BIND), .has_addr = true };
	char target[INET_TARGET];
	struct decision d;

	/* Too short, or of another family: the kernel refuses it. */
	if (!sockaddr_inet(&e->addr, e->len, req.addr, &req.port))
		return 0;
	d = verdict_of(c, &req);
	if (d.verdict == VERDICT_DENY && inet_is_any(req.addr) && narrow_to_machine(c, e, req.port))
		return 0;
	if (d.verdict != VERDICT_ALLOW && !is_here(e))
		return -EADDRNOTAVAIL;
	return verdict_conclude(c, &req, inet_target(&req, target), d) ? 0 : -EACCES;
}

/*
 * True for a stream socket that is bound to the wildcard address and port 0: a client may bind its own end
 * like this (Tcl), and so may a program that looks for a free port.  The socket accepts no connection before
 * listen(2), which is judged.
 */
static bool is_nameless(const struct endpoint *e)
{
	uint8_t addr[16];
	uint16_t port;

	return sockaddr_inet(&e->addr, e->len, addr, &port) && port == 0 && inet_is_any(addr) &&
	       endpoint_option(e, SO_TYPE) == SOCK_STREAM;
}

static struct answer bind_any(struct caller *c, const struct endpoint *e)
{
	struct answer a;
	int r;

	if (line_bind(c, e, &a))
		return a;
	switch (e->domain) {
	case AF_INET:
	case AF_INET6:
		if (!caller_may_reach(c, false))
			return answer_result(-EACCES);
		r = is_nameless(e) ? 0 : judge_bound(c, e);
		return answer_result(r < 0 ? r : caller_alive(c) ? bind_now(c, e) : -ESRCH);
	case AF_UNIX:
		return bind_unix(c, e);
	case AF_NETLINK:
		return answer_result(bind_now(c, e));
	default:
		return refuse_family(c, e, OP_BIND);
	}
}

struct answer carry_bind(struct caller *c)
{
	struct endpoint e;
	int r = endpoint_take_addr(&e, c, c->arg[1], c->arg[2]);
	struct answer a = r < 0 ? answer_result(r) : bind_any(c, &e);

	endpoint_done(&e);
	return a;
}

/* --- listen ------------------------------------------------------------------------------------------ */

/*
 * Judges a socket that listens at the wildcard address.  If the kernel chose its port, it was not judged
 * before (is_nameless()); with a port that the caller chose, the rule that allowed the bind allows this too.
 * A socket that was never bound gets a free port now (inet_autobind), and a rule for port 0, "any free port",
 * applies to both.
 */
enum listening { LISTENS_NOT_YET, LISTENS_ALREADY };
static bool judge_listening(struct caller *c, const struct endpoint *e, enum listening how)
{
	struct request req = { .op = OP_BIND, .access = op_access(OP_BIND), .has_addr = true };
	char target[INET_TARGET];
	struct decision d;
	uint16_t port;

	(void)sockaddr_inet(&e->addr, e->len, req.addr, &req.port);
	port = req.port;
	d = verdict_of(c, &req);
	if (d.verdict != VERDICT_ALLOW && req.port != 0) {
		req.port = 0;
		d = verdict_of(c, &req);
	}
	/* A socket that listens already may have accepted connections. */
	if (d.verdict == VERDICT_DENY && how == LISTENS_NOT_YET && narrow_to_machine(c, e, port))
		return true;
	return verdict_conclude(c, &req, inet_target(&req, target), d);
}

/* Reads the socket's own address as it is now into *e.  True: it stands for every address, or cannot be
 * read. */
static bool is_for_all(struct endpoint *e)
{
	uint8_t addr[16];
	uint16_t port;

	if (e->domain != AF_INET && e->domain != AF_INET6)
		return false;
	e->len = sizeof(e->addr);
	if (getsockname(e->fd, &e->addr.sa, &e->len) < 0)
		return true;
	return sockaddr_inet(&e->addr, e->len, addr, &port) && inet_is_any(addr);
}

/*
 * A socket with a single address was judged when it got that address.  But an address that connect(2) chose
 * is removed by connect(2) with AF_UNSPEC, which another thread may have called since it was read: so the
 * address is read again after listen(2).
 */
static struct answer listen_on(struct caller *c, struct endpoint *e)
{
	bool judged, unbound;
	uint8_t addr[16];
	struct answer a;
	uint16_t port;

	if (line_listen(c, e, &a))
		return a;
	judged = is_for_all(e);
	unbound = judged && sockaddr_inet(&e->addr, e->len, addr, &port) && port == 0;
	if (judged && !judge_listening(c, e, LISTENS_NOT_YET))
		return answer_result(-EACCES);
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	if (listen(e->fd, (int)c->arg[1]) < 0)
		return answer_result(-errno);
	if (e->domain != AF_UNIX)
		ports_listens(&c->sup->ports, e->fd, c->image_number, unbound);
	if (judged || !is_for_all(e) || judge_listening(c, e, LISTENS_ALREADY))
		return answer_result(0);
	(void)shutdown(e->fd, SHUT_RDWR);
	return answer_result(-EACCES);
}

struct answer carry_listen(struct caller *c)
{
	struct endpoint e;
	int r = endpoint_take(&e, c);
	struct answer a = r < 0 ? answer_result(r) : listen_on(c, &e);

	endpoint_done(&e);
	return a;
}
