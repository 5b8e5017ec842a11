/*
 * Messages that are received with the name of who sent them, which the line's own socket does not know.
 *
 * Whoever does not want to know is served by the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "tools/supervisor/line.h"
#include "tools/supervisor/notify.h"
#include "tools/tools.h"

#define SLICE_MS 50 /* how late a signal may come through */

/* What was received. */
struct receipt {
	uint8_t *data;
	size_t held, len; /* what of it is held, how long it was */
	struct line_addr from;
};

/* --- waiting ------------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	return (int64_t)(loop_now() / 1000000);
}

/* When the socket's SO_RCVTIMEO is over; INT64_MAX: never. */
static int64_t deadline_of(int fd)
{
	struct timeval t;
	socklen_t len = sizeof(t);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, &len) < 0 || (t.tv_sec == 0 && t.tv_usec == 0))
		return INT64_MAX;
	return now_ms() + (int64_t)t.tv_sec * 1000 + (t.tv_usec + 999) / 1000;
}

static int wait_on(struct caller *c, int fd, int64_t end)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t left = end == INT64_MAX ? SLICE_MS : end - now_ms();

		if (left <= 0)
			return -EAGAIN;
		if (poll(&p, 1, left < SLICE_MS ? (int)left : SLICE_MS) > 0)
			return 0;
		if (!caller_alive(c))
			return -EINTR;
		if (task_has_signal(c->tid))
			return end == INT64_MAX ? -ERESTARTSYS : -EINTR;
		if (fcntl(fd, F_GETFL) & O_NONBLOCK)
			return -EAGAIN;
	}
}

/*
 * Waits as the caller would have: until something is there (0), a signal, its death, or the socket's own
 * time limit.  Most poll before they receive; so many as do not may wait here.
 */
static int wait_readable(struct caller *c, struct line *l, int fd, int flags)
{
	struct lines *all = l->all;
	int r = -EAGAIN;

	if (flags & MSG_DONTWAIT || fcntl(fd, F_GETFL) & O_NONBLOCK)
		return -EAGAIN;
	if (atomic_fetch_add(&all->waiting, 1) < LINE_WAITERS && caller_may_block(c))
		r = wait_on(c, fd, deadline_of(fd));
	atomic_fetch_sub(&all->waiting, 1);
	return r;
}

/* --- taking -------------------------------------------------------------------------------------- */

/* What is there at once.  The lock keeps the loop from adding to it in between. */
static int take_now(struct line *l, int fd, int flags, struct receipt *ret)
{
	const int passed = flags & MSG_PEEK;
	int unread = 0, r = 0;
	ssize_t n;

	pthread_mutex_lock(&l->all->lock);
	if (ioctl(fd, SIOCINQ, &unread) < 0)
		unread = 0;
	n = recv(fd, ret->data, LINE_BUFFER, passed | MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		r = -errno;
	else if (!line_source(l, (size_t)unread, (size_t)n, &ret->from))
		ret->from = l->peer;
	pthread_mutex_unlock(&l->all->lock);
	if (r < 0)
		return r;
	ret->len = (size_t)n;
	ret->held = ret->len < LINE_BUFFER ? ret->len : LINE_BUFFER;
	return 0;
}

static int take(struct caller *c, struct line *l, int fd, int flags, struct receipt *ret)
{
	int r;

	/* No errors are queued, no byte is urgent. */
	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	ret->data = caller_scratch(c, LINE_BUFFER);
	if (!ret->data)
		return -ENOMEM;
	while ((r = take_now(l, fd, flags, ret)) == -EAGAIN) {
		r = wait_readable(c, l, fd, flags);
		if (r < 0)
			break;
	}
	/* A unix socket's peer is no sender's name. */
	if (r == 0 && l->domain == AF_UNIX && ret->from.len == 1)
		ret->from.len = 0;
	return r;
}

/* --- recvfrom ------------------------------------------------------------------------------------ */

static struct answer recvfrom_line(struct caller *c, struct line *l, int fd)
{
	struct receipt in = { 0 };
	int flags = (int)c->arg[3], r = take(c, l, fd, flags, &in);
	size_t n;

	if (r < 0)
		return answer_result(r);
	n = in.held < c->arg[2] ? in.held : (size_t)c->arg[2];
	r = line_write(c, c->arg[1], in.data, n);
	if (r == 0)
		r = line_put_addr(c, c->arg[4], c->arg[5], &in.from);
	if (r < 0)
		return answer_result(r);
	return answer_result((long)(flags & MSG_TRUNC ? in.len : n));
}

struct answer carry_recvfrom(struct caller *c)
{
	return line_serve(c, recvfrom_line);
}

/* --- recvmsg ------------------------------------------------------------------------------------- */

/* Where in the caller's memory the parts of a message header lie that are told back. */
#define AT_NAMELEN    offsetof(struct line_message, namelen)
#define AT_CONTROLLEN offsetof(struct line_message, controllen)
#define AT_FLAGS      offsetof(struct line_message, flags)

static int put_name(struct caller *c, uint64_t at, const struct line_message *m, const struct line_addr *from)
{
	uint32_t room = m->namelen, len = from->len;
	int r;

	if ((int)room < 0)
		return -EINVAL;
	r = line_write(c, m->name, &from->at, room < len ? room : len);
	return r < 0 ? r : line_write(c, at + AT_NAMELEN, &len, sizeof(len));
}

/* The length that recvmsg(2) says, or -errno. */
static long receive(struct caller *c, struct line *l, int fd, int flags, uint64_t at,
		    const struct line_message *m)
{
	const uint64_t none = 0;
	struct receipt in = { 0 };
	uint32_t told;
	ssize_t n;
	int r = take(c, l, fd, flags, &in);

	if (r < 0)
		return r;
	n = line_scatter(c, m, in.data, in.held);
	if (n < 0)
		return n;
	r = put_name(c, at, m, &in.from);
	told = (size_t)n < in.len ? MSG_TRUNC : 0;
	if (r == 0)
		r = line_write(c, at + AT_CONTROLLEN, &none, sizeof(none));
	if (r == 0)
		r = line_write(c, at + AT_FLAGS, &told, sizeof(told));
	if (r < 0)
		return r;
	return flags & MSG_TRUNC ? (long)in.len : n;
}

static struct answer recvmsg_line(struct caller *c, struct line *l, int fd)
{
	struct line_message m;
	int r = caller_read(c, c->arg[1], &m, sizeof(m));

	if (r < 0)
		return answer_result(r);
	if (m.name == 0)
		return answer_continue();
	return answer_result(receive(c, l, fd, (int)c->arg[2], c->arg[1], &m));
}

struct answer carry_recvmsg(struct caller *c)
{
	return line_serve(c, recvmsg_line);
}

/*
 * The first is waited for, the others are what is there: fewer than the caller has room for is what it must
 * expect of MSG_WAITFORONE, and of a signal without it.
 */
static struct answer recvmmsg_line(struct caller *c, struct line *l, int fd)
{
	unsigned n = (unsigned)c->arg[2] < LINE_VECTOR_MAX ? (unsigned)c->arg[2] : LINE_VECTOR_MAX, done = 0;
	int flags = (int)c->arg[3] & ~MSG_WAITFORONE;
	long r = 0;

	for (; done < n; done++) {
		uint64_t at = c->arg[1] + (uint64_t)done * LINE_MESSAGE_VECTOR;
		struct line_message m;
		unsigned len;

		c->worker->scratch_used = 0;
		r = caller_read(c, at, &m, sizeof(m));
		if (r == 0 && done == 0 && m.name == 0)
			return answer_continue();
		if (r == 0)
			r = receive(c, l, fd, done ? flags | MSG_DONTWAIT : flags, at, &m);
		if (r < 0)
			break;
		len = (unsigned)r;
		r = line_write(c, at + sizeof(m), &len, sizeof(len));
		if (r < 0)
			break;
	}
	return answer_result(done > 0 ? (long)done : r);
}

struct answer carry_recvmmsg(struct caller *c)
{
	return line_serve(c, recvmmsg_line);
}
