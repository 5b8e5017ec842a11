/*
 * Connecting in somebody else's stead, and waiting as long as they would.
 *
 * A thread that blocks in connect(2) notices neither that its caller died nor that a signal waits for
 * it (after WAIT_KILLABLE_RECV, Linux 5.19, only fatal ones end the wait).  So the time that the socket
 * may block is cut into slices by SO_SNDTIMEO: after each the kernel goes on with the connection by
 * itself, and connect(2) anew joins it (inet_stream_connect, SS_CONNECTING).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/supervisor/net.h"
#include "tools/supervisor/notify.h"
#include "tools/tools.h"

#define INSTANT_US 1	 /* rounded up to one tick of the kernel's clock */
#define SLICE_US   50000 /* how late a signal may come through */
#define US_PER_S   1000000

/* --- the caller's signals ----------------------------------------------------------------------------- */

/* The number in a line of DIR/status, 0 where there is none. */
static uint64_t status_word(const char *status, const char *key, int base)
{
	const char *line = strstr(status, key);

	return line ? strtoull(line + strlen(key), NULL, base) : 0;
}

bool task_has_signal(pid_t tid)
{
	char path[32], status[4096];
	_cleanup_close_ int fd = -1;
	uint64_t waiting;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (n <= 0)
		return false;
	status[n] = '\0';
	waiting = status_word(status, "\nSigPnd:", 16);
	/*
	 * Who takes what is sent to the whole process is known of its first thread alone (complete_signal in
	 * kernel/signal.c): another one would see the bare -ERESTARTSYS, since nothing interrupts it.
	 */
	if (status_word(status, "\nTgid:", 10) == (uint64_t)tid)
		waiting |= status_word(status, "\nShdPnd:", 16);
	return waiting & ~status_word(status, "\nSigBlk:", 16) & status_word(status, "\nSigCgt:", 16);
}

/* --- slices ------------------------------------------------------------------------------------------------
 */

struct patience {
	int fd;
	struct timeval own; /* the socket's SO_SNDTIMEO; zero: for ever */
	uint64_t end_us;    /* UINT64_MAX: never */
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

static void set_timeout(const struct patience *p, const struct timeval *t)
{
	(void)setsockopt(p->fd, SOL_SOCKET, SO_SNDTIMEO, t, sizeof(*t));
}

static void patience_begin(struct patience *p, int fd)
{
	socklen_t len = sizeof(p->own);

	*p = (struct patience){ .fd = fd, .end_us = UINT64_MAX };
	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &p->own, &len) < 0)
		p->own = (struct timeval){ 0 };
	if (p->own.tv_sec || p->own.tv_usec)
		p->end_us = now_us() + (uint64_t)p->own.tv_sec * US_PER_S + (uint64_t)p->own.tv_usec;
}

/* connect(2) that blocks for `us` at most. */
static int connect_for(const struct patience *p, const struct sockaddr *sa, socklen_t len, uint64_t us)
{
	struct timeval t = { .tv_usec = (suseconds_t)us };

	set_timeout(p, &t);
	return connect(p->fd, sa, len) < 0 ? -errno : 0;
}

/* The slice ended and not the attempt: a unix socket's listener has no room yet. */
static bool is_unfinished(const struct sockaddr *sa, int r)
{
	return r == -EINPROGRESS || r == -EALREADY || r == -EINTR ||
	       (r == -EAGAIN && sa->sa_family == AF_UNIX);
}

/* What the time that is left has room for, 0 where it is over. */
static uint64_t slice_left(const struct patience *p)
{
	uint64_t now = p->end_us == UINT64_MAX ? 0 : now_us();

	if (now >= p->end_us)
		return 0;
	return p->end_us - now < SLICE_US ? p->end_us - now : SLICE_US;
}

/* Why to wait no longer, or 0. */
static int why_not(struct caller *c, const struct patience *p, int first)
{
	if (!caller_alive(c))
		return -EINTR;
	/* Another thread of the caller's made the socket one that does not wait. */
	if (fcntl(p->fd, F_GETFL) & O_NONBLOCK)
		return first;
	if (task_has_signal(c->tid))
		/* With a limit set the kernel says EINTR outright (sock_intr_errno). */
		return p->end_us == UINT64_MAX ? -ERESTARTSYS : -EINTR;
	return 0;
}

/* first: what the slice before has said, which is also what a time limit that runs out says. */
static int connect_on(struct caller *c, const struct patience *p, const struct sockaddr *sa, socklen_t len,
		      int first)
{
	int r = first, gone;
	uint64_t us;

	while (is_unfinished(sa, r)) {
		gone = why_not(c, p, first);
		if (gone < 0)
			return gone;
		us = slice_left(p);
		if (us == 0)
			return first;
		r = connect_for(p, sa, len, us);
	}
	return r;
}

int connect_patiently(struct caller *c, int fd, const struct sockaddr *sa, socklen_t len,
		      enum nearness nearness)
{
	int flags = fcntl(fd, F_GETFL), r;
	struct patience p;

	if (flags < 0)
		return -errno;
	if (nearness == PEER_AFAR && !(flags & O_NONBLOCK) && !caller_may_block(c))
		return -EAGAIN;
	if (flags & O_NONBLOCK)
		return connect(fd, sa, len) < 0 ? -errno : 0;
	patience_begin(&p, fd);
	r = connect_for(&p, sa, len, nearness == PEER_AFAR ? SLICE_US : INSTANT_US);
	if (is_unfinished(sa, r) && caller_may_block(c))
		r = connect_on(c, &p, sa, len, r);
	set_timeout(&p, &p.own);
	return r;
}
