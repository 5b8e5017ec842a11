/*
 * Calls that wait without a thread of their own.  Private to patience.c, which begins one, and waiting.c,
 * which ends it.
 *
 * A connect(2) is tried again and answered by the one thread that waits for all.  A call that waits for data
 * is served anew by a worker once there is some, since that writes into the caller's memory.
 */
#ifndef PALE_WAITING_H
#define PALE_WAITING_H

#include <pthread.h>

#include "tools/base/loop.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/verdict/call_record.h"

#define NS_PER_MS 1000000u
#define NEVER	  UINT64_MAX
/* A listener without room cannot be watched: connect is tried again at growing intervals. */
#define AGAIN_MIN (1u * NS_PER_MS)
#define AGAIN_MAX (50u * NS_PER_MS)

/* The calls that wait for a connection or for data, and the thread that waits for them. */
#define WAITING_MAX   2048 /* at once; a call beyond that gets EAGAIN */
#define WAITING_SHARE 4	   /* of limit_by_files(): fewer where descriptors are few */
struct lobby {
	pthread_mutex_t lock;
	pthread_t thread;
	bool runs, stopping;	 /* under lock */
	int bell, ready;	 /* eventfd(2), epoll(7); -1: not available */
	struct waiting *inbox;	 /* under lock: handed over, not yet seen by the thread */
	struct waiting *all;	 /* used by the thread only */
	_Atomic unsigned n;	 /* the number of calls in both lists */
	_Atomic unsigned trying; /* odd while the thread is in a connect(2) that must not wait */
	unsigned tried;		 /* used by lobby_tick() only: the last value of trying */
};

struct waiting {
	struct waiting *next;
	uint64_t id;
	pid_t tid, tgid;
	int fd, file;
	struct sockaddr_storage addr;
	socklen_t len;
	int (*then)(struct supervisor *s, pid_t tgid, int fd);
	bool is_own;	/* as in struct connecting */
	bool is_guard;	/* the call is answered; the attempt that it began is only watched */
	uint32_t image; /* for `then`: of the caller */
	int first;	/* result of the first try, which is also the result at the time limit */
	uint64_t end;	/* the time limit by SO_SNDTIMEO; NEVER */
	uint64_t again; /* when to try again without an event; NEVER */
	uint64_t nap;
	bool is_ready;		  /* epoll(7) has reported the socket */
	uint32_t events;	  /* epoll(7): the events reported */
	struct approved approved; /* what the operator approved of it */
	/* True for a call that is served again. */
	bool is_served;
	int nr;
	uint64_t arg[6];
};

/* Answers the call with r and drops it. */
void waiting_conclude(struct supervisor *s, struct waiting *w, int r);
/* Goes on with the attempt, without waiting: the result of connect(2), or -EALREADY while it goes on. */
int waiting_try(struct supervisor *s, struct waiting *w);
/*
 * An attempt that has not arrived yet may still arrive, with its next packet, at another process that
 * listens by then.  0 where the port is the session's own or the connection has arrived there; else shuts
 * the socket: -ECONNREFUSED.
 */
int waiting_guard(struct supervisor *s, const struct waiting *w);

#endif
