/* Sends and receives packets with their descriptors; text of a session becomes JSON here. */

#include "packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/base/op.h"
#include "policy/record/record.h"
#include "policy/system/cleanup.h"

int packet_send_json(int fd, json_t *j)
{
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	size_t len;

	json_decref(j);
	if (!text)
		return -ENOMEM;
	len = strlen(text);
	if (len >= LIMIT_FRAME)
		return -EMSGSIZE;
	text[len] = '\n'; /* replaces the NUL: a packet is a line */
	return send(fd, text, len + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

json_t *json_escaped(const char *bytes, size_t len)
{
	_cleanup_free_ char *text = record_escape(bytes, len);
	json_t *j = text ? json_string(text) : NULL;

	return j ? j : json_null();
}

void passed_done(struct passed *p)
{
	for (size_t i = 0; i < p->n; i++)
		close(p->fd[i]);
	p->n = 0;
}

/* Takes the wanted descriptors out of the control messages, closes all others. */
static bool take_ancillary(struct msghdr *msg, struct passed *passed, pid_t writer)
{
	bool ok = !(msg->msg_flags & MSG_CTRUNC), told = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		struct ucred cred;
		int fd;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			ok = ok && (writer == 0 || cred.pid == writer);
			told = true;
			continue;
		}
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (ok && passed && passed->n < passed->max) {
				passed->fd[passed->n++] = fd;
				continue;
			}
			close(fd);
			ok = false;
		}
	}
	return ok && (writer == 0 || told);
}

ssize_t packet_receive(int fd, char *buf, size_t size, struct passed *passed, pid_t writer)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { buf, size - 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	n = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n < 0)
		return -errno;
	if (!take_ancillary(&msg, passed, n > 0 ? writer : 0))
		return -EPERM;
	if (msg.msg_flags & MSG_TRUNC)
		return -EMSGSIZE;
	buf[n] = '\0';
	return n;
}
