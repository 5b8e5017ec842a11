/*
 * Messages: judged by their name, or by the connected peer's, and sent by the real socket.
 *
 * What write(2), and send(2) of a program without hooks, put into the line itself the loop takes
 * (line_relay.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/threads/workers.h"

#include "line.h"

#define SLICE_NS     2000000 /* between two tries to find room at a unix socket's reader */
#define UNIX_LONGEST (200u << 10)

/* The data and where it shall go. */
struct parcel {
	struct endpoint to; /* len 0: the connected peer; fd: a duplicate of the real socket where unix */
	const uint8_t *data;
	size_t len;
	int flags; /* of the call */
};

/* --- inet ---------------------------------------------------------------------------------------- */

/* What the kernel says of an address before anything is sent (udp_sendmsg, udpv6_sendmsg). */
static int check_addr(const struct line *l, const struct endpoint *to)
{
	sa_family_t family = to->addr.sa.sa_family;
	bool v4 = family == AF_INET || (family == AF_UNSPEC && l->domain == AF_INET);

	if (to->len < (v4 ? sizeof(struct sockaddr_in) : sizeof(to->addr.sa.sa_family)))
		return -EINVAL;
	if (!v4 && (l->domain == AF_INET || family != AF_INET6))
		return l->domain == AF_INET ? -EAFNOSUPPORT : -EINVAL;
	if (v4 && l->domain == AF_INET6 && l->v6only)
		return -ENETUNREACH;
	if (!v4 && to->len < 24)
		return -EINVAL;
	return ((const struct sockaddr_in *)&to->addr)->sin_port == 0 ? -EINVAL : 0;
}

/* The address in the family of the line: a v4 one is a mapped one to a socket of IPv6. */
static struct line_addr dest_of(const struct line *l, const struct endpoint *to)
{
	struct line_addr d = { .len = sizeof(d.at.in) };

	memcpy(&d.at, &to->addr, sizeof(d.at.in6));
	if (d.at.sa.sa_family == AF_UNSPEC)
		d.at.sa.sa_family = AF_INET;
	if (d.at.sa.sa_family == AF_INET6) {
		d.len = sizeof(d.at.in6);
	} else if (l->domain == AF_INET6) {
		struct sockaddr_in in = d.at.in;

		d.len = sizeof(d.at.in6);
		d.at.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = in.sin_port };
		d.at.in6.sin6_addr.s6_addr[10] = d.at.in6.sin6_addr.s6_addr[11] = 0xff;
		memcpy(&d.at.in6.sin6_addr.s6_addr[12], &in.sin_addr, 4);
	}
	inet_name_machine(&d.at, d.len);
	return d;
}

static struct line_addr peer_of(struct line *l)
{
	struct line_addr peer;

	pthread_mutex_lock(&l->all->lock);
	peer = l->peer;
	pthread_mutex_unlock(&l->all->lock);
	return peer;
}

static long send_inet(struct caller *c, struct line *l, int fd, const struct parcel *p)
{
	const struct image *policy = session_image(c->sup);
	struct line_addr dest;
	enum line_leave leave;
	uint64_t cookie = 0;
	int r = p->to.len ? check_addr(l, &p->to) : 0;

	if (r < 0)
		return r;
	dest = p->to.len ? dest_of(l, &p->to) : peer_of(l);
	if (dest.len == 0)
		return -EDESTADDRREQ;
	if (line_is_dns(&dest)) {
		struct asker who = asker_of(c);

		line_ask_forwarder(l, &who, p->data, p->len, &dest);
		return (long)p->len;
	}
	pthread_mutex_lock(&l->all->lock);
	leave = line_may_send(l, &dest) ? LEAVE_KNOWN : LEAVE_NONE;
	pthread_mutex_unlock(&l->all->lock);
	/* Who has connected does not wait for a human: the loop asks, and keeps it meanwhile. */
	if (leave == LEAVE_NONE && p->to.len == 0 && line_is_question(c, &dest))
		return send(fd, p->data, p->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : (long)p->len;
	if (leave == LEAVE_NONE)
		leave = line_judge(c, &dest, &cookie);
	if (leave == LEAVE_NONE)
		return -EACCES;
	if (leave == LEAVE_LOST && p->to.len == 0)
		line_refused(l);
	if (leave == LEAVE_LOST)
		return (long)p->len;
	if (!caller_alive(c))
		return -ESRCH;
	pthread_mutex_lock(&l->all->lock);
	if (leave == LEAVE_GIVEN)
		line_learn(l, &dest, cookie, policy);
	r = line_send_inet(l, p->data, p->len, &dest);
	pthread_mutex_unlock(&l->all->lock);
	return r < 0 ? r : (long)p->len;
}

/* --- unix ---------------------------------------------------------------------------------------- */

/* Called back with the held place of the address that was judged; without one to the connected peer. */
static int send_there(struct caller *c, const struct endpoint *e, const struct sockaddr *sa, socklen_t len)
{
	const struct parcel *p = CONTAINER_OF(e, struct parcel, to);
	const struct timespec nap = { .tv_nsec = SLICE_NS };
	_cleanup_close_ int caller_end = caller_fd(c, (int)c->arg[0]);
	bool waits =
		!(p->flags & MSG_DONTWAIT) && caller_end >= 0 && !(fcntl(caller_end, F_GETFL) & O_NONBLOCK);

	for (;;) {
		if (!caller_alive(c))
			return -ESRCH;
		if (sendto(e->fd, p->data, p->len, MSG_DONTWAIT | MSG_NOSIGNAL, sa, len) >= 0)
			return (int)p->len;
		if (errno != EAGAIN || !waits)
			return -errno;
		if (!caller_may_block(c))
			return -EAGAIN;
		if (task_has_signal(c->tid, SIGNALS_ALL))
			return -ERESTARTSYS;
		nanosleep(&nap, NULL);
	}
}

static long send_unix(struct caller *c, struct line *l, struct parcel *p)
{
	struct answer a;
	int fd;

	pthread_mutex_lock(&l->all->lock);
	fd = line_real(l, REACH_HERE);
	p->to.fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&l->all->lock);
	if (p->to.fd < 0)
		return fd < 0 ? fd : -EMFILE;
	p->to.domain = AF_UNIX;
	p->to.reach = send_there;
	a = p->to.len ? connect_unix(c, &p->to) : answer_result(send_there(c, &p->to, NULL, 0));
	endpoint_done(&p->to);
	return a.kind == ANSWER_VALUE ? a.value : -(long)a.error;
}

/* --- any ----------------------------------------------------------------------------------------- */

/* What the kernel refuses before it looks at the address, or what cannot be had here. */
static int check_flags(const struct line *l, int flags)
{
	if (line_is_at_end(l))
		return -EPIPE;
	return flags & MSG_OOB || (flags & MSG_MORE && l->domain != AF_UNIX) ? -EOPNOTSUPP : 0;
}

static long send_parcel(struct caller *c, struct line *l, int fd, struct parcel *p)
{
	int r = check_flags(l, p->flags);

	if (r < 0 || (r = -line_take_error(l, fd)) < 0)
		return r;
	if (p->to.len == 0)
		line_let_out(l);
	return l->domain == AF_UNIX ? send_unix(c, l, p) : send_inet(c, l, fd, p);
}

static size_t longest(const struct line *l)
{
	return l->domain == AF_UNIX ? UNIX_LONGEST : LINE_LONGEST;
}

/*
 * What comes along with a message: no line carries descriptors, as where SO_PASSRIGHTS is off, and
 * credentials would be the supervisor's.
 */
static long send_message(struct caller *c, struct line *l, int fd, const struct line_message *m, int flags)
{
	struct parcel p = { .to.fd = -1, .to.len = m->namelen, .flags = flags };
	uint8_t *data;
	ssize_t n;
	int r;

	if (m->controllen > 0)
		return l->domain == AF_UNIX ? -EPERM : -EINVAL;
	if (!m->name)
		p.to.len = 0;
	if ((int)p.to.len < 0)
		return -EINVAL;
	/* The kernel cuts it (copy_msghdr_from_user). */
	if (p.to.len > sizeof(p.to.addr))
		p.to.len = sizeof(p.to.addr);
	r = caller_read(c, m->name, &p.to.addr, p.to.len);
	if (r < 0)
		return r;
	n = line_gather(c, m, longest(l), &data);
	if (n < 0)
		return n;
	p.data = data;
	p.len = (size_t)n;
	return send_parcel(c, l, fd, &p);
}

/* sendto(2) as a message of one part; the vector lies in our memory and not the caller's. */
struct answer line_sendto(struct caller *c, struct line *l, int fd)
{
	struct parcel p = { .to.fd = -1, .flags = (int)c->arg[3] };
	uint8_t *data;
	int r;

	if (c->arg[4] != 0)
		p.to.len = (socklen_t)c->arg[5];
	if ((int)p.to.len < 0 || p.to.len > sizeof(p.to.addr))
		return answer_result(-EINVAL);
	if (c->arg[2] > longest(l))
		return answer_result(-EMSGSIZE);
	data = caller_scratch(c, c->arg[2] + 1);
	if (!data)
		return answer_result(-ENOMEM);
	r = caller_read(c, c->arg[4], &p.to.addr, p.to.len);
	if (r == 0)
		r = caller_read(c, c->arg[1], data, c->arg[2]);
	if (r < 0)
		return answer_result(r);
	p.data = data;
	p.len = c->arg[2];
	return answer_result(send_parcel(c, l, fd, &p));
}

static struct answer sendmsg_line(struct caller *c, struct line *l, int fd)
{
	struct line_message m;
	int r = caller_read(c, c->arg[1], &m, sizeof(m));

	return answer_result(r < 0 ? r : send_message(c, l, fd, &m, (int)c->arg[2]));
}

struct answer carry_sendmsg(struct caller *c)
{
	return line_serve(c, sendmsg_line);
}

/* Messages before one that fails are sent and counted. */
static long send_all(struct caller *c, struct line *l, int fd, const uint8_t *vec, unsigned n)
{
	struct line_message m;
	unsigned done = 0;
	long r = 0;

	for (; done < n; done++) {
		uint64_t at = c->arg[1] + (uint64_t)done * LINE_MESSAGE_VECTOR + sizeof(m);
		unsigned sent;

		memcpy(&m, vec + (size_t)done * LINE_MESSAGE_VECTOR, sizeof(m));
		r = send_message(c, l, fd, &m, (int)c->arg[3]);
		if (r < 0)
			break;
		sent = (unsigned)r;
		r = line_write(c, at, &sent, sizeof(sent));
		if (r < 0)
			break;
	}
	return done > 0 ? (long)done : r;
}

static struct answer sendmmsg_line(struct caller *c, struct line *l, int fd)
{
	unsigned n = (unsigned)c->arg[2];
	uint8_t *vec;
	int r;

	if (n > LINE_VECTOR_MAX)
		n = LINE_VECTOR_MAX;
	vec = caller_scratch(c, (size_t)n * LINE_MESSAGE_VECTOR + 1);
	if (!vec)
		return answer_result(-ENOMEM);
	r = caller_read(c, c->arg[1], vec, (size_t)n * LINE_MESSAGE_VECTOR);
	if (r < 0)
		return answer_result(r);
	return answer_result(send_all(c, l, fd, vec, n));
}

struct answer carry_sendmmsg(struct caller *c)
{
	return line_serve(c, sendmmsg_line);
}
