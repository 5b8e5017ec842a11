/*
 * connect(2) in place of the caller.
 *
 * A socket that blocks is connected as one that does not, for the moment that it takes to begin; a connect
 * that does not end in that moment is handed over to the one thread that waits for all of them (waiting.c).
 *
 * The caller can interfere in that moment: another thread of it may make the socket blocking again, and
 * then the try waits.  So a thread marks that it tries, and the tick interrupts a try that lasts.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/file_limit.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/call_record.h"

#include "lobby.h"
#include "waiting.h"

/* --- one try ------------------------------------------------------------------------------------------ */

/* Two tries on the same socket would mix up its flags; they come from one process except in very unusual
 * cases. */
static pthread_mutex_t tries[64] = { [0 ... 63] = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t *try_lock_of(pid_t tgid)
{
	return &tries[(unsigned)tgid % NELEM(tries)];
}

static int connect_once(int fd, const struct sockaddr *sa, socklen_t len)
{
	return connect(fd, sa, len) < 0 ? -errno : 0;
}

/*
 * A connect(2) that does not wait, on a socket with these flags.  A connection to this machine may be
 * complete as soon as the first call releases the lock of the socket: a second call returns the result.
 */
static int connect_now(int fd, int flags, const struct sockaddr *sa, socklen_t len)
{
	int r, then;

	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = connect_once(fd, sa, len);
	if (r == -EINPROGRESS) {
		then = connect_once(fd, sa, len);
		r = then == -EALREADY ? r : then;
	}
	(void)fcntl(fd, F_SETFL, flags);
	return r;
}

/* The connect goes on: over a network, or to a unix socket whose listener has no room yet. */
static bool is_unfinished(const struct sockaddr *sa, int r)
{
	return r == -EINPROGRESS || r == -EALREADY || r == -EINTR ||
	       (r == -EAGAIN && sa->sa_family == AF_UNIX);
}

/* --- the session's own ports -------------------------------------------------------------------------- */

static unsigned tcp_state(int fd)
{
	struct tcp_info info = { .tcpi_state = TCP_SYN_SENT };
	socklen_t len = sizeof(info);

	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info.tcpi_state;
}

/* True where no packet has come back yet: the kernel sends its first packet again, and any process that
 * listens by then receives it. */
static bool is_under_way(int fd)
{
	return tcp_state(fd) == TCP_SYN_SENT;
}

static int guard(struct supervisor *s, int fd, const struct sockaddr *sa, socklen_t len, uint32_t image)
{
	struct request req = { .op = OP_CONNECT };
	enum port_owner owner = PORT_OTHERS;

	if (sockaddr_reached(sa, len, req.addr, &req.port))
		owner = ports_find(&s->ports, &req, image).owner;
	/* A process that accepted the connection may have closed its listening socket since. */
	if (owner == PORT_OWN || (owner == PORT_NOBODYS && !is_under_way(fd) && tcp_state(fd) != TCP_CLOSE))
		return 0;
	(void)shutdown(fd, SHUT_RDWR);
	return -ECONNREFUSED;
}

int waiting_guard(struct supervisor *s, const struct waiting *w)
{
	return w->is_own ? guard(s, w->fd, (const struct sockaddr *)&w->addr, w->len, w->image) : 0;
}

/* --- waiting for a connection ----------------------------------------------------------------------- */

/* The time at which the socket's SO_SNDTIMEO or SO_RCVTIMEO ends, counted from now. */
static uint64_t end_of(int fd, int limit)
{
	struct timeval t = { 0 };
	socklen_t len = sizeof(t);

	if (getsockopt(fd, SOL_SOCKET, limit, &t, &len) < 0 || (t.tv_sec == 0 && t.tv_usec == 0))
		return NEVER;
	return clock_awake_ns() + (uint64_t)t.tv_sec * NS_S + (uint64_t)t.tv_usec * 1000;
}

void waiting_drop(struct waiting *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->file >= 0)
		close(w->file);
	free(w);
}

void waiting_approved(struct waiting *w, const struct approved *a)
{
	w->approved = *a;
}

void waiting_conclude(struct supervisor *s, struct waiting *w, int r)
{
	if (!w->is_guard) {
		record_approved(s, &w->approved, w->tgid, r < 0 ? (uint32_t)-r : 0);
		listener_answer(s, w->id, r);
	}
	waiting_drop(w);
}

void waiting_abandon(struct supervisor *s, struct waiting *w)
{
	waiting_conclude(s, w, -EIO);
}

static struct waiting *waiting_new(struct caller *c, const struct connecting *to, int first)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct waiting){
		.id = c->id,
		.tid = c->tid,
		.tgid = caller_tgid(c),
		.fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0),
		.file = to->file >= 0 ? fcntl(to->file, F_DUPFD_CLOEXEC, 0) : -1,
		.len = to->len,
		.then = to->then,
		.is_own = to->is_own,
		.image = to->image,
		.first = first,
		.end = end_of(to->fd, SO_SNDTIMEO),
		.events = EPOLLOUT,
		.again = NEVER,
	};
	memcpy(&w->addr, to->sa, to->len);
	if (first == -EINTR)
		w->first = to->sa->sa_family == AF_UNIX ? -EAGAIN : -EINPROGRESS;
	if (w->first == -EAGAIN) {
		w->nap = AGAIN_MIN;
		w->again = clock_awake_ns() + w->nap;
	}
	if (w->fd >= 0 && (to->file < 0 || w->file >= 0))
		return w;
	waiting_drop(w);
	return NULL;
}

/* Names the held socket file by w's own descriptor: the one that was named before is closed by now. */
static void name_file(struct waiting *w)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&w->addr;

	if (w->file >= 0)
		snprintf(un->sun_path, sizeof(un->sun_path), "/proc/self/fd/%d", w->file);
}

static bool is_full(struct supervisor *s)
{
	return atomic_load(&s->lobby->n) >= limit_by_files(WAITING_MAX, WAITING_SHARE);
}

/* The call is answered now, but the connection attempt that it began goes on: lets the waiting thread
 * watch the attempt, or shuts the socket down where it cannot be watched. */
static int guard_on(struct caller *c, const struct connecting *to, int r)
{
	struct waiting *w;

	if (!is_under_way(to->fd))
		return r;
	w = is_full(c->sup) ? NULL : waiting_new(c, to, r);
	if (!w) {
		(void)shutdown(to->fd, SHUT_RDWR);
		return -EAGAIN;
	}
	w->is_guard = true;
	w->end = NEVER;
	waiting_begin(c->sup, w);
	return r;
}

static int finished(struct supervisor *s, pid_t tgid, int fd, int r,
		    int (*then)(struct supervisor *s, pid_t tgid, int fd))
{
	return r == 0 && then ? then(s, tgid, fd) : r;
}

struct answer connect_patiently(struct caller *c, const struct connecting *to)
{
	int flags = fcntl(to->fd, F_GETFL), r;
	struct waiting *w;

	if (flags < 0)
		return answer_result(-errno);
	atomic_store(&c->worker->instant, true);
	if (flags & O_NONBLOCK) {
		r = connect_once(to->fd, to->sa, to->len);
	} else {
		pthread_mutex_lock(try_lock_of(caller_tgid(c)));
		r = connect_now(to->fd, flags, to->sa, to->len);
		pthread_mutex_unlock(try_lock_of(caller_tgid(c)));
	}
	atomic_store(&c->worker->instant, false);
	if (to->is_own && (r == 0 || r == -EINPROGRESS) &&
	    guard(c->sup, to->fd, to->sa, to->len, to->image) < 0)
		return answer_result(-ECONNREFUSED);
	if (to->is_own && flags & O_NONBLOCK && r == -EINPROGRESS)
		r = guard_on(c, to, r);
	if (flags & O_NONBLOCK || !is_unfinished(to->sa, r))
		return answer_result(finished(c->sup, caller_tgid(c), to->fd, r, to->then));
	if (is_full(c->sup))
		return answer_result(-EAGAIN);
	w = waiting_new(c, to, r);
	if (!w)
		return answer_result(-EAGAIN);
	name_file(w);
	return answer_later(w);
}

int waiting_try(struct supervisor *s, struct waiting *w)
{
	const struct sockaddr *sa = (const struct sockaddr *)&w->addr;
	pthread_mutex_t *lock = try_lock_of(w->tgid);
	int r, flags;

	if (w->is_guard)
		return is_under_way(w->fd) ? -EALREADY : waiting_guard(s, w);
	if (!listener_is_valid(s, w->id))
		return -EINTR;
	if (waiting_guard(s, w) < 0)
		return -ECONNREFUSED;
	/* The lock is held by a try that blocks because the caller has made the socket blocking: that try
	 * is interrupted by the tick, and this thread does not wait for it. */
	if (pthread_mutex_trylock(lock) != 0)
		return -EALREADY;
	atomic_fetch_add(&s->lobby->trying, 1);
	flags = fcntl(w->fd, F_GETFL);
	r = flags < 0 ? -errno : connect_now(w->fd, flags, sa, w->len);
	atomic_fetch_add(&s->lobby->trying, 1);
	pthread_mutex_unlock(lock);
	/* The attempt began anew: another thread had dissolved the one that this call waited for. */
	if (r == -EINPROGRESS && w->is_ready)
		return -ECONNABORTED;
	if (is_unfinished(sa, r))
		return -EALREADY;
	if (r == 0 && waiting_guard(s, w) < 0)
		return -ECONNREFUSED;
	return finished(s, w->tgid, w->fd, r, w->then);
}

/* --- waiting for data ------------------------------------------------------------------------------- */

struct waiting *waiting_for_data(struct caller *c, int fd)
{
	struct waiting *w;

	if (is_full(c->sup) || !(w = calloc(1, sizeof(*w))))
		return NULL;
	*w = (struct waiting){
		.id = c->id,
		.tid = c->tid,
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		.file = -1,
		.first = -EAGAIN,
		.end = c->resumed ? c->resumed->end : end_of(fd, SO_RCVTIMEO),
		.again = NEVER,
		.events = EPOLLIN,
		.is_served = true,
		.nr = c->nr,
	};
	memcpy(w->arg, c->arg, sizeof(w->arg));
	if (w->fd >= 0)
		return w;
	waiting_drop(w);
	return NULL;
}

int waiting_socket(const struct waiting *w)
{
	int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

void waiting_call(struct waiting *w, struct caller *c)
{
	*c = (struct caller){ .id = w->id, .tid = w->tid, .nr = w->nr, .resumed = w };
	memcpy(c->arg, w->arg, sizeof(c->arg));
}
