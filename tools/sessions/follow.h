/*
 * Sessions that run: found, asked through their helpers, followed.
 *
 * Running sessions that are listened to, as they come and go: for `pale pending --follow` and `pale watch`.
 *
 * Notifications come over a connection of their own; calls go over another, which the caller opens.
 */
#ifndef PALE_FOLLOW_H
#define PALE_FOLLOW_H

#include "tools/base/tools.h"

#define FOLLOWED_MAX 64

struct followed {
	struct session_ref ref;
	int fd;	       /* -1: the place is free */
	json_t *cards; /* the caller's; dropped when the session ends */
};

struct follow {
	struct followed list[FOLLOWED_MAX];
	bool records;	  /* decisions are told too; set before follow_step() */
	const char *only; /* one session alone, or NULL */
	/* A session is listened to from now on. */
	void (*begun)(void *ctx, struct followed *f);
	void (*told)(void *ctx, struct followed *f, json_t *note);
	/* It has ended; NULL: nobody wants to know.  As is why a session cannot be listened to. */
	void (*ended)(void *ctx, struct followed *f);
	void (*failed)(void *ctx, const struct session_ref *ref, const char *why);
	void *ctx;
	uint64_t scanned_ns; /* when sessions were looked for last */
};

void follow_init(struct follow *f);
/*
 * Looks for new sessions, once a second, waits ms for them and for fd (-1: none), and tells what came.  The
 * events of fd as poll(2) says them.
 */
short follow_step(struct follow *f, int fd, int ms);
void follow_done(struct follow *f);

#endif
