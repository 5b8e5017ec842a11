/*
 * The supervisor's inside: threads, the slots of the calls they serve, and what is remembered of the
 * tasks that call.
 *
 * A worker is a thread and its slot: it serves one call at a time.  Exactly one worker is the leader
 * and waits for the next call.  The slot's state decides who answers:
 *
 *	IDLE -> SERVING    a call was received
 *	SERVING -> HELD    supervisor_tick() or waiters_leave() looks at it: nothing moves meanwhile
 *	HELD -> SERVING    it is left alone, or its thread was interrupted
 *	HELD -> ANSWERED   the watchdog answered
 *	SERVING -> ANSWERED  its own thread is about to answer
 *	ANSWERED -> IDLE   its own thread is done
 *
 * Each step is one compare-and-swap, so a call is answered once, whoever comes first.
 */
#ifndef PALE_NOTIFY_H
#define PALE_NOTIFY_H

#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>

#include "ids.h"
#include "supervisor.h"
#include "tools/supervisor/proc/ports.h"
#include "tools/supervisor/proc/procstat.h"

#define WORKERS_MAX 80 /* threads in all */
#define BLOCKED_MAX 64 /* of them waiting for something outside */
#define IDLE_KEPT   2
#define LEADER_NONE (-1)

/* Interrupts a system call that a worker blocks in; nothing else uses it. */
#define SIGNAL_GIVE_UP (SIGRTMIN + 3)

enum slot_state { SLOT_IDLE, SLOT_SERVING, SLOT_HELD, SLOT_ANSWERED };

#define RESPONSE_MAX 256 /* bytes of the kernel's struct seccomp_notif_resp */

#define PIDFD_LATER (-2) /* it can be had, and nobody needed it yet */

/* What is remembered of a task, from one of its calls to the next. */
struct proc {
	pid_t tid, tgid;   /* tid 0: nobody's, or nobody's any more */
	int pidfd;	   /* of this very task; -1: not to be had (a thread before Linux 6.9); PIDFD_LATER */
	int dir;	   /* /proc/TID, -1: not opened yet */
	uint64_t proven;   /* the tick in which it was last seen alive */
	uint64_t used;	   /* for the choice of whom to forget */
	unsigned users;	   /* calls that hold it */
	uint32_t image;	   /* number of the image */
	unsigned image_of; /* tags.changes when that was found out, plus 1; 0: never */
	bool is_orphan;
	bool is_proven; /* its program is what was judged: exec_unproven.c */
};

struct worker {
	struct supervisor *sup;
	int index;
	/* under sup->lock */
	pthread_t thread;
	pthread_cond_t wake;
	bool runs;   /* has a thread */
	bool joined; /* thread is nobody's any more */
	bool idle;
	struct waiting *resumed; /* to be served next */
	_Atomic bool blocked;
	_Atomic bool opening;	/* until somebody opens the other end, or the caller has a signal */
	_Atomic bool sent_away; /* and is to leave */
	_Atomic bool instant;	/* in a call that must not wait: interrupted if it does */
	/* the slot */
	_Atomic int state; /* enum slot_state */
	struct caller call;
	_Atomic uint64_t serial; /* of the call */
	/* supervisor_tick()'s */
	uint64_t seen;
	unsigned ticks; /* how many found the same call here */
	/* its own */
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *resp;
	uint8_t *scratch;
	size_t scratch_used;
	struct proc own; /* for a task that finds no place among the remembered */
	struct eval_memo memos[MEMO_WAYS];
};

/* A nested run: the process that it began with, by start time, since a pid comes again. */
struct tag {
	pid_t pid;
	uint64_t start;
	uint32_t image;
	uint32_t around; /* what held before */
	int launcher;	 /* its /proc/PID/environ, -1 once it is known to have executed something */
};
#define TAGS_MAX     256
#define ADOPTERS_MAX 64

#define PROCS_MAX  128
#define PROCS_WAYS 8u

/* A socket file that the session bound, an entry of /dev/shm: made.c.  Of more than so many the oldest are
 * forgotten. */
#define MADE_MAX 8192
struct made {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns;
};

/* Whether the floor still holds all that is kept from being read: gaps.c. */
struct gaps {
	pthread_mutex_t lock;
	int fd;			 /* inotify(7), -1: nothing to watch */
	int *wd;		 /* of each gap */
	bool armed;		 /* they are watched */
	_Atomic unsigned spared; /* opens that were performed and asked no question (open_pass.c) */
	_Atomic bool open;	 /* it does not, from now on */
	_Atomic bool lacks;	 /* by the policy that was loaded last it does not (policies.c) */
};

/* Those who wait for a connection or for data, and the thread that waits for them: waiting.c. */
#define WAITING_MAX   2048 /* at once; beyond it their call says EAGAIN */
#define WAITING_SHARE 4	   /* of limit_by_files(): fewer where descriptors are few */
struct lobby {
	pthread_mutex_t lock;
	pthread_t thread;
	bool runs, stopping;	 /* under lock */
	int bell, ready;	 /* eventfd(2), epoll(7); -1: not to be had */
	struct waiting *inbox;	 /* under lock: handed over and not yet looked at */
	struct waiting *all;	 /* the thread's own */
	_Atomic unsigned n;	 /* both */
	_Atomic unsigned trying; /* odd while the thread is in a connect(2) that must not wait */
	unsigned tried;		 /* lobby_tick()'s: as it was seen last */
};

/* A System V object that the session made: sysv.c. */
#define IPC_MAX	       1024
#define IPC_OF_ORPHANS UINT32_MAX
enum ipc_kind { IPC_SHM, IPC_SEM, IPC_MSG, IPC_KINDS };
struct ipc_object {
	int id;
	int key; /* the session's own; IPC_PRIVATE: none, or none any more */
	enum ipc_kind kind;
	uint32_t image; /* of who made it */
	bool removed;	/* a segment that lives on while it is attached */
};

struct git_push;
struct loop;
struct hosts;
struct resolver;
struct lines;
struct kept_image;
struct unproven;
struct work;

struct supervisor {
	const struct supervisor_setup *setup;
	int listener;
	int waiters; /* epoll(7) of the pidfds of who waits in open(2); -1: none to be had */
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
	_Atomic bool ended; /* no task is left that could call */
	unsigned n_idle, n_blocked;
	struct worker workers[WORKERS_MAX];
	_Atomic size_t slots; /* of them that are made; most sessions need two, and each takes a page */

	pthread_mutex_t procs_lock;
	uint64_t procs_clock;
	struct proc procs[PROCS_MAX];

	pthread_mutex_t tags_lock;
	struct tag tags[TAGS_MAX];
	size_t n_tags;
	pid_t adopters[ADOPTERS_MAX]; /* subreapers inside the session, and some that were */
	size_t n_adopters;
	_Atomic unsigned tag_changes; /* 0: nobody lives under another image than the session's */
	struct image nested[WIRE_IMAGE_MAX + 1];

	_Atomic(const struct image *) image; /* the session's own since it was loaded anew, or NULL */
	struct kept_image *kept;	     /* under tags_lock: it, and those that were before */

	pthread_mutex_t made_lock;
	struct made made[MADE_MAX];
	size_t n_made;

	struct gaps gaps;
	struct lobby lobby;
	struct unproven *unproven;

	pthread_mutex_t ipc_lock;
	struct ipc_object ipc[IPC_MAX];
	size_t n_ipc;
	unsigned ipc_made; /* since the session began */

	struct ports ports;

	/* Made by the first who needs them: resolver.c. */
	pthread_mutex_t net_lock;
	struct loop *loop;
	struct hosts *hosts;
	struct resolver *resolver;
	_Atomic(struct lines *) lines; /* line.c */

	struct ids ids; /* of denials: ids.c */
	_Atomic uint64_t said[SAID_MAX];
	_Atomic uint64_t refused[SAID_MAX];
	_Atomic uint64_t attached[SAID_MAX];
	_Atomic uint64_t told[SAID_MAX]; /* by pid: which program the helper was told of */
	_Atomic uint64_t ring_stuck;	 /* the ring's tail, plus 1, when it last was waited for in vain */
	_Atomic uint64_t err_files[SAID_MAX]; /* marks of files that were standard error at an exec: tell.c */
};

/* The session's own image. */
static inline const struct image *session_image(const struct supervisor *s)
{
	const struct image *img = atomic_load_explicit(&s->image, memory_order_acquire);

	return img ? img : s->setup->image;
}

/* --- policies.c --- */

void policies_done(struct supervisor *s);

/* --- limits.c --- */

/* Of things that hold a few descriptors each so many may be at once: `most`, or one for each `share`
 * descriptors that the supervisor may have, so that calls find enough of them. */
unsigned limit_by_files(unsigned most, unsigned share);

/* --- dispatch.c --- */

typedef struct answer (*carry_fn)(struct caller *c);
/* Once, before the first dispatch_find(). */
void dispatch_init(void);
/* Who serves system call nr, NULL where nobody does. */
carry_fn dispatch_find(int nr);

/* --- patience.c --- */

/* The kernel's own, which it never shows to a process: restart the call, or EINTR, as sigaction says. */
#define ERESTARTSYS 512

void lobby_init(struct supervisor *s);
/* From the main thread: a try that waits, since the caller made the socket one that does, is interrupted. */
void lobby_tick(struct supervisor *s);
/* Ends the thread; who waited gets no answer. */
void lobby_stop(struct supervisor *s);
/* Consumes w: from here on its call is answered by the thread that waits for all, or at once. */
void waiting_begin(struct supervisor *s, struct waiting *w);
/* Consumes w, whose call somebody else has answered. */
void waiting_drop(struct waiting *w);
/* What comes of it is what came of these. */
void waiting_approved(struct waiting *w, const struct approved *a);
/* The same, and its call is answered EIO. */
void waiting_abandon(struct supervisor *s, struct waiting *w);
/* c's call waits until there is something to receive from fd: it is served anew then, by a worker whose
 * call's `resumed` this is.  NULL: it cannot. */
struct waiting *waiting_for_data(struct caller *c, int fd);
/* A duplicate of the socket that was waited for: what stands under its number meanwhile is another's. */
int waiting_socket(const struct waiting *w);
/* Its call, to be served anew: c is zeroed but for whose it is and what it asks for. */
void waiting_call(struct waiting *w, struct caller *c);

/* --- workers.c --- */

/* What the threads do, for the one who starts them. */
struct work {
	/* Receives and serves one call; -errno where there will be no more. */
	int (*serve)(struct worker *w);
	/* Serves a call that was received before, and consumes it. */
	void (*resume)(struct worker *w, struct waiting *v);
	/* Such a call is not served any more: it is answered EIO, and consumed. */
	void (*abandon)(struct supervisor *s, struct waiting *v);
};

/* Makes the first leader.  0 or -errno. */
int workers_start(struct supervisor *s, const struct work *work);
/* Another worker leads where `index` (or LEADER_NONE) does.  False where none can be had. */
bool workers_replace(struct supervisor *s, int index);
/* A worker that waits for nothing else serves w's call anew, and consumes w.  False: there is none. */
bool workers_resume(struct supervisor *s, struct waiting *w);
/* w's call is over. */
void workers_unblock(struct worker *w);
/* Ends and joins them, bounded in time.  The number that would not end. */
size_t workers_stop(struct supervisor *s);
/* Holds w's slot where it is in state `from`: nothing moves there while `act` runs, which returns the
 * state that follows. */
void worker_hold(struct worker *w, enum slot_state from, enum slot_state (*act)(struct worker *w));
/* Moves w's slot, waiting while it is held; false where it is not in state `from`. */
bool worker_move(struct worker *w, enum slot_state from, enum slot_state to);

/* --- waiters.c --- */

/* Nobody waits for what w does: its caller is gone, or has a signal that ends its open(2).  w is held. */
bool worker_is_given_up(const struct worker *w);
/* Those that nobody waits for any more are out of their open(2) when this returns, but for worker `but`
 * (NULL: none) and for who is held by a dead file system: bounded. */
void waiters_leave(struct supervisor *s, const struct worker *but);
/* Around an open(2) that waits.  False: too many do already. */
bool waiter_begin(struct caller *c);
void waiter_end(struct caller *c);
/* Interrupted without a reason of the caller's own: it waits on. */
bool waiter_stays(struct caller *c);

/* --- procs.c --- */

void proc_init(struct proc *p);

/* What is remembered of the caller's task, proven to be it; held until proc_put().  NULL: it is gone. */
struct proc *proc_get(struct caller *c);
void proc_put(struct caller *c);
/* A place that is one's own: what it held is let go, and it stands for this process, not yet looked at. */
void proc_renew(struct proc *p, pid_t tgid);
/* A pidfd of the caller, which stays the supervisor's.  -ENOENT: not to be had; -ESRCH: the caller is gone.
 */
int proc_pidfd(struct caller *c);
/* It turned out to be a task that is gone: looked up anew.  NULL: so is the caller. */
struct proc *proc_again(struct caller *c);
void procs_done(struct supervisor *s);

/* --- descent.c --- */

/* pid gets the orphans of its descendants, or got them once. */
bool supervisor_adopts(struct supervisor *s, pid_t pid);
void descent_done(struct supervisor *s);

/* --- exec_unproven.c --- */

int unproven_new(struct supervisor *s);
void unproven_done(struct supervisor *s);
/* What runs in the caller is what was judged: 0.  -EPERM: it was killed; -ESRCH: it is gone; -EAGAIN. */
int exec_proven(struct caller *c);
/* From the main thread: whose exec is over and who does not call. */
void exec_tick(struct supervisor *s);

/* --- gaps.c --- */

/* Gets ready to watch the floor's gaps, from the first gaps_hold() on.  What cannot be watched counts as
 * open. */
void gaps_start(struct supervisor *s);
/* At this moment the floor holds all that the policy of the session's own image keeps from being read. */
bool gaps_hold(struct supervisor *s);
void gaps_done(struct supervisor *s);

/* --- sysv.c --- */

/* Removes what the session made and left.  Nobody is served any more. */
void ipc_done(struct supervisor *s);

/* --- record.c, ask.c, tell.c --- */

/*
 * The record of an act on req->path that is allowed and begins now: it is told even where this process is
 * killed before ring_end(), which the caller must call.
 */
void record_act(struct caller *c, const struct request *req, const struct decision *d, struct ring_hold *ret);
void record_decision(struct caller *c, const struct request *req, const char *target,
		     const struct decision *d, const char *approval);
/* A denial, for why beside the rule: recorded, and told to the caller under the record's id. */
void record_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		   const char *approval, const char *why);
/* A denial that the caller's hooks tell of (claim.c): the id under which its record is written, 0: it is not.
 */
uint32_t record_claim(struct caller *c, struct ring_record *rec);

/*
 * What came of the call: a record for each approval that it was done under.  result is 0, an errno or
 * RING_HANDED_ON.  Called once, when it is answered.
 */
void record_outcome(struct caller *c, uint32_t result);
/* The same of a call that has no caller any more. */
void record_approved(struct supervisor *s, const struct approved *a, pid_t tgid, uint32_t result);

/* What a human said. */
struct verdict_answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};
/* Asks the helper in the caller's name and waits, of which that is told; blocks, so the lead was passed on.
 */
void ask_helper(struct caller *c, const struct request *req, const char *target, uint32_t rule,
		struct verdict_answer *ret);
/* As verdict_conclude(), which says nothing of what a human said. */
bool verdict_conclude_told(struct caller *c, const struct request *req, const char *target, struct decision d,
			   struct verdict_answer *ret);
/* Wakes the helper by a connection that asks nothing. */
void ask_kick(const struct supervisor *s);

/* --- claim.c --- */

/* A hook tells of a denial, or asks whether a line may be written: WIRE_DENIED.  The id, or -errno. */
long claim_of_hook(struct caller *c);

/* --- pushes.c --- */

/* Writes how many commits a push brings and takes away; may block for two seconds. */
void pushes_count(struct caller *c, const struct git_push *push, char *buf, size_t size);
/* Where a human let the caller do it: these are the URLs that it pushes to (struct request.aim), or NULL. */
void pushes_open(struct caller *c, const char *aim);
/* True with *d allowed: what no rule names is where a push goes that the caller is or comes of. */
bool pushes_reach(struct caller *c, const struct request *req, struct decision *d);

/* At an exec: the file that is the caller's standard error, if it is one, is a place to talk from now on. */
void tell_begin(struct caller *c);
/* One line on the caller's standard error, once per process and id. */
void tell_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		 const char *why, uint32_t id);
void tell_narrowed(struct caller *c, const struct request *req, const char *target);
void tell_asking(struct caller *c, const struct request *req, const char *target);
/* fd, a terminal of this device number, shows what a program draws: no line is written there. */
bool tell_is_drawn_on(struct caller *c, int fd, dev_t rdev);
/* A helper that cannot look itself is told which program the caller is, where that is news. */
void record_exe(struct caller *c);

#endif
