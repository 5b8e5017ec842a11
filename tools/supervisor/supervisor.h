/*
 * The supervisor: performs, after judging them by the session's own policy image, the system calls
 * that did not come through the hooks.
 *
 *   notify    the loop: receive, dispatch by calls.def, answer once; threads and the watchdog
 *   caller    the process that made the call: its memory, directories, descriptors, umask, image
 *   place     from its (dirfd, path) to a held place, by the one resolver
 *   verdict   judge, ask, record, say
 *   open files entries exec net connect datagrams ipc git   one room for each family of calls
 *
 * Threads: one thread, the leader, waits for notifications and serves each to its end.  Before it does what
 * may block (a FIFO, a connect, a question to the operator) it passes the lead on by caller_may_block(), so
 * that another thread receives while it waits.  If it blocks unexpectedly (a slow file system),
 * supervisor_tick() makes another thread the leader.
 *
 * One answer: a handler *returns* its answer and the loop alone sends it, so no path through a handler can
 * answer twice or not at all.  A call whose caller died is given up: the tick interrupts the thread that
 * serves it (EINTR).  A connect(2) that waits for a network is handed over to the one thread that waits for
 * all of them, and only that thread answers it then.
 */
#ifndef PALE_SUPERVISOR_H
#define PALE_SUPERVISOR_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/image/image.h"
#include "policy/wire/wire.h"

#include "tools/supervisor/proc/ports.h"

#include "descent.h"
#include "ids.h"
#include "procs.h"
#include "setup.h"
#include "worker.h"

/* Each belongs to the file that makes it. */
struct domains;
struct gaps;
struct hosts;
struct ipc;
struct kept_image;
struct lines;
struct lobby;
struct loop;
struct made_files;
struct resolver;
struct unproven;
struct waiting; /* a call that waits without a thread of its own: patience.c */
struct work;

struct supervisor {
	const struct supervisor_setup *setup;
	int listener;
	int waiters; /* epoll(7) of the pidfds of callers whose open(2) waits; -1: not available */
	struct seccomp_notif_sizes sizes;
	unsigned patience; /* ticks until the watchdog answers */
	uint64_t interval_ns, ticked_ns;
	_Atomic uint64_t tick;
	_Atomic uint64_t serial;
	_Atomic uint64_t carried, denied;

	pthread_mutex_t lock;
	const struct work *work;
	_Atomic int leader; /* written under lock */
	_Atomic bool stopping;
	_Atomic bool ended; /* no task is left that could make a call */
	unsigned n_idle, n_blocked;
	struct worker workers[WORKERS_MAX];
	_Atomic size_t slots; /* slots in use; most sessions need two, and each takes a page */

	pthread_mutex_t procs_lock;
	uint64_t procs_clock;
	struct proc procs[PROCS_MAX];

	pthread_mutex_t tags_lock;
	struct tag tags[TAGS_MAX];
	size_t n_tags;
	pid_t adopters[ADOPTERS_MAX]; /* subreapers inside the session, present and former */
	size_t n_adopters;
	_Atomic unsigned execs_watched; /* execs that ended under exec_verify.c */
	_Atomic unsigned tag_changes;	/* 0: no process has another image than the session's */
	struct image nested[WIRE_IMAGE_MAX + 1];

	_Atomic(const struct image *) image; /* the session's image since it was reloaded, or NULL */
	struct kept_image *kept;	     /* under tags_lock: that image and the earlier ones */

	struct made_files *made;
	struct gaps *gaps;
	struct lobby *lobby;
	struct ipc *ipc;
	struct unproven *unproven;

	struct ports ports;

	/* Made at the first use: resolver.c. */
	pthread_mutex_t net_lock;
	struct loop *loop;
	struct hosts *hosts;
	struct resolver *resolver;
	_Atomic(struct lines *) lines; /* line.c */

	struct ids ids; /* of denials: ids.c */
	_Atomic uint64_t said[SAID_MAX];
	_Atomic uint64_t refused[SAID_MAX];
	_Atomic uint64_t attached[SAID_MAX];
	_Atomic uint64_t told[SAID_MAX];      /* by pid: the program that was last reported to the helper */
	struct domains *domains;	      /* of programs that confined themselves: domain.h */
	_Atomic uint64_t ring_stuck;	      /* the ring's tail plus 1 at the last wait in vain */
	_Atomic uint64_t err_files[SAID_MAX]; /* marks of files that were standard error at an exec */
};

/* The session's own image. */
static inline const struct image *session_image(const struct supervisor *s)
{
	const struct image *img = atomic_load_explicit(&s->image, memory_order_acquire);

	return img ? img : s->setup->image;
}

#endif
