/* Exchanges with name servers: one query, sent to one server after the other, by UDP and then by TCP. */
#include "upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "nameserver.h"

#define CONF_MAX   8192 /* a longer file was not written by a person or a DHCP client */
#define QUERY_SIZE 288	/* enough for the longest name, header, type and EDNS */
#define ALIENS_MAX 64u	/* messages from a server that answer another query, before TCP is used */

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
	uint8_t in[DNS_MESSAGE_MAX]; /* the buffer for a datagram */
};

/* The exchange with one server about one query. */
struct exchange {
	struct loop_watch watch; /* fd -1: not open */
	struct upstream_query *query;
	enum dns_over over;
	enum dns_edns edns;
	bool failed;
	unsigned aliens;
	struct dns_asked asked;
	size_t n_msg;
	uint8_t msg[2 + QUERY_SIZE]; /* after its length, which only a stream sends */
	/* Only for a stream. */
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
	struct dns_answer *poor; /* SERVFAIL or REFUSED: used where no server has a better answer */
	size_t n, turn;
	struct server servers[UPSTREAM_SERVERS];
	struct exchange exchanges[UPSTREAM_SERVERS];
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

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Where the file is missing, the server on this machine is used. */
static void read_servers(struct upstream *u)
{
	struct nameserver list[UPSTREAM_SERVERS];
	char text[CONF_MAX] UNINITIALIZED;
	struct stat st = { 0 };
	ssize_t n = 0;
	int fd;

	if (u->n > 0 && stat(u->conf, &st) == 0 && is_same_file(&st, &u->read))
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

/* --- an exchange ------------------------------------------------------------------------------------- */

static void exchange_close(struct exchange *x)
{
	if (x->watch.fd < 0)
		return;
	loop_unwatch(x->query->u->loop, &x->watch);
	close(x->watch.fd);
	x->watch.fd = -1;
	free(x->in);
	x->in = NULL;
	x->n_in = x->size_in = x->sent = 0;
}

static bool exchange_build(struct exchange *x)
{
	uint8_t random[DNS_RANDOM];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	x->n_msg = dns_query_build(&x->query->q, x->edns, random, &x->asked, x->msg + 2, QUERY_SIZE);
	x->msg[0] = (uint8_t)(x->n_msg >> 8);
	x->msg[1] = (uint8_t)x->n_msg;
	return x->n_msg > 0;
}

/* Opens a socket to the server.  False where that fails, or the server refuses. */
static bool exchange_open(struct exchange *x, enum dns_over over)
{
	const struct server *s = &x->query->servers[x - x->query->exchanges];
	int type = (over == DNS_TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;

	exchange_close(x);
	x->over = over;
	if (!exchange_build(x))
		return false;
	x->watch = (struct loop_watch){ socket(s->addr.ss_family, type, 0), on_ready };
	if (x->watch.fd < 0)
		return false;
	if ((connect(x->watch.fd, (const struct sockaddr *)&s->addr, s->len) < 0 && errno != EINPROGRESS) ||
	    loop_watch(x->query->u->loop, &x->watch, over == DNS_TCP ? EPOLLOUT : EPOLLIN) < 0) {
		close(x->watch.fd);
		x->watch.fd = -1;
		return false;
	}
	return true;
}

static bool send_datagram(const struct exchange *x)
{
	ssize_t n = send(x->watch.fd, x->msg + 2, x->n_msg, MSG_NOSIGNAL);

	/* A datagram for which there is no room counts as lost: it is sent again. */
	return n >= 0 || errno == EAGAIN || errno == ENOBUFS;
}

/* --- a query's course -------------------------------------------------------------------------------- */

static void finish_query(struct upstream_query *uq, struct dns_answer *a)
{
	upstream_fn fn = uq->fn;
	void *cookie = uq->cookie;

	if (!a)
		a = TAKE_PTR(uq->poor);
	upstream_cancel(uq);
	fn(cookie, a);
	dns_answer_free(a);
}

/* Asks the next server that has not failed.  False where all have failed. */
static bool ask_next(struct upstream_query *uq)
{
	for (size_t i = 0; i < uq->n; i++) {
		struct exchange *x = &uq->exchanges[uq->turn++ % uq->n];

		if (x->failed)
			continue;
		/* A stream loses nothing, so its answer is awaited. */
		if (x->watch.fd >= 0 && x->over == DNS_TCP)
			return true;
		if ((x->watch.fd >= 0 || exchange_open(x, DNS_UDP)) && send_datagram(x))
			return true;
		exchange_close(x);
		x->failed = true;
	}
	return false;
}

static void set_timer(struct upstream_query *uq)
{
	uint64_t now = clock_awake_ns(), left = uq->end_ns > now ? uq->end_ns - now : 0;

	loop_timer_set(uq->u->loop, &uq->timer, left < UPSTREAM_TRY_NS ? left : UPSTREAM_TRY_NS);
}

/* Asks the next server; where that is not possible, the query ends. */
static void go_on(struct upstream_query *uq)
{
	if (clock_awake_ns() >= uq->end_ns || !ask_next(uq))
		finish_query(uq, NULL);
	else
		set_timer(uq);
}

static void on_timer(struct loop_timer *t)
{
	go_on(CONTAINER_OF(t, struct upstream_query, timer));
}

static void fail_exchange(struct exchange *x)
{
	exchange_close(x);
	x->failed = true;
	go_on(x->query);
}

/* Asks the same server again, in another way. */
static void again(struct exchange *x, enum dns_over over)
{
	if (!exchange_open(x, over) || (over == DNS_UDP && !send_datagram(x)))
		fail_exchange(x);
}

/* False where the exchange is closed or the query is freed. */
static bool take_message(struct exchange *x, const uint8_t *msg, size_t len)
{
	struct upstream_query *uq = x->query;
	struct dns_answer *a = NULL;
	enum dns_rcode code;

	switch (dns_answer_read(&x->asked, x->over, msg, len, &a)) {
	case DNS_ALIEN:
		if (x->over == DNS_TCP)
			break;
		if (++x->aliens < ALIENS_MAX)
			return true;
		/* After a flood of guesses: a stream's answer cannot be guessed. */
		again(x, DNS_TCP);
		return false;
	case DNS_TRUNCATED:
		again(x, DNS_TCP);
		return false;
	case DNS_NO_EDNS:
		if (x->edns == DNS_PLAIN)
			break;
		x->edns = DNS_PLAIN;
		again(x, x->over);
		return false;
	case DNS_FITS:
		code = dns_answer_rcode(a);
		if (code == DNS_NOERROR || code == DNS_NXDOMAIN) {
			finish_query(uq, a);
			return false;
		}
		dns_answer_free(uq->poor);
		uq->poor = a;
		break;
	case DNS_BROKEN:
		break;
	}
	fail_exchange(x);
	return false;
}

/* --- sockets -------------------------------------------------------------------------------------------- */

static void read_datagrams(struct exchange *x)
{
	struct upstream *u = x->query->u;

	for (;;) {
		ssize_t n = recv(x->watch.fd, u->in, sizeof(u->in), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			fail_exchange(x);
			return;
		}
		if (!take_message(x, u->in, (size_t)n))
			return;
	}
}

static void write_stream(struct exchange *x)
{
	size_t all = x->n_msg + 2;
	ssize_t n = send(x->watch.fd, x->msg + x->sent, all - x->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail_exchange(x);
		return;
	}
	x->sent += n > 0 ? (size_t)n : 0;
	if (x->sent == all)
		(void)loop_rewatch(x->query->u->loop, &x->watch, EPOLLIN);
}

/* Reads the length of a message, then the message. */
static void read_stream(struct exchange *x)
{
	size_t want = x->size_in ? x->size_in : 2;
	ssize_t n;

	if (!x->in)
		x->in = malloc(2);
	n = x->in ? recv(x->watch.fd, x->in + x->n_in, want - x->n_in, MSG_DONTWAIT) : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail_exchange(x);
		return;
	}
	x->n_in += (size_t)n;
	if (x->n_in < want)
		return;
	if (x->size_in) {
		(void)take_message(x, x->in, x->n_in);
		return;
	}
	x->size_in = (size_t)x->in[0] << 8 | x->in[1];
	x->n_in = 0;
	free(x->in);
	x->in = x->size_in ? malloc(x->size_in) : NULL;
	if (!x->in)
		fail_exchange(x);
}

static void on_ready(struct loop_watch *w, uint32_t events)
{
	struct exchange *x = CONTAINER_OF(w, struct exchange, watch);

	if (x->over == DNS_UDP)
		read_datagrams(x);
	else if (events & EPOLLIN)
		read_stream(x);
	else if (events & (EPOLLERR | EPOLLHUP))
		fail_exchange(x);
	else
		write_stream(x);
}

/* --- begin and end ----------------------------------------------------------------------------------- */

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
	uq->end_ns = clock_awake_ns() + UPSTREAM_ALL_NS;
	uq->timer.fire = on_timer;
	uq->n = u->n;
	for (size_t i = 0; i < uq->n; i++) {
		uq->servers[i] = u->servers[i];
		uq->exchanges[i].query = uq;
		uq->exchanges[i].edns = DNS_EDNS;
		uq->exchanges[i].watch.fd = -1;
	}
	/* Where no server can be asked, the timer reports it, so that fn is not called in here. */
	if (ask_next(uq))
		set_timer(uq);
	else
		loop_timer_set(u->loop, &uq->timer, 0);
	return uq;
}

void upstream_cancel(struct upstream_query *uq)
{
	for (size_t i = 0; i < uq->n; i++)
		exchange_close(&uq->exchanges[i]);
	loop_timer_clear(uq->u->loop, &uq->timer);
	dns_answer_free(uq->poor);
	free(uq);
}
