/*
 * The helper's socket.  Each question has its own short connection, made by path, because the program may
 * close a descriptor that we keep open (many runtimes close all descriptors that they do not know).
 */
#include <errno.h>
#include <poll.h>
#include <sys/un.h>

#include "policy/wire/wire.h"

#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "ask.h"

#define RING_WAIT_S 5

int ask_connect(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct out o = out_of(sun.sun_path, sizeof sun.sun_path);
	long fd, e;

	text_str(&o, session.dir);
	text_str(&o, "/" WIRE_AGENT_SOCKET);
	text_end(&o);
	if (o.failed)
		return -ENAMETOOLONG;
	fd = raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	do
		e = raw3(SYS_connect, fd, &sun, sizeof sun);
	while (e == -EINTR);
	if (e < 0) {
		sys_close((int)fd);
		return (int)e;
	}
	return (int)fd;
}

void ask_kick(void)
{
	int fd = ask_connect();

	if (fd >= 0)
		sys_close(fd);
}

/*
 * The helper sends two descriptors: the image, which is mapped already, and the ring.  The wait is bounded,
 * since a helper that is stopped must not stop the start of a program for ever.
 */
static long ring_receive(int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(2 * sizeof(int))];
	} control;
	uint8_t frame[64];
	struct iovec iov = { .iov_base = frame, .iov_len = sizeof frame };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	struct timespec left = { .tv_sec = RING_WAIT_S };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const struct cmsghdr *c = &control.align;
	int passed[2];
	long r;

	do
		r = raw5(SYS_ppoll, &p, 1, &left, NULL, 0);
	while (r == -EINTR);
	if (r == 1)
		r = raw3(SYS_recvmsg, fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	if (msg.msg_controllen < CMSG_LEN(sizeof passed) || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof passed))
		return -EPROTO;
	memcpy(passed, CMSG_DATA(c), sizeof passed);
	sys_close(passed[0]);
	return passed[1];
}

long ask_ring(void)
{
	uint8_t frame[64];
	int n = wire_put_narrow(frame, sizeof frame, session.image), fd = ask_connect();
	long r;

	if (fd < 0)
		return fd;
	r = raw6(SYS_sendto, fd, (long)frame, n, MSG_NOSIGNAL, 0, 0);
	if (r >= 0)
		r = ring_receive(fd);
	sys_close(fd);
	return r;
}
