/*
 * The log of the agent's terminal: the back opens it, the front, where the bytes are, writes it.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "relay.h"
#include "tools.h"

union control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int))];
};

int terminal_log(const struct terminal *t, int fd, uint64_t bytes)
{
	union control control = { .buf = "" };
	struct iovec iov = { .iov_base = &bytes, .iov_len = sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (!t->is || t->link < 0)
		return -ENOTTY;
	return sendmsg(t->link, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void take_log(struct front *f, struct msghdr *msg, uint64_t bytes)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd;

	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	outlog_close(&f->log);
	f->log = (struct outlog){ .fd = fd, .left = bytes };
}

int relay_hear(struct front *f)
{
	union control control;
	uint64_t bytes = 0;
	struct iovec iov = { .iov_base = &bytes, .iov_len = sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	ssize_t n = recvmsg(f->link, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	unsigned char word;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	if (n == (ssize_t)sizeof(bytes))
		take_log(f, &msg, bytes);
	memcpy(&word, &bytes, 1);
	return n == 1 ? word : 0;
}

/* Our own standard error is nobody's: see let_go_of_streams(). */
void relay_log_end(struct front *f)
{
	if (f->log.error)
		dprintf(f->tty, "pale: the log of the terminal ends early: %s\r\n", strerror(-f->log.error));
	else if (f->log.full)
		dprintf(f->tty, "pale: the log of the terminal is full (log_size): the rest of it was not "
				"logged\r\n");
	outlog_close(&f->log);
}
