/*
 * A server on every address that is allowed on this machine only is restricted to it: its socket is bound
 * to the device lo, which receives only what this machine sends.  Web servers for development listen on
 * every address by default, though they are used from this machine only.
 *
 * Removing a socket from its device needs CAP_NET_RAW (since Linux 5.7 binding it needs no capability), so
 * this is done only in sessions without CAP_NET_RAW.
 */
#include <errno.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/supervisor/verdict/verdict.h"

#include "net.h"

/* A process of the session could undo it: none there has more capabilities than this process
 * (no_new_privs). */
static bool may_be_undone(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return geteuid() == 0 || syscall(SYS_capget, &head, data) < 0 ||
	       data[0].permitted & 1u << CAP_NET_RAW;
}

static bool is_on(const struct endpoint *e, int lo)
{
	return endpoint_option(e, SO_BINDTOIFINDEX) == lo;
}

bool narrow_to_machine(struct caller *c, const struct endpoint *e, uint16_t port)
{
	struct request req = { .op = OP_BIND,
			       .access = op_access(OP_BIND),
			       .has_addr = true,
			       .addr = { [10] = 0xff, 0xff, 127, 0, 0, 1 },
			       .port = port };
	int lo = (int)if_nametoindex("lo");
	struct decision d = verdict_of(c, &req);
	char target[INET_TARGET];

	if (d.verdict != VERDICT_ALLOW || endpoint_option(e, SO_TYPE) != SOCK_STREAM || lo <= 0 ||
	    may_be_undone())
		return false;
	/* Not bound a second time: listen(2) comes after bind(2). */
	if (is_on(e, lo))
		return true;
	if (setsockopt(e->fd, SOL_SOCKET, SO_BINDTOIFINDEX, &lo, sizeof(lo)) < 0 || !is_on(e, lo))
		return false;
	verdict_narrowed(c, &req, inet_target(&req, target), d);
	return true;
}
