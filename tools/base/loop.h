/*
 * One thread that waits for descriptors, timers and jobs, and calls their callbacks.
 *
 * All callbacks run in the loop's thread, one after the other, and must not block.  Work that may block (a
 * question to the operator) needs a thread of its own, which comes back by loop_post().  Watches, timers
 * and jobs belong to their owners; the loop only links them.
 */
#ifndef PALE_LOOP_H
#define PALE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

struct loop_watch {
	int fd;
	/* epoll(7) events.  The callback may remove the watch and free its memory. */
	void (*ready)(struct loop_watch *w, uint32_t events);
};

struct loop_timer {
	void (*fire)(struct loop_timer *t);
	uint64_t due_ns; /* CLOCK_MONOTONIC; private to the loop */
	struct loop_timer *next, **at;
};

struct loop_job {
	void (*run)(struct loop_job *j);
	struct loop_job *next;
};

/* Makes the loop and its thread, which takes no signals.  0 or -errno. */
int loop_start(struct loop **ret);
/* Ends and joins the thread and frees the loop.  No callback runs afterwards; posted jobs that have not run
 * never run. */
void loop_stop(struct loop *l);
/*
 * Ends and joins the thread, but other threads may still post and watch, without effect, until loop_stop().
 */
void loop_end(struct loop *l);

/* Watches w->fd for `events` (EPOLLIN...; level triggered).  From any thread.  0 or -errno. */
int loop_watch(struct loop *l, struct loop_watch *w, uint32_t events);
/* Changes the events of a watch.  From the loop's thread.  0 or -errno. */
int loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events);
/* Removes a watch: its callback does not run afterwards.  From the loop's thread. */
void loop_unwatch(struct loop *l, struct loop_watch *w);

/* Fires once, after `ns`; a timer that is set already moves.  From the loop's thread. */
void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t ns);
/* Does nothing for a timer that is not set.  From the loop's thread. */
void loop_timer_clear(struct loop *l, struct loop_timer *t);

/* Runs j once, soon, in the loop's thread.  From any thread; the loop owns j until it runs. */
void loop_post(struct loop *l, struct loop_job *j);

#endif
