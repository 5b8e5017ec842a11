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
static struct answer give_int(struct caller *c, int value)
{
	int room, r = caller_read(c, c->arg[4], &room, sizeof(room)), len = sizeof(value);

	if (r == 0 && room < 0)
		r = -EINVAL;
	if (r < 0)
		return answer_result(r);
	if (room < len)
		len = room;
	r = line_write(c, c->arg[3], &value, (size_t)len);
	return answer_result(r < 0 ? r : line_write(c, c->arg[4], &len, sizeof(len)));
}

/* Every option of inet that can be set here is said to be off. */
static struct answer get_option(struct caller *c, struct line *l, int fd)
{
	int level = (int)c->arg[1], option = (int)c->arg[2];

	(void)fd;
	if (level == SOL_SOCKET)
		return give_int(c, kind_of(l->domain, option));
	if (l->domain == AF_UNIX || (level == IPPROTO_IPV6 && l->domain == AF_INET))
		return answer_result(-EOPNOTSUPP);
	return give_int(c, level == IPPROTO_IPV6 && option == IPV6_V6ONLY && l->v6only);
}

struct answer carry_getsockopt(struct caller *c)
{
	struct answer a = line_serve(c, get_option);
	int fd;

	if (a.kind != ANSWER_CONTINUE || (int)c->arg[1] != SOL_SOCKET || !lines_any(c->sup))
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
 * Taken and without effect, but for IPV6_V6ONLY: what hangs on them is how packets look on the way, what
 * errors are told (IP_RECVERR, without which glibc's resolver gives up) and what comes along with a message.
 */
static struct answer set_option(struct caller *c, struct line *l, int fd)
{
	struct request req = { .op = OP_BIND, .access = op_access(OP_BIND), .is_datagram = true };
	int level = (int)c->arg[1], option = (int)c->arg[2], value = 0, r = 0;

	(void)fd;
	if (level == SOL_SOCKET)
		return answer_result(0);
	if (l->domain == AF_UNIX || (level == IPPROTO_IPV6 && l->domain == AF_INET))
		return answer_result(-EOPNOTSUPP);
	if (is_joining(level, option)) {
		verdict_refuse_once(c, &req, "multicast group", REASON_SOCKET);
		return answer_result(-EACCES);
	}
	if ((int)c->arg[4] >= (int)sizeof(value))
		r = caller_read(c, c->arg[3], &value, sizeof(value));
	if (r == 0 && level == IPPROTO_IPV6 && option == IPV6_V6ONLY) {
		pthread_mutex_lock(&l->all->lock);
		l->v6only = value != 0;
		pthread_mutex_unlock(&l->all->lock);
	}
	return answer_result(r);
}

struct answer carry_setsockopt(struct caller *c)
{
	struct answer a = line_serve(c, set_option);

	/* SO_REUSEPORT, the only one of these that comes here: before it is set. */
	if (a.kind == ANSWER_CONTINUE && (int)c->arg[1] == SOL_SOCKET)
		atomic_store(&c->sup->ports.shares, true);
	return a;
}
