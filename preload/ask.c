/*
 * Asks the helper a question.  Each question has its own short connection, made by path, because the program
 * may close a descriptor that we keep open (many runtimes close all descriptors that they do not know).  Any
 * error is a denial with its reason.
 */
#include "preload/internal.h"

#include <poll.h>
#include <sys/un.h>

#include "policy/wire.h"

/* Added to the policy's timeout, which the helper applies. */
#define ASK_GRACE_MS 5000
#define RING_WAIT_S  5

static void answer_deny(struct answer *ret, enum reason reason)
{
	ret->verdict = VERDICT_DENY;
	ret->reason = reason;
	ret->text[0] = ret->approval[0] = '\0';
}

static int ask_connect(void)
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

/* Waits for the answer's packet; its length, 0 at a hang-up, -errno. */
static long ask_receive(int fd, const struct request *req, const char *target, void *frame)
{
	struct timespec soon = { .tv_nsec = WIRE_SETTLE_MS * 1000000l };
	struct timespec left = { .tv_sec = session.img.h->timeout_s + WIRE_HOLD_S + ASK_GRACE_MS / 1000 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long r;

	/* Linux's ppoll(2) leaves the remaining time in its argument, so a signal does not prolong the wait.
	 */
	do
		r = raw5(SYS_ppoll, &p, 1, &soon, NULL, 0);
	while (r == -EINTR);
	if (r == 0) {
		say_asking(req, target);
		do
			r = raw5(SYS_ppoll, &p, 1, &left, NULL, 0);
		while (r == -EINTR);
	}
	if (r == 0)
		return -ETIMEDOUT;
	if (r < 0)
		return r;
	do
		r = raw6(SYS_recvfrom, fd, (long)frame, LIMIT_FRAME, MSG_DONTWAIT, 0, 0);
	while (r == -EINTR);
	return r;
}

static void copy_text(char *dst, size_t size, const char *src)
{
	struct out o = out_of(dst, size);

	text_str(&o, src);
	text_end(&o);
}

static void ask_on(int fd, const struct request *req, const char *target, uint32_t rule, uint8_t *frame,
		   struct answer *ret)
{
	struct wire_answer w;
	long n = wire_put_ask(frame, LIMIT_FRAME, req, rule, session.image, (int32_t)raw0(SYS_getpid));

	if (n < 0) {
		answer_deny(ret, REASON_TOO_LONG);
		return;
	}
	do
		n = raw6(SYS_sendto, fd, (long)frame, n, MSG_NOSIGNAL, 0, 0);
	while (n == -EINTR);
	if (n > 0)
		n = ask_receive(fd, req, target, frame);
	if (n <= 0 || wire_get_answer(frame, (size_t)n, &w) < 0) {
		answer_deny(ret, n == -ETIMEDOUT ? REASON_TIMEOUT : REASON_NOBODY);
		return;
	}
	ret->verdict = w.verdict;
	ret->reason = w.reason;
	copy_text(ret->text, sizeof ret->text, w.text);
	copy_text(ret->approval, sizeof ret->approval, w.approval);
}

void ask_helper(const struct request *req, const char *target, uint32_t rule, struct answer *ret)
{
	uint8_t *frame = scratch_get(LIMIT_FRAME);
	int fd;

	answer_deny(ret, REASON_NOBODY);
	if (!frame)
		return;
	fd = ask_connect();
	if (fd >= 0) {
		ask_on(fd, req, target, rule, frame, ret);
		sys_close(fd);
	}
	scratch_put(frame, LIMIT_FRAME);
}
