/*
 * Listens to running sessions as they start and end: for `pale pending --follow` and `pale watch`.
 *
 * Notifications come over a connection of their own; the caller opens another one for calls.
 */
#ifndef PALE_FOLLOW_H
#define PALE_FOLLOW_H

#include <stdint.h>

#include "sessions.h"

#define FOLLOWED_MAX 64

struct followed {
	struct session_ref ref;
	int fd;	       /* -1: the slot is free */
	json_t *cards; /* the caller's; dropped when the session ends */
};

struct follow {
	struct followed list[FOLLOWED_MAX];
	bool records;	  /* also report decisions; set before follow_step() */
	const char *only; /* the only session to follow, or NULL */
	/* The session is followed from now on. */
	void (*begun)(void *ctx, struct followed *f);
	void (*told)(void *ctx, struct followed *f, json_t *note);
	/* The session has ended; may be NULL.  So may failed: the session cannot be followed. */
	void (*ended)(void *ctx, struct followed *f);
	void (*failed)(void *ctx, const struct session_ref *ref, const char *why);
	void *ctx;
	uint64_t scanned_ns; /* when sessions were last looked for */
};

void follow_init(struct follow *f);
/* Looks for new sessions (once a second), waits up to ms for their notifications and for fd (-1: none), and
 * calls the callbacks.  Returns the poll(2) events of fd. */
short follow_step(struct follow *f, int fd, int ms);
void follow_done(struct follow *f);

#endif
