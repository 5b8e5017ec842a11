/*
 * connect(2), bind(2) and listen(2) performed for the caller, and the wait for what takes its time.
 *
 * A call that none of our threads waits for.  Private to patience.c, which begins it, and waiting.c and
 * workers.c, which end it.
 *
 * A connect(2) is tried again and answered by the one thread that waits for all.  A call that waits for data
 * is served anew by a worker once there is some, since that writes into the caller's memory.
 */
#ifndef PALE_WAITING_H
#define PALE_WAITING_H

#include "tools/base/loop.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/notify.h"

#define NS_PER_MS 1000000u
#define NEVER	  UINT64_MAX
/* A listener without room cannot be watched: it is tried less and less often. */
#define AGAIN_MIN (1u * NS_PER_MS)
#define AGAIN_MAX (50u * NS_PER_MS)

struct waiting {
	struct waiting *next;
	uint64_t id;
	pid_t tid, tgid;
	int fd, file;
	struct sockaddr_storage addr;
	socklen_t len;
	int (*then)(struct supervisor *s, pid_t tgid, int fd);
	bool is_own;	/* as in struct connecting */
	bool is_guard;	/* the call is answered; what it began is only looked after */
	uint32_t image; /* then: of the caller */
	int first;	/* what the first try said, which is also what a time limit that runs out says */
	uint64_t end;	/* by SO_SNDTIMEO; NEVER */
	uint64_t again; /* when to try without being told to; NEVER */
	uint64_t nap;
	bool is_ready;		  /* the socket has something to say */
	uint32_t events;	  /* epoll(7): what it is ready by */
	struct approved approved; /* what a human approved of it */
	/* Of a call that is served anew. */
	bool is_served;
	int nr;
	uint64_t arg[6];
};

/* Answers the call with r and drops it. */
void waiting_conclude(struct supervisor *s, struct waiting *w, int r);
/*
 * Goes on with the attempt, without waiting: what connect(2) says in the end, or -EALREADY where there is no
 * end yet.
 */
int waiting_try(struct supervisor *s, struct waiting *w);
/*
 * A try that has not arrived yet may still arrive, with the next packet, at whoever listens by then: 0 where
 * that is the session's own, or it has arrived there, else the socket is shut and -ECONNREFUSED.
 */
int waiting_guard(struct supervisor *s, const struct waiting *w);

#endif
