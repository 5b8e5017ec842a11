/*
 * The internals of the supervisor: threads, the slots of the calls they serve, and what is remembered of
 * the tasks that call.
 *
 * A worker is a thread and its slot: it serves one call at a time.  Exactly one worker is the leader
 * and waits for the next call.  The slot's state decides who answers:
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
#define BLOCKED_MAX 64 /* of them, those that wait for something outside */
#define IDLE_KEPT   2
#define LEADER_NONE (-1)

/* Interrupts a system call in which a worker blocks; not used for anything else. */
#define SIGNAL_GIVE_UP (SIGRTMIN + 3)

enum slot_state { SLOT_IDLE, SLOT_SERVING, SLOT_HELD, SLOT_ANSWERED };

#define RESPONSE_MAX 256 /* bytes of the kernel's struct seccomp_notif_resp */

#define PIDFD_LATER (-2) /* it can be opened, and no call has needed it yet */

/* What is remembered of a task, from one of its calls to the next. */
struct proc {
	pid_t tid, tgid; /* tid 0: unused */
	int pidfd; /* of exactly this task; -1: not available (a thread before Linux 6.9); PIDFD_LATER */
	int dir;   /* /proc/TID, -1: not opened yet */
	uint64_t proven;   /* the tick in which it was last seen alive */
	uint64_t used;	   /* the least recently used entry is replaced first */
	unsigned users;	   /* calls that hold it */
	uint32_t image;	   /* number of the image */
	unsigned image_of; /* sup->tag_changes when the image was found, plus 1; 0: never found */
	bool is_orphan;
	bool is_proven; /* its program is the one that was judged: exec_unproven.c */
};

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
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *resp;
	uint8_t *scratch;
	size_t scratch_used;
	struct proc own; /* for a task that has no entry in sup->procs */
	struct eval_memo memos[MEMO_WAYS];
};

/* A nested run: its first process, with the start time, since a pid is used again. */
struct tag {
	pid_t pid;
	uint64_t start;
	uint32_t image;
	uint32_t around; /* the image that held before */
	int launcher;	 /* its /proc/PID/environ; -1 once it is known to have executed another program */
};
#define TAGS_MAX     256
#define ADOPTERS_MAX 64

#define PROCS_MAX  128
#define PROCS_WAYS 8u

/* A socket file that the session bound, or an entry of /dev/shm that it made: made.c.  When the table is
 * full, the oldest is forgotten. */
#define MADE_MAX 8192
struct made {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns;
};

/* Whether the floor still holds every rule that keeps something from being read: gaps.c. */
struct gaps {
	pthread_mutex_t lock;
	int fd;			 /* inotify(7), -1: nothing to watch */
	int *wd;		 /* one watch for each gap */
	bool armed;		 /* the gaps are watched */
	_Atomic unsigned spared; /* opens that were performed and asked no question (open_pass.c) */
	_Atomic bool open;	 /* the floor does not hold these rules any more */
	_Atomic bool lacks;	 /* nor does it hold those of the policy loaded last (policies.c) */
};

/* Calls that wait for a connection or for data, and the thread that waits for them: waiting.c. */
#define WAITING_MAX   2048 /* at once; a call beyond that gets EAGAIN */
#define WAITING_SHARE 4	   /* of limit_by_files(): fewer where descriptors are few */
struct lobby {
	pthread_mutex_t lock;
	pthread_t thread;
	bool runs, stopping;	 /* under lock */
	int bell, ready;	 /* eventfd(2), epoll(7); -1: not available */
	struct waiting *inbox;	 /* under lock: handed over, not yet seen by the thread */
	struct waiting *all;	 /* used by the thread only */
	_Atomic unsigned n;	 /* the number of calls in both lists */
	_Atomic unsigned trying; /* odd while the thread is in a connect(2) that must not wait */
	unsigned tried;		 /* used by lobby_tick() only: the last value of trying */
};

/* A System V object that the session made: sysv.c. */
#define IPC_MAX	       1024
#define IPC_OF_ORPHANS UINT32_MAX
enum ipc_kind { IPC_SHM, IPC_SEM, IPC_MSG, IPC_KINDS };
struct ipc_object {
	int id;
	int key; /* the key inside the session; IPC_PRIVATE: no key, or removed */
	enum ipc_kind kind;
	uint32_t image; /* of the process that made it */
	bool removed;	/* a segment that exists while it is still attached */
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
	_Atomic unsigned tag_changes; /* 0: no process has another image than the session's */
	struct image nested[WIRE_IMAGE_MAX + 1];

	_Atomic(const struct image *) image; /* the session's image since it was reloaded, or NULL */
	struct kept_image *kept;	     /* under tags_lock: that image and the earlier ones */

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
	_Atomic uint64_t told[SAID_MAX]; /* by pid: the program that was last reported to the helper */
	_Atomic unsigned domains; /* what Landlock limits for programs that confined themselves: domain.c */
	_Atomic uint64_t ring_stuck;	      /* the ring's tail plus 1 at the last wait in vain */
	_Atomic uint64_t err_files[SAID_MAX]; /* marks of files that were standard error at an exec */
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

/* The number of objects, each holding a few descriptors, that may exist at once: `most`, or one for each
 * `share` descriptors of the supervisor's limit where that is less, so that calls find enough of them. */
unsigned limit_by_files(unsigned most, unsigned share);

/* --- dispatch.c --- */

typedef struct answer (*carry_fn)(struct caller *c);
/* Must be called once, before the first dispatch_find(). */
void dispatch_init(void);
/* The handler of system call nr, or NULL. */
carry_fn dispatch_find(int nr);

/* --- patience.c --- */

/* Errors internal to the kernel, which a process never sees: the kernel restarts the call, or returns EINTR,
 * as sigaction(2) says; or it restarts the call in every case. */
#define ERESTARTSYS    512
#define ERESTARTNOINTR 513

void lobby_init(struct supervisor *s);
/* From the main thread: interrupts a try that waits because the caller has made the socket blocking. */
void lobby_tick(struct supervisor *s);
/* Ends the thread; calls that still wait get no answer. */
void lobby_stop(struct supervisor *s);
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

/* --- workers.c --- */

/* What the threads do; given by the module that starts them. */
struct work {
	/* Receives and serves one call; -errno where no more calls will come. */
	int (*serve)(struct worker *w);
	/* Serves a call that was received before, and consumes v. */
	void (*resume)(struct worker *w, struct waiting *v);
	/* Answers such a call with EIO without serving it, and consumes v. */
	void (*abandon)(struct supervisor *s, struct waiting *v);
};

/* Makes the first leader.  0 or -errno. */
int workers_start(struct supervisor *s, const struct work *work);
/* Makes another worker the leader in place of `index` (or LEADER_NONE).  False where no worker is
 * available. */
bool workers_replace(struct supervisor *s, int index);
/* A worker that waits for nothing else serves w's call again, and consumes w.  False: no such worker. */
bool workers_resume(struct supervisor *s, struct waiting *w);
/* w's call is over. */
void workers_unblock(struct worker *w);
/* Ends the threads and joins them, bounded in time.  Returns the number that did not end. */
size_t workers_stop(struct supervisor *s);
/* Holds w's slot if it is in state `from`: the slot does not change while `act` runs, which returns the
 * next state. */
void worker_hold(struct worker *w, enum slot_state from, enum slot_state (*act)(struct worker *w));
/* Moves w's slot to another state, and waits while it is held; false where it is not in state `from`. */
bool worker_move(struct worker *w, enum slot_state from, enum slot_state to);

/* --- waiters.c --- */

/* True where the call that w serves needs no answer: its caller is gone, or has a signal that ends its
 * open(2).  w is held. */
bool worker_is_given_up(const struct worker *w);
/* Makes workers whose caller is gone leave their open(2), and waits for that, bounded in time; not worker
 * `but` (NULL: all), and not one that a dead file system holds. */
void waiters_leave(struct supervisor *s, const struct worker *but);
/* Called before and after an open(2) that waits.  False: too many wait already. */
bool waiter_begin(struct caller *c);
void waiter_end(struct caller *c);
/* After an interruption: true where the caller gives no reason for it, so that the open must be
 * repeated. */
bool waiter_stays(struct caller *c);

/* --- procs.c --- */

void proc_init(struct proc *p);

/* What is remembered of the caller's task, verified to be that task; held until proc_put().  NULL: the task
 * is gone. */
struct proc *proc_get(struct caller *c);
void proc_put(struct caller *c);
/* For an entry outside the table: releases what it held and sets it up for process tgid, with nothing
 * looked up yet. */
void proc_renew(struct proc *p, pid_t tgid);
/* A pidfd of the caller, owned by the supervisor.  -ENOENT: not available; -ESRCH: the caller is gone. */
int proc_pidfd(struct caller *c);
/* Looks the task up again, after the entry turned out to be of a task that is gone.  NULL: the caller is
 * gone too. */
struct proc *proc_again(struct caller *c);
void procs_done(struct supervisor *s);

/* --- descent.c --- */

/* True where pid is or was a subreaper: orphans among its descendants become its children. */
bool supervisor_adopts(struct supervisor *s, pid_t pid);
void descent_done(struct supervisor *s);

/* --- exec_unproven.c --- */

int unproven_new(struct supervisor *s);
void unproven_done(struct supervisor *s);
/* 0: the program that runs in the caller is the one that was judged.  -EPERM: the process was killed;
 * -ESRCH: it is gone; -EAGAIN. */
int exec_proven(struct caller *c);
/* From the main thread: settles the notes of processes that have finished their exec and make no call. */
void exec_tick(struct supervisor *s);

/* --- gaps.c --- */

/* Prepares to watch the gaps of the floor, which begins at the first gaps_hold().  A gap that cannot be
 * watched counts as open. */
void gaps_start(struct supervisor *s);
/* True where the floor now holds every rule of the session's own image that keeps something from being
 * read. */
bool gaps_hold(struct supervisor *s);
void gaps_done(struct supervisor *s);

/* --- sysv.c --- */

/* Removes the objects that the session made and left.  No call is served any more. */
void ipc_done(struct supervisor *s);

/* --- record.c, ask.c, tell.c --- */

/*
 * Records an act on req->path that is allowed and begins now: the record is read even where this process is
 * killed before ring_end(), which the caller must call.
 */
void record_act(struct caller *c, const struct request *req, const struct decision *d, struct ring_hold *ret);
void record_decision(struct caller *c, const struct request *req, const char *target,
		     const struct decision *d, const char *approval);
/* A denial, with the reason `why` beside the rule: recorded, and reported to the process under the record's
 * id. */
void record_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		   const char *approval, const char *why);
/* Records a denial that the caller's hooks report (claim.c).  The id of the record, or 0: it was not
 * written. */
uint32_t record_claim(struct caller *c, struct ring_record *rec);

/*
 * The outcome of the call: a record for each approval under which it was done.  result is 0, an errno or
 * RING_HANDED_ON.  Called once, when the call is answered.
 */
void record_outcome(struct caller *c, uint32_t result);
/* The same for a call whose caller is not available any more. */
void record_approved(struct supervisor *s, const struct approved *a, pid_t tgid, uint32_t result);

/* The operator's answer. */
struct verdict_answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};
/* Asks the helper in the caller's name, tells the caller that it waits, and waits.  Blocks: the lead must
 * have been passed on. */
void ask_helper(struct caller *c, const struct request *req, const char *target, uint32_t rule,
		struct verdict_answer *ret);
/* As verdict_conclude(), but prints nothing of the operator's answer: the caller must. */
bool verdict_conclude_told(struct caller *c, const struct request *req, const char *target, struct decision d,
			   struct verdict_answer *ret);
/* Wakes the helper by a connection that carries no question. */
void ask_kick(const struct supervisor *s);

/* --- claim.c --- */

/* A hook reports a denial, or asks whether a line may be written: WIRE_DENIED.  The id, or -errno. */
long claim_of_hook(struct caller *c);

/* --- pushes.c --- */

/* Writes how many commits a push adds and removes; may block for two seconds. */
void pushes_count(struct caller *c, const struct git_push *push, char *buf, size_t size);
/* After the operator allowed the push: aim has the URLs that it pushes to (struct request.aim), or is
 * NULL. */
void pushes_open(struct caller *c, const char *aim);
/* True with *d allowed: what no rule names is where a push goes that the caller is or comes of. */
bool pushes_reach(struct caller *c, const struct request *req, struct decision *d);

/* At an exec: if the caller's standard error is a file, lines may be written to that file from now on. */
void tell_begin(struct caller *c);
/* One line on the caller's standard error, once per process and id. */
void tell_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		 const char *why, uint32_t id);
void tell_narrowed(struct caller *c, const struct request *req, const char *target);
void tell_asking(struct caller *c, const struct request *req, const char *target);
/* fd is a terminal, with device number rdev, on which a program draws its screen: no line is written
 * there. */
bool tell_is_drawn_on(struct caller *c, int fd, dev_t rdev);
/* Tells a helper that cannot look itself which program the caller runs, where that has changed. */
void record_exe(struct caller *c);

#endif
