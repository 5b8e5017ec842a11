/*
 * Messages that are received with the name of who sent them, which the line's own socket does not know.
 *
 * Whoever does not want to know is served by the kernel.  Whoever waits is served anew when there is
 * something (waiting.c), as often as another takes it away before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/lobby/lobby.h"
#include "tools/supervisor/threads/workers.h"

#include "line.h"

/* What was received. */
struct receipt {
	uint8_t *data;
	size_t held, len; /* what of it is held, how long it was */
	struct line_addr from;
};

/* There will be something later, and the call is to wait for it: none of these calls says so itself. */
#define LATER (-EALREADY)

/* The call's answer, once its message was taken or was not. */
static struct answer conclude(struct caller *c, int fd, long r)
{
	struct waiting *w = r == LATER ? waiting_for_data(c, fd) : NULL;

	if (r != LATER)
		return answer_result(r);
	return w ? answer_later(w) : answer_result(-EAGAIN);
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
	if ((r = line_take_error(l, fd)) > 0)
		return -r;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	ret->data = caller_scratch(c, LINE_BUFFER);
	if (!ret->data)
		return -ENOMEM;
	r = take_now(l, fd, flags, ret);
	if (r == -EAGAIN && !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK))
		return LATER;
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
		return conclude(c, fd, r);
	n = in.held < c->arg[2] ? in.held : (size_t)c->arg[2];
	r = line_write(c, c->arg[1], in.data, n);
	if (r == 0 && c->arg[4] != 0)
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

	if (m->name == 0)
		return 0;
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
	return conclude(c, fd, receive(c, l, fd, (int)c->arg[2], c->arg[1], &m));
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
		if (r == 0)
			r = receive(c, l, fd, done ? flags | MSG_DONTWAIT : flags, at, &m);
		if (r < 0)
			break;
		len = (unsigned)r;
		r = line_write(c, at + sizeof(m), &len, sizeof(len));
		if (r < 0)
			break;
	}
	return conclude(c, fd, done > 0 ? (long)done : r);
}

struct answer carry_recvmmsg(struct caller *c)
{
	return line_serve(c, recvmmsg_line);
}
