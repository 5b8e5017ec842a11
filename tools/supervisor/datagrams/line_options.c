/*
 * Options that a datagram socket has and a line's descriptor has not.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"

#include "line.h"

/* What a socket of that domain says it is. */
static int kind_of(int domain, int option)
{
	switch (option) {
	case SO_TYPE:
		return SOCK_DGRAM;
	case SO_PROTOCOL:
		return domain == AF_UNIX ? 0 : IPPROTO_UDP;
	case SO_DOMAIN:
	default:
		return domain;
	}
}

/* An option's value as getsockopt(2) gives it. */
static struct answer give(struct caller *c, const void *value, int len)
{
	int room, r = caller_read(c, c->arg[4], &room, sizeof(room));

	if (r == 0 && room < 0)
		r = -EINVAL;
	if (r < 0)
		return answer_result(r);
	if (room < len)
		len = room;
	r = line_write(c, c->arg[3], value, (size_t)len);
	return answer_result(r < 0 ? r : line_write(c, c->arg[4], &len, sizeof(len)));
}

static struct answer give_int(struct caller *c, int value)
{
	return give(c, &value, sizeof(value));
}

/* What the real socket says: its own, or that it knows no such option. */
static struct answer ask_real(struct caller *c, struct line *l)
{
	uint8_t value[64];
	socklen_t len = sizeof(value);
	int r;

	pthread_mutex_lock(&l->all->lock);
	r = line_real(l, REACH_HERE);
	if (r >= 0 && getsockopt(r, (int)c->arg[1], (int)c->arg[2], value, &len) < 0)
		r = -errno;
	pthread_mutex_unlock(&l->all->lock);
	return r < 0 ? answer_result(r) : give(c, value, (int)len);
}

static struct answer get_option(struct caller *c, struct line *l, int fd)
{
	int level = (int)c->arg[1], option = (int)c->arg[2];

	if (level == SOL_SOCKET && option == SO_ERROR)
		return give_int(c, line_take_error(l, fd));
	if (level == SOL_SOCKET && option != SO_REUSEPORT)
		return give_int(c, kind_of(l->domain, option));
	if (l->domain == AF_UNIX)
		return level == SOL_SOCKET ? answer_continue() : answer_result(-EOPNOTSUPP);
	if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY && l->domain == AF_INET6)
		return give_int(c, l->v6only);
	return ask_real(c, l);
}

/* Which of a pair's options are not those of the socket that stands in for it. */
static bool is_kind(int option)
{
	return option == SO_TYPE || option == SO_PROTOCOL || option == SO_DOMAIN;
}

struct answer carry_getsockopt(struct caller *c)
{
	struct answer a = line_serve(c, get_option);
	int fd;

	if (a.kind != ANSWER_CONTINUE || (int)c->arg[1] != SOL_SOCKET || !is_kind((int)c->arg[2]) ||
	    !lines_any(c->sup))
		return a;
	fd = caller_fd(c, (int)c->arg[0]);
	if (fd < 0)
		return a;
	if (line_is_pair(c->sup, fd))
		a = give_int(c, kind_of(AF_UNIX, (int)c->arg[2]));
	close(fd);
	return a;
}

/* Who joins a group hears what nobody judges. */
static bool is_joining(int level, int option)
{
	static const struct {
		int level, option;
	} joins[] = {
		{ IPPROTO_IP, IP_ADD_MEMBERSHIP },  { IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP },
		{ IPPROTO_IP, MCAST_JOIN_GROUP },   { IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP },
		{ IPPROTO_IPV6, IPV6_JOIN_GROUP },  { IPPROTO_IPV6, IPV6_JOIN_ANYCAST },
		{ IPPROTO_IPV6, MCAST_JOIN_GROUP }, { IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP },
	};

	for (size_t i = 0; i < NELEM(joins); i++)
		if (joins[i].level == level && joins[i].option == option)
			return true;
	return false;
}

/*
 * The options that are set on the real sockets, because they change what is sent.  All others, which add to a
 * message or report errors, would have no effect: setting one gives ENOPROTOOPT, unless it keeps its value.
 * IP_RECVERR is kept as well, because glibc's resolver gives up without it.
 */
static const struct {
	int level, option;
} kept[] = {
	{ SOL_SOCKET, SO_REUSEPORT },
	{ IPPROTO_IP, IP_TTL },
	{ IPPROTO_IP, IP_TOS },
	{ IPPROTO_IP, IP_MTU_DISCOVER },
	{ IPPROTO_IP, IP_RECVERR },
	{ IPPROTO_IP, IP_MULTICAST_TTL },
	{ IPPROTO_IP, IP_MULTICAST_LOOP },
	{ IPPROTO_IPV6, IPV6_UNICAST_HOPS },
	{ IPPROTO_IPV6, IPV6_TCLASS },
	{ IPPROTO_IPV6, IPV6_MTU_DISCOVER },
	{ IPPROTO_IPV6, IPV6_DONTFRAG },
	{ IPPROTO_IPV6, IPV6_RECVERR },
	{ IPPROTO_IPV6, IPV6_MULTICAST_HOPS },
	{ IPPROTO_IPV6, IPV6_MULTICAST_LOOP },
};
_Static_assert(NELEM(kept) <= LINE_OPTIONS, "struct line has no room for them");

void line_set_options(const struct line *l, int fd)
{
	for (size_t i = 0; i < NELEM(kept); i++)
		if (l->options_set >> i & 1)
			(void)setsockopt(fd, kept[i].level, kept[i].option, &l->option[i], sizeof(int));
}

/* Sets it on the real sockets that there are, and on those to come.  Under the lock. */
static int keep_option(struct line *l, size_t i, int value)
{
	int fd = line_real(l, REACH_HERE);

	if (fd < 0)
		return fd;
	if (setsockopt(fd, kept[i].level, kept[i].option, &value, sizeof(value)) < 0)
		return -errno;
	l->option[i] = value;
	l->options_set |= 1u << i;
	if (l->real[REACH_FAR].watch.fd >= 0)
		line_set_options(l, l->real[REACH_FAR].watch.fd);
	return 0;
}

/* Under the lock. */
static int set_real(struct line *l, int level, int option, int value)
{
	int now = 0, fd = line_real(l, REACH_HERE);
	socklen_t len = sizeof(now);

	for (size_t i = 0; i < NELEM(kept); i++)
		if (kept[i].level == level && kept[i].option == option)
			return keep_option(l, i, value);
	if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY && l->domain == AF_INET6) {
		l->v6only = value != 0;
		return 0;
	}
	return fd >= 0 && getsockopt(fd, level, option, &now, &len) == 0 && now == value ? 0 : -ENOPROTOOPT;
}

static struct answer set_option(struct caller *c, struct line *l, int fd)
{
	struct request req = { .op = OP_BIND, .access = op_access(OP_BIND), .is_datagram = true };
	int level = (int)c->arg[1], option = (int)c->arg[2], value = 0, len = (int)c->arg[4], r;

	(void)fd;
	/* What would come along with a message: its credentials would be the supervisor's, its time the
	 * loop's. */
	if (level == SOL_SOCKET && option != SO_REUSEPORT)
		return answer_result(option == SO_PASSCRED ? -EOPNOTSUPP : -ENOPROTOOPT);
	if (l->domain == AF_UNIX)
		return level == SOL_SOCKET ? answer_continue() : answer_result(-EOPNOTSUPP);
	if (is_joining(level, option)) {
		verdict_refuse_once(c, &req, "multicast group", REASON_SOCKET);
		return answer_result(-EACCES);
	}
	if (len <= 0)
		return answer_result(-EINVAL);
	r = caller_read(c, c->arg[3], &value, len < (int)sizeof(value) ? (size_t)len : sizeof(value));
	if (r < 0)
		return answer_result(r);
	if (level == SOL_SOCKET)
		atomic_store(&c->sup->ports.shares, true);
	pthread_mutex_lock(&l->all->lock);
	r = set_real(l, level, option, value);
	pthread_mutex_unlock(&l->all->lock);
	return answer_result(r);
}

struct answer carry_setsockopt(struct caller *c)
{
	struct answer a = line_serve(c, set_option);

	/* Before it is set. */
	if (a.kind == ANSWER_CONTINUE && (int)c->arg[1] == SOL_SOCKET && (int)c->arg[2] == SO_REUSEPORT)
		atomic_store(&c->sup->ports.shares, true);
	return a;
}

/* How long the next message is: of what stands in for a datagram socket the kernel counts all that wait. */
struct answer carry_unread(struct caller *c)
{
	int fd, n;
	struct line *l;
	char none;

	if (!lines_any(c->sup) || (fd = caller_fd(c, (int)c->arg[0])) < 0)
		return answer_continue();
	l = line_get(c->sup, fd);
	n = l || line_is_pair(c->sup, fd) ? (int)recv(fd, &none, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) : -2;
	if (l)
		line_put(l);
	close(fd);
	if (n == -2)
		return answer_continue();
	n = n < 0 ? 0 : n;
	return answer_result(line_write(c, c->arg[2], &n, sizeof(n)));
}
