/* The listener on loopback: connections that are announced, the messages in them, and the replies. */
#include "door.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#define BACKLOG	    128
#define EXPECTED_NS 10000000000ull /* how long an announcement waits for its connection */

/* One end of a connection on loopback. */
struct peer {
	uint16_t family, port; /* as on the wire */
	uint8_t addr[16];
};

struct expected {
	struct peer peer;
	uint64_t until_ns; /* 0: free */
	_Alignas(16) uint8_t who[];
};

struct stream {
	struct loop_watch watch;
	struct loop_timer timer;
	struct stream *next, **at;
	struct door *door;
	struct peer peer;
	bool known, ended; /* announced; has sent its last byte */
	bool broken;
	unsigned asked; /* questions that are not answered yet */
	size_t n_in;
	uint8_t in[2 + DNS_QUERY_MAX];
	uint8_t *out;
	size_t at_out, n_out, size_out;
	_Alignas(16) uint8_t who[];
};

struct listener {
	struct loop_watch watch;
	struct door *door;
	struct sockaddr_storage addr;
	socklen_t len;
};

struct door {
	struct loop *loop;
	struct forwarder *f;
	size_t who_size;
	struct stream *streams; /* used by the loop's thread only */
	unsigned n_streams;
	pthread_mutex_t lock;
	struct listener listeners[2];
	uint8_t *expected; /* DOOR_EXPECTED_MAX of expected_size bytes */
	size_t expected_size;
	size_t n_expected; /* the next slot to overwrite */
	struct loop_job look;
	bool looking;
};

/* --- announcements -------------------------------------------------------------------------------------- */

static bool peer_of(const struct sockaddr_storage *from, struct peer *ret)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *in = (const struct sockaddr_in *)from;

	memset(ret, 0, sizeof(*ret));
	ret->family = from->ss_family;
	if (from->ss_family == AF_INET) {
		ret->port = in->sin_port;
		memcpy(ret->addr, &in->sin_addr, 4);
	} else if (from->ss_family == AF_INET6) {
		ret->port = in6->sin6_port;
		memcpy(ret->addr, &in6->sin6_addr, 16);
	}
	return from->ss_family == AF_INET || from->ss_family == AF_INET6;
}

static struct expected *expected_at(struct door *d, size_t i)
{
	return (struct expected *)(void *)(d->expected + i * d->expected_size);
}

/* Where the peer was announced: removes the announcement and copies its data to who. */
static bool take_expected(struct door *d, const struct peer *p, void *who)
{
	uint64_t now = clock_awake_ns();
	bool found = false;

	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; i < DOOR_EXPECTED_MAX && !found; i++) {
		struct expected *e = expected_at(d, i);

		if (e->until_ns <= now || memcmp(&e->peer, p, sizeof(*p)) != 0)
			continue;
		memcpy(who, e->who, d->who_size);
		e->until_ns = 0;
		found = true;
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

/* --- streams -------------------------------------------------------------------------------------------- */

static void stream_close(struct stream *st)
{
	struct door *d = st->door;

	forwarder_forget(d->f, st);
	loop_timer_clear(d->loop, &st->timer);
	loop_unwatch(d->loop, &st->watch);
	close(st->watch.fd);
	*st->at = st->next;
	if (st->next)
		st->next->at = st->at;
	d->n_streams--;
	free(st->out);
	free(st);
}

static void on_idle(struct loop_timer *t)
{
	stream_close(CONTAINER_OF(t, struct stream, timer));
}

/* The timer runs only while no answer is due. */
static void wind(struct stream *st)
{
	if (st->asked > 0)
		loop_timer_clear(st->door->loop, &st->timer);
	else
		loop_timer_set(st->door->loop, &st->timer, DOOR_IDLE_NS);
}

static void rewatch(struct stream *st)
{
	uint32_t events = (st->ended ? 0 : EPOLLIN) | (st->n_out > st->at_out ? EPOLLOUT : 0);

	(void)loop_rewatch(st->door->loop, &st->watch, events);
}

/* False where the stream is broken or finished. */
static bool flush(struct stream *st)
{
	while (st->at_out < st->n_out) {
		ssize_t n = send(st->watch.fd, st->out + st->at_out, st->n_out - st->at_out,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0)
			return false;
		st->at_out += (size_t)n;
	}
	if (st->at_out == st->n_out)
		st->at_out = st->n_out = 0;
	return st->n_out > 0 || st->asked > 0 || !st->ended;
}

static bool put_reply(struct stream *st, const uint8_t *msg, size_t len)
{
	size_t need;

	/* Moves the rest to the front: a client that always leaves a few bytes unread must not make the
	 * buffer grow. */
	if (st->at_out > 0)
		memmove(st->out, st->out + st->at_out, st->n_out - st->at_out);
	st->n_out -= st->at_out;
	st->at_out = 0;
	need = st->n_out + 2 + len;
	if (need > DOOR_UNSENT_MAX)
		return false;
	if (need > st->size_out) {
		uint8_t *more = realloc(st->out, need + 4096);

		if (!more)
			return false;
		st->out = more;
		st->size_out = need + 4096;
	}
	st->out[st->n_out++] = (uint8_t)(len >> 8);
	st->out[st->n_out++] = (uint8_t)len;
	memcpy(st->out + st->n_out, msg, len);
	st->n_out += len;
	return true;
}

/* Must not close the stream, since it may be called inside one of its events: after an error the timer
 * closes it. */
static void on_reply(void *cookie, const uint8_t *msg, size_t len)
{
	struct stream *st = cookie;

	st->asked--;
	wind(st);
	st->broken = st->broken || !put_reply(st, msg, len) || !flush(st);
	if (st->broken)
		loop_timer_set(st->door->loop, &st->timer, 0);
	else
		rewatch(st);
}

/* Handles the complete messages.  False where one is no question: then the connection ends. */
static bool take_messages(struct stream *st)
{
	size_t at = 0;

	while (st->n_in - at >= 2) {
		size_t len = (size_t)st->in[at] << 8 | st->in[at + 1];

		if (len > DNS_QUERY_MAX)
			return false;
		if (st->n_in - at - 2 < len)
			break;
		st->asked++;
		if (!forwarder_ask(st->door->f, st->who, FORWARDER_STREAM, st->in + at + 2, len, on_reply,
				   st))
			return false;
		at += 2 + len;
	}
	memmove(st->in, st->in + at, st->n_in - at);
	st->n_in -= at;
	return true;
}

static bool read_some(struct stream *st)
{
	ssize_t n = recv(st->watch.fd, st->in + st->n_in, sizeof(st->in) - st->n_in, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0) {
		st->ended = true;
		return st->asked > 0 || st->n_out > st->at_out;
	}
	st->n_in += (size_t)n;
	return take_messages(st);
}

static void on_stream(struct loop_watch *w, uint32_t events)
{
	struct stream *st = CONTAINER_OF(w, struct stream, watch);
	bool ok = true;

	/* A client that is gone before it was announced. */
	if (!st->known || events & EPOLLERR || (events & EPOLLHUP && st->ended))
		ok = false;
	if (ok && events & (EPOLLIN | EPOLLHUP))
		ok = read_some(st);
	if (ok && events & EPOLLOUT)
		ok = flush(st);
	if (!ok || st->broken) {
		stream_close(st);
		return;
	}
	wind(st);
	rewatch(st);
}

/* --- the door ---------------------------------------------------------------------------------------- */

static void admit(struct stream *st)
{
	st->known = true;
	wind(st);
	rewatch(st);
}

static void stream_new(struct door *d, int fd, const struct peer *peer)
{
	struct stream *st = calloc(1, sizeof(*st) + d->who_size);

	if (!st || d->n_streams >= DOOR_STREAMS_MAX) {
		free(st);
		close(fd);
		return;
	}
	st->watch = (struct loop_watch){ fd, on_stream };
	st->timer.fire = on_idle;
	st->door = d;
	st->peer = *peer;
	if (loop_watch(d->loop, &st->watch, 0) < 0) {
		free(st);
		close(fd);
		return;
	}
	st->next = d->streams;
	st->at = &d->streams;
	if (st->next)
		st->next->at = &st->next;
	d->streams = st;
	d->n_streams++;
	loop_timer_set(d->loop, &st->timer, DOOR_GRACE_NS);
	if (take_expected(d, peer, st->who))
		admit(st);
}

static void on_accept(struct loop_watch *w, uint32_t events)
{
	struct listener *li = CONTAINER_OF(w, struct listener, watch);
	struct sockaddr_storage from = { 0 };
	socklen_t len = sizeof(from);
	struct peer peer;
	int fd = accept4(w->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	if (peer_of(&from, &peer))
		stream_new(li->door, fd, &peer);
	else
		close(fd);
}

/* A client was announced that may have connected before. */
static void on_look(struct loop_job *j)
{
	struct door *d = CONTAINER_OF(j, struct door, look);

	pthread_mutex_lock(&d->lock);
	d->looking = false;
	pthread_mutex_unlock(&d->lock);
	for (struct stream *st = d->streams; st; st = st->next)
		if (!st->known && take_expected(d, &st->peer, st->who))
			admit(st);
}

int door_expect(struct door *d, const struct sockaddr_storage *from, const void *who)
{
	struct expected *e;
	struct peer peer;
	bool look;

	if (!peer_of(from, &peer))
		return -EAFNOSUPPORT;
	pthread_mutex_lock(&d->lock);
	e = expected_at(d, d->n_expected++ % DOOR_EXPECTED_MAX);
	e->peer = peer;
	e->until_ns = clock_awake_ns() + EXPECTED_NS;
	memcpy(e->who, who, d->who_size);
	look = !d->looking;
	d->looking = true;
	pthread_mutex_unlock(&d->lock);
	if (look)
		loop_post(d->loop, &d->look);
	return 0;
}

static int listen_at(struct listener *li, int family)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&li->addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&li->addr;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return -errno;
	memset(&li->addr, 0, sizeof(li->addr));
	li->addr.ss_family = (sa_family_t)family;
	li->len = family == AF_INET ? sizeof(*in) : sizeof(*in6);
	if (family == AF_INET)
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		in6->sin6_addr = in6addr_loopback;
	if (bind(fd, (const struct sockaddr *)&li->addr, li->len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&li->addr, &li->len) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	li->watch = (struct loop_watch){ fd, on_accept };
	return 0;
}

int door_address(struct door *d, int family, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct listener *li = &d->listeners[family == AF_INET6];
	int r = 0;

	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	pthread_mutex_lock(&d->lock);
	if (li->watch.fd < 0) {
		r = listen_at(li, family);
		if (r == 0)
			r = loop_watch(d->loop, &li->watch, EPOLLIN);
		if (r < 0 && li->watch.fd >= 0) {
			close(li->watch.fd);
			li->watch.fd = -1;
		}
	}
	*ret = li->addr;
	*ret_len = li->len;
	pthread_mutex_unlock(&d->lock);
	return r;
}

struct door *door_new(struct loop *l, struct forwarder *f, size_t who_size)
{
	struct door *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->loop = l;
	d->f = f;
	d->who_size = who_size;
	d->look.run = on_look;
	d->expected_size = (sizeof(struct expected) + who_size + 15) & ~(size_t)15;
	d->expected = calloc(DOOR_EXPECTED_MAX, d->expected_size);
	if (!d->expected) {
		free(d);
		return NULL;
	}
	for (size_t i = 0; i < NELEM(d->listeners); i++) {
		d->listeners[i].door = d;
		d->listeners[i].watch.fd = -1;
	}
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void door_free(struct door *d)
{
	struct stream *next;

	if (!d)
		return;
	for (struct stream *st = d->streams; st; st = next) {
		next = st->next;
		close(st->watch.fd);
		free(st->out);
		free(st);
	}
	for (size_t i = 0; i < NELEM(d->listeners); i++)
		if (d->listeners[i].watch.fd >= 0)
			close(d->listeners[i].watch.fd);
	pthread_mutex_destroy(&d->lock);
	free(d->expected);
	free(d);
}
