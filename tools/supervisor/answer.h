/*
 * The answer to a carried call.
 *
 * A handler returns its answer and the loop alone sends it, so no path through a handler can answer twice or
 * not at all.
 */
#ifndef PALE_ANSWER_H
#define PALE_ANSWER_H

#include <stdbool.h>

/* LATER: the call is handed over, to be answered by the thread that takes it (patience.c). */
enum answer_kind { ANSWER_ERRNO, ANSWER_VALUE, ANSWER_FD, ANSWER_CONTINUE, ANSWER_LATER };

struct caller;
struct waiting; /* a call that waits without a thread of its own: lobby.h */

/* If zeroed, an error without a number, which the loop sends as EPERM. */
struct answer {
	enum answer_kind kind;
	int error;		 /* ERRNO: positive */
	long value;		 /* VALUE */
	int fd;			 /* FD: injected, then closed by the loop */
	bool cloexec;		 /* FD */
	bool is_fifo;		 /* FD: closed here before the caller goes on */
	struct waiting *waiting; /* LATER: the loop hands it over, or drops it */
	/* NULL, or called by the same thread right after the answer was sent, by that thread or by the
	 * watchdog.  The call does not wait any more then. */
	void (*after)(struct caller *c);
};

/* r is a system call's result here: >= 0 a value, else -errno. */
static inline struct answer answer_result(long r)
{
	if (r < 0)
		return (struct answer){ .kind = ANSWER_ERRNO, .error = (int)-r };
	return (struct answer){ .kind = ANSWER_VALUE, .value = r };
}

static inline struct answer answer_fd(int fd, bool cloexec)
{
	if (fd < 0)
		return answer_result(fd);
	return (struct answer){ .kind = ANSWER_FD, .fd = fd, .cloexec = cloexec };
}

static inline struct answer answer_later(struct waiting *w)
{
	return (struct answer){ .kind = ANSWER_LATER, .waiting = w };
}

/* The kernel performs the call: only where the verdict depends on registers alone, or where the floor holds
 * the same bound. */
static inline struct answer answer_continue(void)
{
	return (struct answer){ .kind = ANSWER_CONTINUE };
}

/* Errors internal to the kernel, which a process never sees: the kernel restarts the call, or returns EINTR,
 * as sigaction(2) says; or it restarts the call in every case. */
#define ERESTARTSYS    512
#define ERESTARTNOINTR 513

#endif
