/*
 * A worker: a thread and its slot, which serves one call at a time.
 *
 * Exactly one worker is the leader and waits for the next call.  The slot's state decides who answers:
 *
 * 	IDLE -> SERVING    a call was received
 * 	SERVING -> HELD    supervisor_tick() or waiters_leave() looks at it: nothing moves meanwhile
 * 	HELD -> SERVING    it is left alone, or its thread was interrupted
 * 	HELD -> ANSWERED   the watchdog answered
 * 	SERVING -> ANSWERED  its own thread is about to answer
 * 	ANSWERED -> IDLE   its own thread is done
 *
 * Each step is one compare-and-swap, so a call is answered exactly once.
 */
#ifndef PALE_WORKER_H
#define PALE_WORKER_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/judge/eval.h"

#include "caller.h"
#include "procs.h"

struct supervisor;
struct waiting;

#define WORKERS_MAX 96 /* threads in all */
#define LEADER_NONE (-1)

#define RESPONSE_MAX 256 /* bytes of the kernel's struct seccomp_notif_resp */

enum slot_state { SLOT_IDLE, SLOT_SERVING, SLOT_HELD, SLOT_ANSWERED };

struct worker {
	struct supervisor *sup;
	int index;
	/* under sup->lock */
	pthread_t thread;
	pthread_cond_t wake;
	bool runs;   /* has a thread */
	bool joined; /* the thread has been joined */
	bool idle;
	struct waiting *resumed; /* the call to serve next */
	_Atomic bool blocked;
	_Atomic bool opening;	/* until the other end is opened, or a signal comes for the caller */
	_Atomic bool sent_away; /* the worker must leave its open(2) */
	_Atomic bool instant;	/* in a call that must not wait: interrupted if it does */
	_Atomic bool asking;	/* until the operator answers: the call has had no effect so far */
	/* the slot */
	_Atomic int state; /* enum slot_state */
	struct caller call;
	_Atomic uint64_t serial; /* of the call */
	/* used by supervisor_tick() only */
	uint64_t seen;
	unsigned ticks; /* how many ticks found the same call here */
	/* used by the worker only */
	bool spent; /* its thread has entered a domain of Landlock, and ends with the call: confined.c */
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *resp;
	uint8_t *scratch;
	size_t scratch_used;
	struct proc own; /* for a task that has no entry in sup->procs */
	struct eval_memo memos[MEMO_WAYS];
};

#endif
