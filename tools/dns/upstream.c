#include "tools/dns/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "policy/nameserver.h"

#include "tools/tools.h"

#define CONF_MAX   8192 /* more is no file that a person or a DHCP client writes */
#define QUERY_SIZE 288	/* the longest name, header, type and EDNS */
#define ALIENS_MAX 64u	/* what comes from a server and is no answer to us, until it is asked by TCP */

struct server {
	struct sockaddr_storage addr;
	socklen_t len;
};

struct upstream {
	struct loop *loop;
	const char *conf;
	uint16_t port;
	struct stat read; /* of conf, when it was read */
	struct server servers[UPSTREAM_SERVERS];
	size_t n;
	uint8_t in[DNS_MESSAGE_MAX]; /* a datagram */
};

/* A server, as one query sees it. */
struct line {
	struct loop_watch watch; /* fd -1: not open */
	struct upstream_query *query;
	enum dns_over over;
	enum dns_edns edns;
	bool failed;
	unsigned aliens;
	struct dns_asked asked;
	size_t n_msg;
	uint8_t msg[2 + QUERY_SIZE]; /* behind its length, which only a stream has */
	/* A stream's. */
	size_t sent, n_in, size_in;
	uint8_t *in;
};

struct upstream_query {
	struct upstream *u;
	upstream_fn fn;
	void *cookie;
	struct loop_timer timer;
	uint64_t end_ns;
	struct dns_question q;
	struct dns_answer *poor; /* SERVFAIL or REFUSED: for want of a better one */
	size_t n, turn;
	struct server servers[UPSTREAM_SERVERS];
	struct line lines[UPSTREAM_SERVERS];
};

static void on_ready(struct loop_watch *w, uint32_t events);
static void on_timer(struct loop_timer *t);

/* --- the servers -------------------------------------------------------------------------------------- */

static void server_set(struct server *s, const struct nameserver *from, uint16_t port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&s->addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&s->addr;

	memset(s, 0, sizeof(*s));
	if (memcmp(from->addr, mapped, sizeof(mapped)) == 0) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, from->addr + 12, 4);
		s->len = sizeof(*in);
		return;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	in6->sin6_scope_id = from->zone[0] ? if_nametoindex(from->zone) : 0;
	memcpy(&in6->sin6_addr, from->addr, 16);
	s->len = sizeof(*in6);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file that is not there names the server on this machine. */
static void read_servers(struct upstream *u)
{
	struct nameserver list[UPSTREAM_SERVERS];
	char text[CONF_MAX] UNINITIALIZED;
	struct stat st = { 0 };
	ssize_t n = 0;
	int fd;

	if (u->n > 0 && stat(u->conf, &st) == 0 && is_same(&st, &u->read))
		return;
	fd = open(u->conf, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	memset(&u->read, 0, sizeof(u->read));
	if (fd >= 0) {
		(void)fstat(fd, &u->read);
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	u->n = nameserver_list(text, n > 0 ? (size_t)n : 0, list, NELEM(list));
	for (size_t i = 0; i < u->n; i++)
		server_set(&u->servers[i], &list[i], u->port);
}

struct upstream *upstream_new(struct loop *l, const char *conf, uint16_t port)
{
	struct upstream *u = calloc(1, sizeof(*u));

	if (u)
		u->loop = l, u->conf = conf, u->port = port;
	return u;
}

void upstream_free(struct upstream *u)
{
	free(u);
}

/* --- a line -------------------------------------------------------------------------------------------- */

static void line_close(struct line *l)
{
	if (l->watch.fd < 0)
		return;
	loop_unwatch(l->query->u->loop, &l->watch);
	close(l->watch.fd);
	l->watch.fd = -1;
	free(l->in);
	l->in = NULL;
	l->n_in = l->size_in = l->sent = 0;
}

static bool line_build(struct line *l)
{
	uint8_t random[DNS_RANDOM];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	l->n_msg = dns_query_build(&l->query->q, l->edns, random, &l->asked, l->msg + 2, QUERY_SIZE);
	l->msg[0] = (uint8_t)(l->n_msg >> 8);
	l->msg[1] = (uint8_t)l->n_msg;
	return l->n_msg > 0;
}

/* A socket on its way to the server.  False: it cannot be had, or nobody is there. */
static bool line_open(struct line *l, enum dns_over over)
{
	const struct server *s = &l->query->servers[l - l->query->lines];
	int type = (over == DNS_TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;

	line_close(l);
	l->over = over;
	if (!line_build(l))
		return false;
	l->watch = (struct loop_watch){ socket(s->addr.ss_family, type, 0), on_ready };
	if (l->watch.fd < 0)
		return false;
	if ((connect(l->watch.fd, (const struct sockaddr *)&s->addr, s->len) < 0 && errno != EINPROGRESS) ||
	    loop_watch(l->query->u->loop, &l->watch, over == DNS_TCP ? EPOLLOUT : EPOLLIN) < 0) {
		close(l->watch.fd);
		l->watch.fd = -1;
		return false;
	}
	return true;
}

static bool send_datagram(const struct line *l)
{
	ssize_t n = send(l->watch.fd, l->msg + 2, l->n_msg, MSG_NOSIGNAL);

	/* No room is a datagram that is lost: it is sent again. */
	return n >= 0 || errno == EAGAIN || errno == ENOBUFS;
}

/* --- a query's course ------------------------------------------------------------------------------------
 */

static void finish(struct upstream_query *uq, struct dns_answer *a)
{
	upstream_fn fn = uq->fn;
	void *cookie = uq->cookie;

	if (!a)
		a = TAKE_PTR(uq->poor);
	upstream_cancel(uq);
	fn(cookie, a);
	dns_answer_free(a);
}

/* Asks the next server that has not failed.  False: there is none. */
static bool ask_next(struct upstream_query *uq)
{
	for (size_t i = 0; i < uq->n; i++) {
		struct line *l = &uq->lines[uq->turn++ % uq->n];

		if (l->failed)
			continue;
		/* A stream is as good as the network: it is waited for. */
		if (l->watch.fd >= 0 && l->over == DNS_TCP)
			return true;
		if ((l->watch.fd >= 0 || line_open(l, DNS_UDP)) && send_datagram(l))
			return true;
		line_close(l);
		l->failed = true;
	}
	return false;
}

static void set_timer(struct upstream_query *uq)
{
	uint64_t now = loop_now(), left = uq->end_ns > now ? uq->end_ns - now : 0;

	loop_timer_set(uq->u->loop, &uq->timer, left < UPSTREAM_TRY_NS ? left : UPSTREAM_TRY_NS);
}

/* The next one now, or nobody: then it is over. */
static void go_on(struct upstream_query *uq)
{
	if (loop_now() >= uq->end_ns || !ask_next(uq))
		finish(uq, NULL);
	else
		set_timer(uq);
}

static void on_timer(struct loop_timer *t)
{
	go_on((struct upstream_query *)((char *)t - offsetof(struct upstream_query, timer)));
}

static void fail(struct line *l)
{
	line_close(l);
	l->failed = true;
	go_on(l->query);
}

/* Asked of the same server once more, in another way. */
static void again(struct line *l, enum dns_over over)
{
	if (!line_open(l, over) || (over == DNS_UDP && !send_datagram(l)))
		fail(l);
}

/* The line is closed, or the query gone, where this returns false. */
static bool take(struct line *l, const uint8_t *msg, size_t len)
{
	struct upstream_query *uq = l->query;
	struct dns_answer *a = NULL;
	enum dns_rcode code;

	switch (dns_answer_read(&l->asked, l->over, msg, len, &a)) {
	case DNS_ALIEN:
		if (l->over == DNS_TCP)
			break;
		if (++l->aliens < ALIENS_MAX)
			return true;
		/* Who floods us with guesses cannot guess a stream. */
		again(l, DNS_TCP);
		return false;
	case DNS_TRUNCATED:
		again(l, DNS_TCP);
		return false;
	case DNS_NO_EDNS:
		if (l->edns == DNS_PLAIN)
			break;
		l->edns = DNS_PLAIN;
		again(l, l->over);
		return false;
	case DNS_FITS:
		code = dns_answer_rcode(a);
		if (code == DNS_NOERROR || code == DNS_NXDOMAIN) {
			finish(uq, a);
			return false;
		}
		dns_answer_free(uq->poor);
		uq->poor = a;
		break;
	case DNS_BROKEN:
		break;
	}
	fail(l);
	return false;
}

/* --- sockets -------------------------------------------------------------------------------------------- */

static void read_datagrams(struct line *l)
{
	struct upstream *u = l->query->u;

	for (;;) {
		ssize_t n = recv(l->watch.fd, u->in, sizeof(u->in), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			fail(l);
			return;
		}
		if (!take(l, u->in, (size_t)n))
			return;
	}
}

static void write_stream(struct line *l)
{
	size_t all = l->n_msg + 2;
	ssize_t n = send(l->watch.fd, l->msg + l->sent, all - l->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail(l);
		return;
	}
	l->sent += n > 0 ? (size_t)n : 0;
	if (l->sent == all)
		(void)loop_rewatch(l->query->u->loop, &l->watch, EPOLLIN);
}

/* Of one message its length first, then as much as that says. */
static void read_stream(struct line *l)
{
	size_t want = l->size_in ? l->size_in : 2;
	ssize_t n;

	if (!l->in)
		l->in = malloc(2);
	n = l->in ? recv(l->watch.fd, l->in + l->n_in, want - l->n_in, MSG_DONTWAIT) : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail(l);
		return;
	}
	l->n_in += (size_t)n;
	if (l->n_in < want)
		return;
	if (l->size_in) {
		(void)take(l, l->in, l->n_in);
		return;
	}
	l->size_in = (size_t)l->in[0] << 8 | l->in[1];
	l->n_in = 0;
	free(l->in);
	l->in = l->size_in ? malloc(l->size_in) : NULL;
	if (!l->in)
		fail(l);
}

static void on_ready(struct loop_watch *w, uint32_t events)
{
	struct line *l = (struct line *)((char *)w - offsetof(struct line, watch));

	if (l->over == DNS_UDP)
		read_datagrams(l);
	else if (events & EPOLLIN)
		read_stream(l);
	else if (events & (EPOLLERR | EPOLLHUP))
		fail(l);
	else
		write_stream(l);
}

/* --- begin and end ---------------------------------------------------------------------------------------
 */

struct upstream_query *upstream_ask(struct upstream *u, const struct dns_question *q, upstream_fn fn,
				    void *cookie)
{
	struct upstream_query *uq = calloc(1, sizeof(*uq));

	if (!uq)
		return NULL;
	read_servers(u);
	uq->u = u;
	uq->fn = fn;
	uq->cookie = cookie;
	uq->q = *q;
	uq->end_ns = loop_now() + UPSTREAM_ALL_NS;
	uq->timer.fire = on_timer;
	uq->n = u->n;
	for (size_t i = 0; i < uq->n; i++) {
		uq->servers[i] = u->servers[i];
		uq->lines[i].query = uq;
		uq->lines[i].edns = DNS_EDNS;
		uq->lines[i].watch.fd = -1;
	}
	/* Who can be asked by nobody is told so by the timer. */
	if (ask_next(uq))
		set_timer(uq);
	else
		loop_timer_set(u->loop, &uq->timer, 0);
	return uq;
}

void upstream_cancel(struct upstream_query *uq)
{
	for (size_t i = 0; i < uq->n; i++)
		line_close(&uq->lines[i]);
	loop_timer_clear(uq->u->loop, &uq->timer);
	dns_answer_free(uq->poor);
	free(uq);
}
