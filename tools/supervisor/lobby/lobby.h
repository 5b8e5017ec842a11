/*
 * Calls that wait without a thread of their own.
 *
 * A connect(2) is tried again and answered by the one thread that waits for all.  A call that waits for data
 * is served anew by a worker once there is some, since that writes into the caller's memory.
 */
#ifndef PALE_LOBBY_H
#define PALE_LOBBY_H

struct approved;
struct caller;
struct supervisor;
struct waiting;

/* 0 or -ENOMEM. */
int lobby_new(struct supervisor *s);
/* From the main thread: interrupts a try that waits because the caller has made the socket blocking. */
void lobby_tick(struct supervisor *s);
/* Ends the thread; calls that still wait get no answer. */
void lobby_stop(struct supervisor *s);
/* After lobby_stop(). */
void lobby_done(struct supervisor *s);
/* Consumes w: its call is answered at once, or later by the thread that waits for all. */
void waiting_begin(struct supervisor *s, struct waiting *w);
/* Consumes w, whose call was answered elsewhere. */
void waiting_drop(struct waiting *w);
/* The outcome of w's call is recorded for each approval in a. */
void waiting_approved(struct waiting *w, const struct approved *a);
/* Consumes w and answers its call with EIO. */
void waiting_abandon(struct supervisor *s, struct waiting *w);
/* c's call waits until fd has data to receive; then a worker serves it again, with this as the call's
 * `resumed`.  NULL: it cannot wait. */
struct waiting *waiting_for_data(struct caller *c, int fd);
/* A duplicate of the socket that was waited for: the caller's number may mean another socket by now. */
int waiting_socket(const struct waiting *w);
/* The call of w, to be served again: c is zeroed except for its caller, its number and its arguments. */
void waiting_call(struct waiting *w, struct caller *c);

#endif
