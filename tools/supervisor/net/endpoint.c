/* The socket and the address of a network call: a duplicate of the socket, a copy of the address. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/verdict/verdict.h"

#include "net.h"

int endpoint_option(const struct endpoint *e, int option)
{
	int value;
	socklen_t len = sizeof(value);

	return getsockopt(e->fd, SOL_SOCKET, option, &value, &len) < 0 ? -errno : value;
}

/* Finds the address family of the socket. */
static int find_domain(struct endpoint *e)
{
	e->domain = endpoint_option(e, SO_DOMAIN);
	return e->domain < 0 ? e->domain : 0;
}

int endpoint_take(struct endpoint *e, struct caller *c)
{
	e->len = 0;
	e->reach = NULL;
	e->fd = caller_fd(c, (int)c->arg[0]);
	return e->fd < 0 ? e->fd : find_domain(e);
}

/* The checks are in the kernel's order, so the errors are the kernel's too. */
int endpoint_take_addr(struct endpoint *e, struct caller *c, uint64_t addr, uint64_t len)
{
	int n = (int)len, r; /* the kernel reads an int and ignores the upper half */

	e->reach = NULL;
	e->fd = caller_fd(c, (int)c->arg[0]);
	if (e->fd < 0)
		return e->fd;
	if (n < 0 || (size_t)n > sizeof(e->addr))
		return -EINVAL;
	e->len = (socklen_t)n;
	memset(&e->addr, 0, sizeof(e->addr));
	r = caller_read(c, addr, &e->addr, (size_t)n);
	return r < 0 ? r : find_domain(e);
}

void endpoint_done(struct endpoint *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

struct answer connect_as_said(struct caller *c, const struct endpoint *e)
{
	const struct connecting to = { .fd = e->fd, .sa = &e->addr.sa, .len = e->len, .file = -1 };

	return connect_patiently(c, &to);
}

struct answer refuse_family(struct caller *c, const struct endpoint *e, enum op op)
{
	struct request req = { .op = op, .access = op_access(op) };
	char target[40];
	struct out o = out_of(target, sizeof(target));

	text_str(&o, "address family ");
	text_uint(&o, (unsigned)e->domain);
	verdict_refuse(c, &req, text_end(&o), REASON_SOCKET);
	return answer_result(-EACCES);
}

/* --- inet -------------------------------------------------------------------------------------------- */

const char *inet_target(const struct request *req, char buf[INET_TARGET])
{
	struct out o = out_of(buf, INET_TARGET);

	if (req->is_datagram)
		text_str(&o, "udp ");
	if (req->host)
		text_str(&o, req->host);
	else
		text_inet(&o, req->addr);
	text_str(&o, ":");
	text_uint(&o, req->port);
	return text_end(&o);
}

bool inet_is_any(const uint8_t addr[16])
{
	static const uint8_t v6[16], v4[16] = { [10] = 0xff, [11] = 0xff };

	return memcmp(addr, v6, 16) == 0 || memcmp(addr, v4, 16) == 0;
}

void inet_name_machine(void *sa, size_t len)
{
	uint8_t said[16], addr[16];
	uint16_t port;

	if (!sockaddr_inet(sa, len, said, &port) || !inet_is_any(said) ||
	    !sockaddr_reached(sa, len, addr, &port))
		return;
	if (((const struct sockaddr *)sa)->sa_family == AF_INET6)
		memcpy(&((struct sockaddr_in6 *)sa)->sin6_addr, addr, 16);
	else
		memcpy(&((struct sockaddr_in *)sa)->sin_addr, addr + 12, 4);
}
