/*
 * One connection of an operator: what it subscribed to, and what its socket has not taken yet.  The helper
 * never waits for a peer: what does not fit into its queue is not sent, and a peer that reads nothing for a
 * while, or would miss something other than records, is dropped.
 */
#include "control_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/stamp.h"

#include "call.h"

#define QUEUE_MAX (1u << 20)
#define NS_STUCK  (20 * NS_S)

struct peer *peer_new(uint64_t serial, int pidfd)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (!p) {
		close(pidfd);
		return NULL;
	}
	p->serial = serial;
	p->pidfd = pidfd;
	p->scopes = CONTROL_READ | CONTROL_ANSWER | CONTROL_MANAGE;
	p->last = &p->first;
	return p;
}

static void unqueue(struct peer *p)
{
	struct packet *first = p->first;

	p->first = first->next;
	if (!p->first)
		p->last = &p->first;
	p->queued -= first->len;
	free(first);
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	while (p->first)
		unqueue(p);
	close(p->pidfd);
	free(p);
}

/* 0, -EAGAIN where the socket is full, or another -errno. */
static int send_now(int fd, const char *text, size_t len)
{
	if (len > LIMIT_FRAME)
		return -EMSGSIZE;
	if (send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return 0;
	return errno == ENOBUFS || errno == EINTR ? -EAGAIN : -errno;
}

static int enqueue(struct peer *p, const char *text, size_t len)
{
	struct packet *packet;

	if (p->queued + len > QUEUE_MAX)
		return -ENOBUFS;
	packet = malloc(sizeof(*packet) + len);
	if (!packet)
		return -ENOMEM;
	packet->next = NULL;
	packet->len = len;
	memcpy(packet->bytes, text, len);
	*p->last = packet;
	p->last = &packet->next;
	p->queued += len;
	return 0;
}

int peer_send(struct peer *p, int fd, const char *text, size_t len)
{
	int r = p->first ? -EAGAIN : send_now(fd, text, len);

	if (r != -EAGAIN)
		return r;
	if (p->stuck_ns == 0)
		p->stuck_ns = clock_boot_ns();
	return enqueue(p, text, len);
}

int peer_send_json(struct peer *p, int fd, json_t *j)
{
	_cleanup_json_ json_t *owned = j;
	_cleanup_free_ char *text = owned ? json_dumps(owned, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	return text ? peer_send(p, fd, text, strlen(text)) : -ENOMEM;
}

int peer_flush(struct peer *p, int fd)
{
	while (p->first) {
		int r = send_now(fd, p->first->bytes, p->first->len);

		if (r < 0)
			return r == -EAGAIN ? 0 : r;
		unqueue(p);
		p->stuck_ns = clock_boot_ns();
	}
	p->stuck_ns = 0;
	return 0;
}

bool peer_is_stuck(const struct peer *p, uint64_t now_ns)
{
	return p->broken || (p->stuck_ns != 0 && now_ns > p->stuck_ns + NS_STUCK);
}

int peer_tell_lost(struct peer *p, int fd)
{
	int r;

	if (p->lost == 0)
		return 0;
	r = peer_send_json(p, fd,
			   json_pack("{s:s, s:s, s:{s:I}}", "jsonrpc", "2.0", "method", "log/lost", "params",
				     "count", (json_int_t)p->lost));
	p->lost = 0;
	return r;
}
