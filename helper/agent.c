/*
 * agent.sock: one question per connection, from any process of the session.  Identity is what the
 * kernel says at accept; a frame that is late, too long, carries descriptors that nobody asked for
 * or does not decode drops the peer, and a dropped peer denies.
 */
#include "helper.h"

#include <errno.h>
#include <sys/socket.h>

#define NS_QUESTION (2 * NS_S)

void agent_accept(struct helper *h)
{
	int fd = accept4(h->agent_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred cred = { .pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(cred);
	struct conn *c;

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid == (uid_t)-1 ||
	    (cred.uid != h->owner && cred.uid != geteuid())) {
		close(fd);
		return;
	}
	c = conn_add(h, CONN_AGENT, fd, cred.pid);
	if (c)
		c->deadline_ns = clock_boot_ns() + NS_QUESTION;
}

static int on_ask(struct helper *h, struct conn *c, size_t len, int fd)
{
	if (fd >= 0 || wire_get_ask(h->frame, len, &h->ask) < 0)
		return -EPROTO;
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

static const struct {
	enum wire_type type;
	unsigned states;
	int (*run)(struct helper *h, struct conn *c, size_t len, int fd);
} messages[] = {
	{ WIRE_ASK, SESSION_LIVE, on_ask },
	{ WIRE_NARROW, SESSION_LIVE, on_narrow },
};

static int handle(struct helper *h, struct conn *c, size_t len, int fd)
{
	int type = wire_type(h->frame, len);

	for (size_t i = 0; i < NELEM(messages); i++)
		if ((int)messages[i].type == type && (messages[i].states & h->state))
			return messages[i].run(h, c, len, fd);
	return -EPROTO;
}

void agent_ready(struct helper *h, struct conn *c)
{
	_cleanup_passed_ struct passed passed = { .max = 1 };
	ssize_t n = packet_receive(c->fd, h->frame, sizeof(h->frame), &passed, 0);

	if (n == -EAGAIN)
		return;
	c->deadline_ns = 0;
	/* Whoever waits has nothing more to say: a second frame is no better than hanging up. */
	if (n <= 0 || c->waits || handle(h, c, (size_t)n, passed.n > 0 ? passed.fd[0] : -1) < 0) {
		broker_hangup(h, c);
		conn_drop(h, c);
	}
}
