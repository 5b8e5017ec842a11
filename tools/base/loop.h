/*
 * One thread that waits for descriptors and for time, and calls whoever wants to know.
 *
 * Everything that is called back runs in the loop's thread, one after the other, and must not block: what
 * may block (a human is asked) has a thread of its own and comes back by loop_post().  Watches, timers and
 * jobs are their owner's memory; the loop only links them.
 */
#ifndef PALE_LOOP_H
#define PALE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

struct loop_watch {
	int fd;
	/* epoll(7) events; the watch may be taken away and its memory freed in here. */
	void (*ready)(struct loop_watch *w, uint32_t events);
};

struct loop_timer {
	void (*fire)(struct loop_timer *t);
	uint64_t due_ns; /* CLOCK_MONOTONIC; the loop's */
	struct loop_timer *next, **at;
};

struct loop_job {
	void (*run)(struct loop_job *j);
	struct loop_job *next;
};

#define NS_PER_S 1000000000ull

/* Makes the loop and its thread, which takes no signals.  0 or -errno. */
int loop_start(struct loop **ret);
/* Ends and joins the thread; nothing is called afterwards, posted jobs that did not run never do. */
void loop_stop(struct loop *l);
/* The same, but that others may go on to post and to watch in vain, until loop_stop(). */
void loop_end(struct loop *l);

/* From any thread.  w->fd is watched for `events` (EPOLLIN...; level triggered).  0 or -errno. */
int loop_watch(struct loop *l, struct loop_watch *w, uint32_t events);
/* What is watched changes.  From the loop's thread. */
int loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events);
/* No event of it is told afterwards.  From the loop's thread. */
void loop_unwatch(struct loop *l, struct loop_watch *w);

/* Fires once, after `ns`; set anew it moves.  From the loop's thread. */
void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t ns);
/* Does nothing where it is not set.  From the loop's thread. */
void loop_timer_clear(struct loop *l, struct loop_timer *t);

/* Runs j once, soon, in the loop's thread.  From any thread; j is the loop's until it runs. */
void loop_post(struct loop *l, struct loop_job *j);

#endif
