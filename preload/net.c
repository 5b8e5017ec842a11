/*
 * From a socket address to a judged destination.
 *
 * The caller's bytes are copied once; that copy is judged and performed, so that another thread
 * cannot change them in between.  Inet addresses are judged by the name they were reached by,
 * unix sockets by their real path.
 */
#include "preload/net.h"

#include <netinet/in.h>
#include <sys/un.h>

#include "policy/wire.h"

/* The kernel still takes an IPv6 address without its scope. */
#define IN6_SHORTEST 24

static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t v4_loopback[4] = { 127, 0, 0, 1 };

/* --- inet --------------------------------------------------------------------------------------- */

/* connect() to "any" reaches the machine itself, so that is what is judged. */
static void any_is_loopback(uint8_t addr[16])
{
	static const uint8_t any[16];

	if (memcmp(addr, any, 16) == 0)
		addr[15] = 1;
	else if (memcmp(addr, v4_mapped, 12) == 0 && memcmp(addr + 12, any, 4) == 0)
		memcpy(addr + 12, v4_loopback, 4);
}

bool net_canonical(const struct sockaddr *addr, size_t len, uint8_t ret[16], uint16_t *ret_port)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	if (addr->sa_family == AF_INET6 && len >= IN6_SHORTEST) {
		memcpy(ret, &in6->sin6_addr, 16);
		*ret_port = ntohs(in6->sin6_port);
	} else if (addr->sa_family != AF_INET6 && len >= sizeof *in) {
		memcpy(ret, v4_mapped, sizeof v4_mapped);
		memcpy(ret + 12, &in->sin_addr, 4);
		*ret_port = ntohs(in->sin_port);
	} else {
		return false;
	}
	any_is_loopback(ret);
	return true;
}

static void text_v4(struct out *o, const uint8_t *a)
{
	for (int i = 0; i < 4; i++) {
		text_str(o, i ? "." : "");
		text_uint(o, a[i]);
	}
}

/* Without the :: shorthand: as plain as it is unambiguous. */
static void text_v6(struct out *o, const uint8_t *a)
{
	text_str(o, "[");
	for (int i = 0; i < 16; i += 2) {
		unsigned group = (unsigned)a[i] << 8 | a[i + 1];
		unsigned digits = 1u + (group > 0xf) + (group > 0xff) + (group > 0xfff);

		text_str(o, i ? ":" : "");
		text_hex(o, group, digits);
	}
	text_str(o, "]");
}

static void text_addr(struct out *o, const uint8_t addr[16])
{
	if (memcmp(addr, v4_mapped, 12) == 0)
		text_v4(o, addr + 12);
	else
		text_v6(o, addr);
}

static int check_inet(const struct net_dest *d)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT), .has_addr = true };
	char target[LIMIT_HOST + 64], host[LIMIT_HOST];
	struct out o = out_of(target, sizeof target);

	if (!net_canonical((const struct sockaddr *)&d->addr, d->len, req.addr, &req.port))
		return 0;
	if (session.ring && ring_name_find(session.ring, req.addr, host))
		req.host = host;
	if (req.host)
		text_str(&o, host);
	else
		text_addr(&o, req.addr);
	text_str(&o, ":");
	text_uint(&o, req.port);
	return judge(&req, text_end(&o)) ? 0 : -EACCES;
}

/* --- unix --------------------------------------------------------------------------------------- */

/* glibc asks nscd for names and users; without it libc does the work itself, where it is judged. */
static bool is_nscd(const char *path)
{
	return strcmp(path, "/var/run/nscd/socket") == 0 || strcmp(path, "/run/nscd/socket") == 0;
}

/* Where processes of the session ask: anybody inside may, and the helper trusts nobody who does. */
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

	return judge(&req, path) ? 0 : -EACCES;
}

static int check_socket_file(const char *path)
{
	struct resolved *r;
	int e;

	if (is_nscd(path))
		return -ENOENT;
	if (is_own_door(path))
		return 0;
	r = scratch_get(sizeof *r);
	if (!r)
		return -ENOMEM;
	e = resolve(&sys_self, AT_FDCWD, path, RESOLVE_FOLLOW_LAST, r);
	if (e == 0) {
		struct stat st;

		/* Nothing there is ENOENT, not a denial. */
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
	const struct sockaddr_un *un = (const void *)&d->addr;
	char path[4 * sizeof un->sun_path + 8];
	struct out o = out_of(path, sizeof path);
	size_t n;

	if (d->len <= offsetof(struct sockaddr_un, sun_path) || d->len > sizeof *un)
		return 0;
	n = d->len - offsetof(struct sockaddr_un, sun_path);
	if (un->sun_path[0] == '\0') {
		text_str(&o, "@");
		text_escaped(&o, un->sun_path + 1, n - 1);
		return judge_unix(text_end(&o), NULL, NULL);
	}
	put_bytes(&o, un->sun_path, strnlen(un->sun_path, n));
	return check_socket_file(text_end(&o));
}

/* --- any ---------------------------------------------------------------------------------------- */

/* A family that nobody can judge: it may lead anywhere. */
static int refuse_family(unsigned family)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT) };
	char target[40];
	struct out o = out_of(target, sizeof target);

	text_str(&o, "address family ");
	text_uint(&o, family);
	refuse(&req, text_end(&o), (struct decision){ .reason = REASON_MALFORMED, .rule = RULE_NONE },
	       "an address family that pale does not know");
	return -EACCES;
}

int net_check(const struct sockaddr *addr, socklen_t len, enum net_use use, struct net_dest *ret)
{
	if (len > sizeof ret->addr)
		return -EINVAL;
	memset(&ret->addr, 0, sizeof ret->addr);
	memcpy(&ret->addr, addr, len);
	ret->len = len;
	if (!judging() || len < sizeof ret->addr.ss_family)
		return 0;
	switch (ret->addr.ss_family) {
	case AF_UNSPEC:
		return use == NET_SEND ? check_inet(ret) : 0;
	case AF_INET:
	case AF_INET6:
		return check_inet(ret);
	case AF_UNIX:
		return check_unix(ret);
	case AF_NETLINK: /* ends in the kernel */
		return 0;
	default:
		return refuse_family(ret->addr.ss_family);
	}
}
