/*
 * agent.sock: one question per connection, from any process of the session.  Identity is what the
 * kernel says at accept; a frame that is late, too long, carries descriptors or does not decode
 * drops the peer, and a dropped peer denies.
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

void agent_ready(struct helper *h, struct conn *c)
{
	ssize_t n = packet_receive(c->fd, h->frame, sizeof(h->frame), NULL, 0);

	if (n == -EAGAIN)
		return;
	/* Whoever waits has nothing more to say: a second frame is no better than hanging up. */
	if (n <= 0 || c->waits || wire_get_ask(h->frame, (size_t)n, &h->ask) < 0) {
		broker_hangup(h, c);
		conn_drop(h, c);
		return;
	}
	c->deadline_ns = 0;
	broker_ask(h, c, &h->ask);
}
