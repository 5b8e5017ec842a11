/*
 * The two ends of a line: what it is connected and bound to, and what it says of itself.
 *
 * A datagram socket connects to whomever it likes and nothing is sent by that: getaddrinfo(3) sorts addresses
 * by it (RFC 6724), and programs find out so which address they have.  So connect(2) succeeds as the kernel
 * would have it, and who may be sent to is judged when something is.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"

#include "line.h"

/* The line that e is of, whose descriptor is a duplicate; every line is one of unix to the kernel. */
static struct line *line_at(struct caller *c, const struct endpoint *e)
{
	return e->domain == AF_UNIX ? line_get(c->sup, e->fd) : NULL;
}

/* Its real socket as an endpoint of that address, for those who judge unix sockets.  0 or -errno. */
static int real_end(struct line *l, const struct endpoint *e, struct endpoint *ret)
{
	int fd;

	*ret = *e;
	pthread_mutex_lock(&l->all->lock);
	fd = line_real(l, REACH_HERE);
	ret->fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&l->all->lock);
	if (fd >= 0 && ret->fd < 0)
		return -errno;
	return fd < 0 ? fd : 0;
}

/* --- connect ------------------------------------------------------------------------------------- */

/* A socket that never sends tells whether there is a way and which address is ours on it.  0 or -errno. */
static int probe(const struct line *l, const struct line_addr *own, const struct endpoint *e,
		 struct line_addr *ret_own, struct line_addr *ret_peer)
{
	_cleanup_close_ int fd = socket(l->domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct line_addr host = *own;

	if (fd < 0)
		return -errno;
	/* Its address and not its port, which is taken. */
	if (host.len > 0) {
		host.at.in.sin_port = 0;
		if (bind(fd, &host.at.sa, host.len) < 0)
			return -errno;
	}
	if (connect(fd, &e->addr.sa, e->len) < 0)
		return -errno;
	ret_own->len = ret_peer->len = sizeof(ret_own->at);
	if (getsockname(fd, &ret_own->at.sa, &ret_own->len) < 0 ||
	    getpeername(fd, &ret_peer->at.sa, &ret_peer->len) < 0)
		return -errno;
	return 0;
}

void line_let_out(struct line *l)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	for (int i = 0; i < 200 && line_is_sending(l); i++)
		nanosleep(&nap, NULL);
}

/* Under the lock. */
static void set_peer(struct caller *c, struct line *l, const struct line_addr *own,
		     const struct line_addr *peer)
{
	in_port_t port = l->own.at.in.sin_port;
	bool had = l->own.len > 0;

	l->peer = *peer;
	l->own = *own;
	if (had && port != 0)
		l->own.at.in.sin_port = port;
	l->who = asker_of(c);
	l->passage = PASSAGE_UNJUDGED;
	l->turn++;
	line_wake(l);
}

/* Under the lock.  The address goes, and the port but for a bound one's (udp_disconnect). */
static void dissolve(struct line *l)
{
	l->peer = (struct line_addr){ 0 };
	l->passage = PASSAGE_UNJUDGED;
	l->turn++;
	if (!l->is_bound)
		l->own.len = 0;
	line_wake(l);
}

static int connect_inet(struct caller *c, struct line *l, const struct endpoint *e)
{
	struct line_addr own = { 0 }, peer, bound = { 0 };
	struct lines *all = l->all;
	int r;

	line_let_out(l);
	if (e->len < sizeof(e->addr.sa.sa_family))
		return -EINVAL;
	if (e->addr.sa.sa_family == AF_UNSPEC) {
		pthread_mutex_lock(&all->lock);
		dissolve(l);
		pthread_mutex_unlock(&all->lock);
		return 0;
	}
	pthread_mutex_lock(&all->lock);
	if (l->is_bound)
		bound = l->own;
	pthread_mutex_unlock(&all->lock);
	r = probe(l, &bound, e, &own, &peer);
	if (r < 0)
		return r;
	if (!caller_alive(c))
		return -ESRCH;
	pthread_mutex_lock(&all->lock);
	set_peer(c, l, &own, &peer);
	pthread_mutex_unlock(&all->lock);
	return 0;
}

/* Judged, held and reached as a stream's peer is; the real socket stays connected. */
static struct answer connect_local(struct caller *c, struct line *l, const struct endpoint *e)
{
	struct endpoint real;
	int r = real_end(l, e, &real);
	struct answer a;

	if (r < 0)
		return answer_result(r);
	line_let_out(l);
	a = connect_unix(c, &real);
	endpoint_done(&real);
	if (a.kind != ANSWER_VALUE)
		return a;
	pthread_mutex_lock(&l->all->lock);
	l->peer.len = e->addr.sa.sa_family == AF_UNSPEC ? 0 : 1;
	line_wake(l);
	pthread_mutex_unlock(&l->all->lock);
	return a;
}

bool line_connect(struct caller *c, const struct endpoint *e, struct answer *ret)
{
	struct line *l = line_at(c, e);

	if (!l)
		return false;
	*ret = l->domain == AF_UNIX ? connect_local(c, l, e) : answer_result(connect_inet(c, l, e));
	line_put(l);
	return true;
}

/* --- bind ---------------------------------------------------------------------------------------- */

/* Who may be heard at an address, and how. */
struct hearing {
	enum line_reach reach;
	bool is_open;
};

/*
 * Any address and any port is what a client binds to, and nobody is heard there but those it sends to.
 * A port of every address that only localhost's rule names is bound to the device lo.
 */
static bool judge_bound(struct caller *c, const struct endpoint *e, struct hearing *ret)
{
	static const uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	struct request req = {
		.op = OP_BIND, .access = op_access(OP_BIND), .has_addr = true, .is_datagram = true
	};
	uint8_t given[16];
	struct decision d;
	char target[INET_TARGET];

	if (!sockaddr_inet(&e->addr, e->len, given, &req.port))
		return true; /* the kernel refuses it */
	memcpy(req.addr, given, 16);
	*ret = (struct hearing){ line_is_here(&(struct line_addr){
					 .len = e->len, .at.in6 = *(const struct sockaddr_in6 *)&e->addr })
					 ? REACH_HERE
					 : REACH_FAR,
				 true };
	if (inet_is_any(given) && req.port == 0) {
		*ret = (struct hearing){ REACH_HERE, false };
		return true;
	}
	d = verdict_of(c, &req);
	if (d.verdict == VERDICT_DENY && inet_is_any(given)) {
		struct decision here;

		memcpy(req.addr, loopback, 16);
		here = verdict_of(c, &req);
		ret->reach = REACH_HERE;
		if (here.verdict != VERDICT_DENY)
			d = here;
		else
			memcpy(req.addr, given, 16);
	}
	return verdict_conclude(c, &req, inet_target(&req, target), d);
}

/* Under the lock. */
static int bind_real(struct line *l, const struct endpoint *e, const struct hearing *h, int reuse)
{
	struct line_addr own = { .len = sizeof(own.at) };
	int fd, r;

	if (l->is_bound || l->own.len > 0)
		return -EINVAL;
	fd = line_real(l, h->reach);
	if (fd < 0)
		return fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
	if (l->v6only)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
	r = bind(fd, &e->addr.sa, e->len) < 0 ? -errno : 0;
	if (r == 0 && getsockname(fd, &own.at.sa, &own.len) < 0)
		r = -errno;
	if (r < 0)
		return r;
	ports_note(&l->all->sup->ports, fd, l->who.image);
	l->own = own;
	l->is_bound = true;
	l->is_open = h->is_open;
	return 0;
}

static int bind_inet(struct caller *c, struct line *l, const struct endpoint *e)
{
	int reuse = endpoint_option(e, SO_REUSEADDR), r;
	struct hearing h = { REACH_HERE, false };

	if (!judge_bound(c, e, &h))
		return -EACCES;
	if (!caller_alive(c))
		return -ESRCH;
	pthread_mutex_lock(&l->all->lock);
	r = bind_real(l, e, &h, reuse > 0);
	pthread_mutex_unlock(&l->all->lock);
	return r;
}

static struct answer bind_local(struct caller *c, struct line *l, const struct endpoint *e)
{
	struct endpoint real;
	int r = real_end(l, e, &real);
	struct answer a;

	if (r < 0)
		return answer_result(r);
	a = bind_unix(c, &real);
	endpoint_done(&real);
	return a;
}

bool line_bind(struct caller *c, const struct endpoint *e, struct answer *ret)
{
	struct line *l = line_at(c, e);

	if (!l)
		return false;
	*ret = l->domain == AF_UNIX ? bind_local(c, l, e) : answer_result(bind_inet(c, l, e));
	line_put(l);
	return true;
}

bool line_listen(struct caller *c, const struct endpoint *e, struct answer *ret)
{
	struct line *l = line_at(c, e);

	if (!l)
		return false;
	line_put(l);
	*ret = answer_result(-EOPNOTSUPP);
	return true;
}

/* --- names --------------------------------------------------------------------------------------- */

/* What a socket of inet that has no address yet says. */
static void unbound(struct line *l, struct line_addr *ret)
{
	*ret = (struct line_addr){ .len = l->domain == AF_INET ? sizeof(ret->at.in) : sizeof(ret->at.in6) };
	ret->at.sa.sa_family = (sa_family_t)l->domain;
}

/* As get(2) of the real socket says.  Under the lock. */
static int ask_real(struct line *l, int (*get)(int fd, struct sockaddr *sa, socklen_t *len),
		    struct line_addr *ret)
{
	int fd = line_real(l, REACH_HERE);

	ret->len = sizeof(ret->at);
	if (fd < 0)
		return fd;
	if (get(fd, &ret->at.sa, &ret->len) < 0)
		return -errno;
	if (ret->len > sizeof(ret->at))
		ret->len = sizeof(ret->at);
	return 0;
}

static int real_sockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int real_peername(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

static int find_own(struct line *l, struct line_addr *ret)
{
	if (l->domain == AF_UNIX)
		return ask_real(l, real_sockname, ret);
	if (l->own.len > 0)
		*ret = l->own;
	else
		unbound(l, ret);
	return 0;
}

static int find_peer(struct line *l, struct line_addr *ret)
{
	if (l->domain == AF_UNIX)
		return ask_real(l, real_peername, ret);
	if (l->peer.len == 0)
		return -ENOTCONN;
	*ret = l->peer;
	return 0;
}

static struct answer tell_name(struct caller *c, struct line *l,
			       int (*find)(struct line *l, struct line_addr *ret))
{
	struct line_addr a;
	int r;

	pthread_mutex_lock(&l->all->lock);
	r = find(l, &a);
	pthread_mutex_unlock(&l->all->lock);
	return answer_result(r < 0 ? r : line_put_addr(c, c->arg[1], c->arg[2], &a));
}

static struct answer sockname(struct caller *c, struct line *l, int fd)
{
	(void)fd;
	return tell_name(c, l, find_own);
}

static struct answer peername(struct caller *c, struct line *l, int fd)
{
	(void)fd;
	return tell_name(c, l, find_peer);
}

struct answer carry_getsockname(struct caller *c)
{
	return line_serve(c, sockname);
}

struct answer carry_getpeername(struct caller *c)
{
	return line_serve(c, peername);
}
