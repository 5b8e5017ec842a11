/*
 * Ask the helper in a caller's name: one question, one answer, one short connection.  The connection begins
 * with the caller's process (WIRE_BEHALF), since the kernel would name the supervisor as the peer.  When
 * the caller dies, the connection is closed and the helper withdraws the question.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/paths.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/procs.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/worker.h"

#include "call_record.h"
#include "tell.h"
#include "verdict_answer.h"

/* Added to the policy's own timeout, which the helper applies. */
#define GRACE_S 5

/* Connected, or -errno. */
static int connect_agent(const struct supervisor *s, int flags)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd, e;

	if (path_join(sun.sun_path, sizeof(sun.sun_path), s->setup->session_dir, WIRE_AGENT_SOCKET) < 0)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0)
		return fd;
	e = errno;
	if (fd >= 0)
		close(fd);
	return -e;
}

void ask_kick(const struct supervisor *s)
{
	_cleanup_close_ int fd = connect_agent(s, SOCK_NONBLOCK);

	(void)fd;
}

static int send_frame(int fd, const void *frame, int len)
{
	if (len < 0)
		return len;
	return send(fd, frame, (size_t)len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_question(int fd, struct caller *c, const struct request *req, uint32_t rule, uint8_t *frame)
{
	struct wire_behalf who = { .pid = caller_tgid(c) };
	int r;

	memcpy(who.nonce, c->sup->setup->nonce, sizeof(who.nonce));
	r = send_frame(fd, frame, wire_put_behalf(frame, LIMIT_FRAME, &who));
	if (r < 0)
		return r;
	return send_frame(fd, frame, wire_put_ask(frame, LIMIT_FRAME, req, rule, c->image_number, who.pid));
}

/* Waits for the packet with the answer: its length, 0 at a hang-up, -errno; -ESRCH where the caller is
 * gone. */
static ssize_t receive_answer(int fd, struct caller *c, const struct request *req, const char *target,
			      uint8_t *frame)
{
	const int64_t end = (int64_t)(clock_ns(CLOCK_BOOTTIME) / NS_MS) +
			    ((int64_t)c->image.h->timeout_s + WIRE_HOLD_S + GRACE_S) * 1000;
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	bool is_told = false;

	/* A stand-in has no call that could be interrupted. */
	if (c->is_stand_in)
		p[1].fd = proc_pidfd(c);
	for (;;) {
		int64_t left = end - (int64_t)(clock_ns(CLOCK_BOOTTIME) / NS_MS);
		int r = poll(p, NELEM(p),
			     left < 0	      ? 0
			     : !is_told	      ? WIRE_SETTLE_MS
			     : left > INT_MAX ? INT_MAX
					      : (int)left);
		ssize_t n;

		if (r == 0 && is_told)
			return -ETIMEDOUT;
		if (r == 0) {
			tell_asking(c, req, target);
			is_told = true;
			continue;
		}
		if (r > 0 && !p[0].revents)
			return -ESRCH;
		if (r > 0) {
			n = recv(fd, frame, LIMIT_FRAME, MSG_DONTWAIT);
			return n < 0 ? -errno : n;
		}
		if (errno != EINTR)
			return -errno;
		if (!caller_alive(c))
			return -ESRCH;
	}
}

static void take_answer(struct verdict_answer *ret, const uint8_t *frame, ssize_t n)
{
	struct wire_answer w;

	if (n == -ETIMEDOUT)
		ret->reason = REASON_TIMEOUT;
	if (n == -EMSGSIZE)
		ret->reason = REASON_TOO_LONG;
	if (n <= 0 || wire_get_answer(frame, (size_t)n, &w) < 0)
		return;
	ret->verdict = w.verdict;
	ret->reason = w.reason;
	snprintf(ret->text, sizeof(ret->text), "%s", w.text);
	snprintf(ret->approval, sizeof(ret->approval), "%s", w.approval);
}

/* As receive_answer(), and supervisor_tick() may end the call meanwhile, but not after: if it did, the caller
 * counts as gone. */
static ssize_t await_answer(int fd, struct caller *c, const struct request *req, const char *target,
			    uint8_t *frame)
{
	ssize_t n;

	atomic_store(&c->worker->asking, true);
	n = receive_answer(fd, c, req, target, frame);
	atomic_store(&c->worker->asking, false);
	/* This returns once the slot is not held. */
	(void)worker_move(c->worker, SLOT_SERVING, SLOT_SERVING);
	return n;
}

void ask_helper(struct caller *c, const struct request *req, const char *target, uint32_t rule,
		struct verdict_answer *ret)
{
	uint8_t *frame = caller_scratch(c, LIMIT_FRAME);
	_cleanup_close_ int fd = frame ? connect_agent(c->sup, 0) : -ENOMEM;
	ssize_t n = fd;

	*ret = (struct verdict_answer){ .verdict = VERDICT_DENY, .reason = REASON_NOBODY };
	record_exe(c);
	if (fd >= 0)
		n = send_question(fd, c, req, rule, frame);
	if (n >= 0)
		n = await_answer(fd, c, req, target, frame);
	take_answer(ret, frame, n);
}
