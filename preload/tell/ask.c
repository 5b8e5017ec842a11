/*
 * Asks the helper a question.  Any error is a denial with its reason.
 */
#include "ask.h"

#include <errno.h>
#include <poll.h>

#include "policy/wire/wire.h"

#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "say.h"

/* Added to the policy's timeout, which the helper applies. */
#define ASK_GRACE_MS 5000

static void answer_deny(struct answer *ret, enum reason reason)
{
	ret->verdict = VERDICT_DENY;
	ret->reason = reason;
	ret->text[0] = ret->approval[0] = '\0';
}

/* Waits for the packet with the answer.  Returns its length, 0 at a hang-up, or -errno. */
static long ask_receive(int fd, const struct request *req, const char *target, void *frame)
{
	struct timespec soon = { .tv_nsec = WIRE_SETTLE_MS * 1000000l };
	struct timespec left = { .tv_sec = session.img.h->timeout_s + WIRE_HOLD_S + ASK_GRACE_MS / 1000 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long r;

	/* ppoll(2) of Linux stores the remaining time in its argument, so a signal does not prolong the
	 * wait. */
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
