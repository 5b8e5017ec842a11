/*
 * agent.sock: one question per connection, from any process of the session.  The kernel identifies the peer
 * at accept.  A frame that is late, too long, out of turn, has unexpected descriptors or cannot be decoded
 * drops the peer, and a dropped peer denies its call.
 *
 * Above level hooks the supervisor performs every connect, so the kernel names it as the peer of each
 * connection.  Then no other process may connect, and the first frame says for which process the connection
 * is: it must come from the supervisor itself, as the kernel says, and hold the session's nonce.
 */
#include "agent.h"

#include <errno.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/programs/loads.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/approvals/broker.h"
#include "helper/base/packet.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/conn.h"
#include "helper/rings/drain_rings.h"

#include "narrow_run.h"

#define NS_QUESTION (2 * NS_S)

static bool may_connect(const struct helper *h, const struct ucred *cred)
{
	if (cred->uid == (uid_t)-1 || (cred->uid != h->owner && cred->uid != geteuid()))
		return false;
	return h->level == LEVEL_HOOKS || cred->pid == h->launcher_pid;
}

void agent_accept(struct helper *h)
{
	int fd = accept4(h->agent_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred cred = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(cred);
	struct conn *c;

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || !may_connect(h, &cred)) {
		close(fd);
		return;
	}
	c = conn_add(h, CONN_AGENT, fd, cred.pid);
	if (!c)
		return;
	c->stage = h->level == LEVEL_HOOKS ? STAGE_QUESTION : STAGE_BEHALF;
	c->deadline_ns = clock_boot_ns() + NS_QUESTION;
}

/* Two more seconds for the question itself. */
static int on_behalf(struct helper *h, struct conn *c, size_t len, int fd)
{
	struct wire_behalf b;

	if (fd >= 0 || wire_get_behalf(h->frame, len, &b) < 0 ||
	    sodium_memcmp(b.nonce, h->nonce, sizeof(b.nonce)) != 0)
		return -EPROTO;
	c->pid = b.pid;
	c->deadline_ns = clock_boot_ns() + NS_QUESTION;
	return 0;
}

static int on_ask(struct helper *h, struct conn *c, size_t len, int fd)
{
	if (fd >= 0 || wire_get_ask(h->frame, len, &h->ask) < 0)
		return -EPROTO;
	loads_place(&h->ask.req);
	/* Only the supervisor's ring may name the asking program: a foreign helper cannot look in /proc. */
	if (h->foreign)
		(void)drain_turn(h);
	broker_ask(h, c, &h->ask);
	return 0;
}

static int on_narrow(struct helper *h, struct conn *c, size_t len, int fd)
{
	uint32_t image;

	if (wire_get_narrow(h->frame, len, &image) < 0)
		return -EPROTO;
	narrow_serve(h, c, image, fd);
	return 0;
}

/* Each message comes once, and in this order. */
static const struct {
	enum wire_type type;
	unsigned states;
	enum conn_stage stage, next;
	int (*run)(struct helper *h, struct conn *c, size_t len, int fd);
} messages[] = {
	{ WIRE_BEHALF, SESSION_LIVE, STAGE_BEHALF, STAGE_QUESTION, on_behalf },
	{ WIRE_ASK, SESSION_LIVE, STAGE_QUESTION, STAGE_WAIT, on_ask },
	{ WIRE_NARROW, SESSION_LIVE, STAGE_QUESTION, STAGE_WAIT, on_narrow },
};

static int handle_message(struct helper *h, struct conn *c, size_t len, int fd)
{
	int type = wire_type(h->frame, len);

	for (size_t i = 0; i < NELEM(messages); i++) {
		if ((int)messages[i].type != type || messages[i].stage != c->stage ||
		    !(messages[i].states & h->state))
			continue;
		/* First: run() may answer and drop c. */
		c->stage = messages[i].next;
		return messages[i].run(h, c, len, fd);
	}
	return -EPROTO;
}

void agent_ready(struct helper *h, struct conn *c)
{
	_cleanup_passed_ struct passed passed = { .max = 1 };
	pid_t writer = c->stage == STAGE_BEHALF ? h->launcher_pid : 0;
	ssize_t n = packet_receive(c->fd, h->frame, sizeof(h->frame), &passed, writer);

	if (n == -EAGAIN)
		return;
	c->deadline_ns = 0;
	/* A process that waits sends nothing more: a second frame ends the connection, like a hang-up. */
	if (n <= 0 || handle_message(h, c, (size_t)n, passed.n > 0 ? passed.fd[0] : -1) < 0) {
		broker_hangup(h, c);
		conn_drop(c);
	}
}
