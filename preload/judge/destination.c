/*
 * From a socket address to a judged destination.
 *
 * The caller's bytes are copied once; that copy is judged and used, so that another thread cannot change
 * them in between.  Internet addresses are judged by the name by which they were reached, unix sockets by
 * their real path.
 */
#include "destination.h"

#include <errno.h>
#include <fcntl.h>

#include "policy/base/addr.h"
#include "policy/base/sockaddr.h"
#include "policy/wire/wire.h"

#include "preload/process/memory.h"
#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"
#include "preload/tell/log.h"

#include "check.h"

/* True for a datagram socket.  It may connect to any address: the destination is judged when something is
 * sent. */
static bool is_datagram(int fd)
{
	int type = 0;
	socklen_t len = sizeof type;

	return raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
}

/*
 * True if the call is left to the supervisor, which judges a connection again, asks, performs and records
 * it.  So the hook reports only what is denied whatever the supervisor knows.  Only the supervisor knows
 * the names that lead to an address, and which process has a port of this machine or an abstract name.
 */
static bool goes_down(const struct request *req, int fd)
{
	struct request bare = *req;
	struct decision d;

	if (level_now() == LEVEL_HOOKS)
		return false;
	bare.host = NULL;
	d = verdict_of(&bare);
	return d.verdict != VERDICT_DENY ||
	       (req->has_addr && (d.reason == REASON_HOST || d.reason == REASON_NEVER || is_datagram(fd))) ||
	       (!req->has_addr && req->path[0] != '/' && d.reason != REASON_RULE);
}

/* True if the connection is allowed, and recorded, without a rule: at level hooks it is not known which
 * process has a port of this machine, so ports from 1024 on are allowed. */
static bool is_left_open(const struct request *req, const char *target)
{
	struct decision d;

	if (level_now() != LEVEL_HOOKS || req->op != OP_CONNECT || req->port < 1024 ||
	    addr_classify(req->addr) != ADDR_LOOPBACK)
		return false;
	d = verdict_of(req);
	if (!image_now() || !decision_is_by_port(image_now(), &d))
		return false;
	d = (struct decision){ VERDICT_ALLOW, REASON_HOST, RULE_NONE, 0 };
	log_decision(req, target, &d, "");
	return true;
}

static int judge_dest(const struct request *req, const char *target, int fd)
{
	return is_left_open(req, target) || goes_down(req, fd) || judge(req, target) ? 0 : -EACCES;
}

/* --- inet --------------------------------------------------------------------------------------- */

static int check_inet(const struct net_dest *d)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT), .has_addr = true };
	char target[LIMIT_HOST + 64], host[LIMIT_HOST];
	struct out o = out_of(target, sizeof target);

	if (!sockaddr_reached(&d->addr, d->len, req.addr, &req.port))
		return 0;
	if (session.ring && ring_name_find(session.ring, req.addr, host))
		req.host = host;
	if (req.host)
		text_str(&o, host);
	else
		text_inet(&o, req.addr);
	text_str(&o, ":");
	text_uint(&o, req.port);
	return judge_dest(&req, text_end(&o), d->fd);
}

/* --- unix --------------------------------------------------------------------------------------- */

/* True for the socket on which the session's processes ask the helper: every process of the session may
 * connect, and the helper trusts none of them. */
static bool is_own_door(const char *path)
{
	size_t n = strlen(session.dir);

	return strncmp(path, session.dir, n) == 0 && strcmp(path + n, "/" WIRE_AGENT_SOCKET) == 0;
}

static int judge_unix(const char *path, const char *given, const char *raw)
{
	struct request req = {
		.op = OP_UNIX, .access = op_access(OP_UNIX), .path = path, .given = given, .raw = raw
	};

	return judge_dest(&req, path, -1);
}

static int check_socket_file(const char *path)
{
	struct resolved *r;
	int e;

	if (sockaddr_is_name_service(path))
		return -ENOENT;
	if (is_own_door(path))
		return 0;
	r = scratch_get(sizeof *r);
	if (!r)
		return -ENOMEM;
	e = resolve(&sys_self, AT_FDCWD, path, RESOLVE_FOLLOW_LAST, r);
	if (e == 0) {
		struct stat st;

		/* A file that does not exist is ENOENT, not a denial. */
		e = (int)raw4(SYS_newfstatat, r->parent, r->name, &st, 0);
		if (e == 0)
			e = judge_unix(r->path, r->same ? NULL : r->given, path);
		resolved_done(&sys_self, r);
	}
	scratch_put(r, sizeof *r);
	return e;
}

static int check_unix(const struct net_dest *d)
{
	char name[SOCKADDR_NAME];

	switch (sockaddr_unix(&d->addr, d->len, name)) {
	case SOCKADDR_PATH:
		return check_socket_file(name);
	case SOCKADDR_ABSTRACT:
		return judge_unix(name, NULL, NULL);
	case SOCKADDR_NONE:
		break;
	}
	return 0;
}

/* --- any ---------------------------------------------------------------------------------------- */

/* Denies an address family that cannot be judged: it may lead anywhere. */
static int refuse_family(unsigned family)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT) };
	char target[40];
	struct out o = out_of(target, sizeof target);

	text_str(&o, "address family ");
	text_uint(&o, family);
	refuse(&req, text_end(&o), (struct decision){ .reason = REASON_SOCKET, .rule = RULE_NONE }, "");
	return -EACCES;
}

/* The kernel's error for an address that the socket cannot have; 0 if the policy decides.  An IPv6 socket of
 * datagrams takes IPv4 addresses. */
static int family_error(int fd, int family)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof domain;
	long r = raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);

	if (r < 0)
		return (int)r;
	if (family == AF_UNSPEC || family == domain || (family == AF_INET && domain == AF_INET6))
		return 0;
	return domain == AF_UNIX ? -EINVAL : -EAFNOSUPPORT;
}

int net_check(const struct sockaddr *addr, socklen_t len, enum net_use use, struct net_dest *ret)
{
	int r;

	if (len > sizeof ret->addr)
		return -EINVAL;
	if (!memory_has(addr, len))
		return -EFAULT;
	memset(&ret->addr, 0, sizeof ret->addr);
	memcpy(&ret->addr, addr, len);
	ret->len = len;
	if (!judging() || len < sizeof ret->addr.ss_family)
		return 0;
	r = use == NET_CONNECT ? family_error(ret->fd, ret->addr.ss_family) : 0;
	if (r < 0)
		return r;
	switch (ret->addr.ss_family) {
	case AF_UNSPEC:
		return use == NET_SEND ? check_inet(ret) : 0;
	case AF_INET:
	case AF_INET6:
		return check_inet(ret);
	case AF_UNIX:
		return check_unix(ret);
	case AF_NETLINK: /* leads only to the kernel */
		return 0;
	default:
		return refuse_family(ret->addr.ss_family);
	}
}
