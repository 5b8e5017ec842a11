/*
 * The loop's part of a line: what is sent without a name goes where it is connected to, what comes in is
 * handed on.
 *
 * Nothing here waits.  What finds no room: a datagram of inet is dropped, as UDP does; one of unix, which
 * is never lost on the way, waits, and nothing behind it is taken meanwhile.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tools/supervisor/supervisor.h"

#include "line.h"

#define TURN_MAX  64 /* messages that one line's turn may take */
#define LINGER_NS 10000000000ull

/* --- real sockets -------------------------------------------------------------------------------- */

/* What is stuck inwards is taken no more of; what is stuck outwards waits for room. */
static void real_update(struct line *l)
{
	for (size_t i = 0; i < REACHES; i++) {
		struct line_real *r = &l->real[i];
		uint32_t events = l->in ? 0u : EPOLLIN;

		if (l->out && l->domain == AF_UNIX)
			events |= EPOLLOUT;

		if (r->watch.fd < 0 || r->events == events)
			continue;
		r->events = events;
		(void)loop_rewatch(l->all->loop, &r->watch, events);
	}
}

/* What comes is handed on if the line has sent to its source, if a rule opened the port, or if a socket of
 * the session itself sent it. */
static bool is_welcome(struct line *l, const struct line_addr *from)
{
	uint64_t cookie = 0;
	bool ok, known;

	if (l->domain == AF_UNIX)
		return true;
	pthread_mutex_lock(&l->all->lock);
	known = line_knows(l, from);
	pthread_mutex_unlock(&l->all->lock);
	known = known || line_renew(l, from);
	pthread_mutex_lock(&l->all->lock);
	if (!known)
		cookie = line_own_cookie(l, from);
	ok = l->is_open || known || cookie;
	/* Whom it is connected to it hears alone, and him too only where he was let speak. */
	if (l->peer.len > 0)
		ok = ok && line_same_addr(&l->peer, from);
	if (ok && !known)
		line_learn(l, from, cookie, NULL);
	pthread_mutex_unlock(&l->all->lock);
	return ok;
}

static struct line_parcel *parcel_new(const void *data, size_t len, const struct line_addr *from)
{
	struct line_parcel *p = malloc(sizeof(*p) + len);

	if (!p)
		return NULL;
	p->len = len;
	p->from = from ? *from : (struct line_addr){ 0 };
	memcpy(p->data, data, len);
	return p;
}

/* One message of a real socket: 0, or -EAGAIN where there is none, or no room for more. */
static int take_in(struct line *l, int fd)
{
	uint8_t *buf = l->all->buffer;
	struct line_addr from = { .len = sizeof(from.at) };
	ssize_t n = recvfrom(fd, buf, LINE_BUFFER, MSG_DONTWAIT | MSG_TRUNC, &from.at.sa, &from.len);
	int r;

	if (n < 0)
		return -errno;
	if (from.len > sizeof(from.at))
		from.len = sizeof(from.at);
	if (n > LINE_BUFFER || !is_welcome(l, &from))
		return 0;
	r = line_hand_on(l, buf, (size_t)n, &from);
	if (r == -EAGAIN && l->domain == AF_UNIX)
		l->in = parcel_new(buf, (size_t)n, &from);
	return r;
}

static void real_ready(struct loop_watch *w, uint32_t events)
{
	struct line *l = CONTAINER_OF(w, struct line_real, watch)->line;

	if (events & ~(uint32_t)EPOLLOUT && !l->in)
		for (int i = 0, r = 0; i < TURN_MAX && r != -EAGAIN; i++)
			r = take_in(l, w->fd);
	line_pump(l);
}

static int real_socket(int domain, enum line_reach reach)
{
	int fd = socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e, no = 0;

	if (fd < 0)
		return -errno;
	if (domain == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	/* Since Linux 5.7 without a privilege. */
	if (domain == AF_UNIX || reach != REACH_HERE ||
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof("lo")) == 0)
		return fd;
	e = errno;
	close(fd);
	return -e;
}

/* The port that the line was told it has, where it can be had. */
static void take_port(struct line *l, int fd)
{
	struct sockaddr_in6 any = { .sin6_family = (sa_family_t)l->domain,
				    .sin6_port = l->own.at.in.sin_port };

	if (l->domain == AF_UNIX || l->own.len == 0 || any.sin6_port == 0)
		return;
	if (bind(fd, (const struct sockaddr *)&any,
		 l->domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(any)) == 0)
		ports_note(&l->all->sup->ports, fd, l->who.image);
}

int line_real(struct line *l, enum line_reach reach)
{
	struct line_real *r = &l->real[reach];
	int fd;

	if (l->dead)
		return -ESHUTDOWN;
	if (r->watch.fd >= 0)
		return r->watch.fd;
	fd = real_socket(l->domain, reach);
	if (fd < 0)
		return fd;
	line_set_options(l, fd);
	take_port(l, fd);
	r->watch = (struct loop_watch){ .fd = fd, .ready = real_ready };
	r->events = EPOLLIN;
	if (loop_watch(l->all->loop, &r->watch, r->events) == 0)
		return fd;
	close(fd);
	r->watch.fd = -1;
	return -ENOBUFS;
}

/* The kernel gives a port to who sends without one (inet_autobind). */
static void find_port(struct line *l, int fd)
{
	struct sockaddr_in6 any = { .sin6_family = (sa_family_t)l->domain };
	struct line_addr own = { .len = sizeof(own.at) };

	if (bind(fd, (const struct sockaddr *)&any,
		 l->domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(any)) == 0 &&
	    getsockname(fd, &own.at.sa, &own.len) == 0)
		l->own = own;
	ports_note(&l->all->sup->ports, fd, l->who.image);
}

int line_send_inet(struct line *l, const void *data, size_t len, const struct line_addr *dest)
{
	/* A port of every address that a rule opened is the world's and serves what is here as well. */
	enum line_reach reach =
		line_is_here(dest) && l->real[REACH_FAR].watch.fd < 0 ? REACH_HERE : REACH_FAR;
	int fd = line_real(l, reach);

	if (fd < 0)
		return fd;
	if (l->own.len == 0)
		find_port(l, fd);
	if (sendto(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL, &dest->at.sa, dest->len) >= 0)
		return 0;
	return errno == EAGAIN || errno == ENOBUFS ? 0 : -errno;
}

/* --- out of the session -------------------------------------------------------------------------- */

/* False: it must wait.  Under the lock. */
static bool send_out_unix(struct line *l, const void *data, size_t len)
{
	int fd = l->real[REACH_HERE].watch.fd;

	if (l->peer.len == 0 || fd < 0)
		return true;
	return send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

static bool send_out_inet(struct line *l, struct line_way *way, const void *data, size_t len)
{
	struct lines *all = l->all;

	if (way->peer.len == 0 || len > LINE_LONGEST)
		return true;
	if (line_is_dns(&way->peer)) {
		line_ask_now(l, &way->who, data, len, &way->peer);
		return true;
	}
	if (way->passage == PASSAGE_UNJUDGED)
		line_judge_way(l, way);
	if (way->passage == PASSAGE_OPEN) {
		pthread_mutex_lock(&all->lock);
		(void)line_send_inet(l, data, len, &way->peer);
		pthread_mutex_unlock(&all->lock);
	}
	return way->passage != PASSAGE_ASKED;
}

/* An empty message looks the same but for this. */
bool line_is_at_end(const struct line *l)
{
	struct pollfd p = { .fd = l->watch.fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) == 1 && p.revents & (POLLRDHUP | POLLHUP);
}

/*
 * The next message of the session's and where it goes: who connects anew finds the line empty, or his message
 * with its way.  *sent: it has gone already.
 */
static ssize_t take_message(struct line *l, struct line_way *way, bool *sent)
{
	uint8_t *buf = l->all->buffer;
	ssize_t n;

	pthread_mutex_lock(&l->all->lock);
	n = recv(l->watch.fd, buf, LINE_BUFFER, MSG_DONTWAIT | MSG_TRUNC);
	*way = (struct line_way){ l->peer, l->who, line_passage(l), l->turn, NULL };
	if (n == 0 && line_is_at_end(l))
		l->eof = true;
	/* Longer than the buffer of any socket that was left as it was made. */
	*sent = n > LINE_BUFFER;
	if (!*sent && n >= 0 && !l->eof && l->domain == AF_UNIX)
		*sent = send_out_unix(l, buf, (size_t)n);
	pthread_mutex_unlock(&l->all->lock);
	return n < 0 ? -errno : n;
}

/* One message of the session's: 0, or -EAGAIN where there is none or the way is blocked. */
static int take_out(struct line *l)
{
	const uint8_t *buf = l->all->buffer;
	struct line_way way;
	bool sent;
	ssize_t n = take_message(l, &way, &sent);

	if (n < 0 || l->eof)
		return -EAGAIN;
	if (sent || (l->domain != AF_UNIX && send_out_inet(l, &way, buf, (size_t)n)))
		return 0;
	l->out = parcel_new(buf, (size_t)n, NULL);
	if (l->out)
		l->out->way = way;
	return -EAGAIN;
}

/* What waits has gone, or there is no way for it any more. */
static bool send_waiting(struct line *l)
{
	struct line_way *way = &l->out->way;
	bool sent = true;

	pthread_mutex_lock(&l->all->lock);
	way->passage = l->turn == way->turn ? line_passage(l) : PASSAGE_CLOSED;
	if (l->domain == AF_UNIX)
		sent = send_out_unix(l, l->out->data, l->out->len);
	pthread_mutex_unlock(&l->all->lock);
	return l->domain == AF_UNIX ? sent : send_out_inet(l, way, l->out->data, l->out->len);
}

static void pump_out(struct line *l)
{
	if (l->out && !send_waiting(l))
		return;
	free(l->out);
	l->out = NULL;
	/* Who is gone writes no more: what is left is bounded. */
	for (int i = 0, r = 0; (i < TURN_MAX || l->hung) && r == 0; i++)
		r = take_out(l);
}

bool line_is_sending(struct line *l)
{
	bool is = false;
	int n;

	pthread_mutex_lock(&l->all->lock);
	if (!l->dead && l->passage != PASSAGE_ASKED)
		is = ioctl(l->watch.fd, SIOCINQ, &n) == 0 && n > 0;
	pthread_mutex_unlock(&l->all->lock);
	return is;
}

static void pump_in(struct line *l)
{
	if (!l->in || line_hand_on(l, l->in->data, l->in->len, &l->in->from) == -EAGAIN)
		return;
	free(l->in);
	l->in = NULL;
}

static void on_timer(struct loop_timer *t)
{
	line_die(CONTAINER_OF(t, struct line, timer));
}

/* Its last message still waits for somebody: for a while. */
static void linger(struct line *l)
{
	if (!l->out) {
		line_die(l);
		return;
	}
	l->timer.fire = on_timer;
	if (!l->timer.at)
		loop_timer_set(l->all->loop, &l->timer, LINGER_NS);
}

void line_pump(struct line *l)
{
	uint32_t events;

	pump_in(l);
	pump_out(l);
	real_update(l);
	if (l->hung) {
		linger(l);
		return;
	}
	events = (l->out || l->eof ? 0u : EPOLLIN | EPOLLRDHUP) | (l->in ? EPOLLOUT : 0u);
	if (events == l->events)
		return;
	l->events = events;
	(void)loop_rewatch(l->all->loop, &l->watch, events);
}

void line_ready(struct loop_watch *w, uint32_t events)
{
	struct line *l = CONTAINER_OF(w, struct line, watch);

	if (events & (EPOLLHUP | EPOLLERR)) {
		loop_unwatch(l->all->loop, &l->watch);
		l->hung = true;
	}
	line_pump(l);
}
