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
 *
 * Nothing that is read through a caller's pointer is read twice: a handler copies it once into the
 * request that it judges and performs.
 */
#ifndef PALE_SUPERVISOR_H
#define PALE_SUPERVISOR_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "policy/file/resolve.h"
#include "policy/image/image.h"
#include "policy/judge/eval.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#include "tools/git/git_home.h"
#include "tools/wall/confine.h"

/* --- for run.c and agentproc.c: notify.c ------------------------------------------------------------ */

struct supervisor_setup {
	enum level level;
	const struct kernel *kernel;
	const struct image *image;
	struct ring_header *ring;	 /* the session's: claims; here for names and the rename counter */
	int ring_fd;			 /* its memory, for each new process */
	struct ring_header *kernel_ring; /* of the supervisor; no process of the session can reach it */
	const char *session_dir;	 /* runtime directory */
	const char *preload;		 /* path of libpale.so */
	int preload_fd; /* the file at that path when the session began, for each new process */
	int moves_fd;	/* the file that counts and locks the renames of all sessions: moves.h; 0: none */
	const struct floor *floor;
	uint8_t nonce[WIRE_NONCE];
	struct git_home git;
	const char *const *environment; /* of the agent */
	pid_t root;			/* the agent */
	dev_t terminal;			/* the session's own, 0: it has none */
	bool draws;			/* a known agent runs: no line is written to the terminal */
	bool tells_exe; /* the helper runs as another user, and cannot see which programs our processes
			   execute */
};

struct supervisor;
/* Does everything that needs no listener, which need not exist yet.  *setup and what it points to must
 * outlive *ret. 0 or -errno. */
int supervisor_prepare(const struct supervisor_setup *setup, struct supervisor **ret);
/* Takes over the listener and starts serving.  A negative listener is returned as the error.  0, or -errno:
 * then s is freed and the listener is not closed. */
int supervisor_serve(struct supervisor *s, int listener);
/* Both.  0 or -errno. */
int supervisor_start(const struct supervisor_setup *setup, int listener, struct supervisor **ret);
/* Called each 100 ms from the main thread: gives up calls of processes that died, and replaces a leader
 * that is stuck. */
void supervisor_tick(struct supervisor *s);
/* A descriptor that is readable when a caller whose open(2) waits has ended: then supervisor_waiter_gone()
 * must be called.  -1 without s. */
int supervisor_waiters(const struct supervisor *s);
/* Gives up the calls of these callers at once.  From the main thread. */
void supervisor_waiter_gone(struct supervisor *s);
/* The helper reports that image `number` holds in process pid from now on.  0 or -errno. */
int supervisor_narrowed(struct supervisor *s, pid_t pid, uint32_t number);
/*
 * Loads the images that the helper has left beside the current ones, for the session and its nested runs:
 * they judge from the next call on.  0, or -errno and nothing has changed.  *ret_performs: the floor does
 * not hold every rule that keeps something from being read, so each such open is performed here.  From the
 * main thread.
 */
int supervisor_reload(struct supervisor *s, bool *ret_performs);
/* Stops serving: calls that are not answered yet get ENOSYS.  Joins the threads, bounded in time. */
void supervisor_stop(struct supervisor *s);

/* --- answers -------------------------------------------------------------------------------------------- */

/* LATER: the call is handed over, to be answered by the thread that takes it (patience.c). */
enum answer_kind { ANSWER_ERRNO, ANSWER_VALUE, ANSWER_FD, ANSWER_CONTINUE, ANSWER_LATER };

struct caller;
struct waiting; /* a call that waits without a thread of its own: patience.c */

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

/* No errno: the kernel performs the call. */
#define RESULT_CONTINUE (-4096)

static inline struct answer answer_continue(void);

/* r is a system call's result here: >= 0 a value, else -errno, or RESULT_CONTINUE. */
static inline struct answer answer_result(long r)
{
	if (r == RESULT_CONTINUE)
		return answer_continue();
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

/* --- the caller: caller.c --- */

struct worker; /* the thread that serves it: notify.h */
struct proc;   /* what is remembered of the task from one call to the next: notify.h */

/* One carried call, from receipt to answer. */
struct git_at;
struct caller {
	struct supervisor *sup;
	uint64_t id;
	pid_t tid;
	int nr;
	uint64_t arg[6];
	pid_t tgid;	    /* 0: not looked up yet */
	struct image image; /* the image that holds in that process */
	uint32_t image_number;
	bool is_orphan;	  /* every image holds, image_number is 0 */
	bool is_stand_in; /* no call waits: something is done later in the name of a process (asker.h) */
	int err;	  /* its standard error, borrowed, if it may be closed by now; 0: ask the process */
	enum ring_note note; /* for the next record */
	struct worker *worker;
	struct proc *proc;	   /* NULL: not looked up yet */
	struct waiting *resumed;   /* set where the call was served before and has waited, else NULL */
	struct approved *approved; /* what the operator approved of it: record.c; NULL: nothing was asked */
	const struct git_at *at;   /* what is held of the name that is judged now; NULL: nothing */
	bool git_turn;		   /* no other call that affects what git obeys is served now: git.c */
	bool git_late;		   /* written first and judged then, by git_late_rule: git_late.c */
	bool git_late_new;	   /* and the file does not exist yet */
	uint32_t git_late_rule;
	char git_why[256]; /* the reason from git_move() */
};

/* The directory that a name is in, or the object itself where only that is held; -1: not held. */
struct git_at {
	int dir, object;
	bool is_open; /* the call opens it by this name */
	bool is_new;  /* and creates it */
};

/* Approvals under which one call was done: each end of a rename may have its own. */
#define APPROVED_MAX 4
struct approved {
	enum op op;
	char id[APPROVED_MAX][40];
	size_t n;
};

/* What the session was set up with. */
const struct supervisor_setup *session_setup(const struct supervisor *s);
/*
 * Memory of this thread, valid for the length of the call: not cleared, and freed automatically.  NULL when
 * more than CALLER_SCRATCH bytes are used in total, which has room for the longest command line and for
 * what five scripts, one the interpreter of the other, make of it.
 */
#define CALLER_SCRATCH (12u << 20)
void *caller_scratch(struct caller *c, size_t size);

/* Every reading function checks afterwards that the call still waits, so what was read is the caller's
 * own. */

/* Reads len bytes at addr.  0, -EFAULT, -ESRCH (the caller is gone), -EPERM (its memory cannot be read: a
 * program without read permission is not dumpable). */
int caller_read(struct caller *c, uint64_t addr, void *buf, size_t len);
/* Reads a string: its length, -ENAMETOOLONG (not terminated within size), or as caller_read(). */
int caller_string(struct caller *c, uint64_t addr, char *buf, size_t size);
/* Opens its working directory (AT_FDCWD) or its directory descriptor as O_PATH; must be closed.  -EBADF,
 * -ENOTDIR, -ESRCH. */
int caller_dir(struct caller *c, int dirfd);
/* A duplicate of its descriptor (pidfd_getfd, Linux 5.6), which shares the open file; must be closed.
 * -EBADF. */
int caller_fd(struct caller *c, int fd);
pid_t caller_tgid(struct caller *c);
/* /proc/TID held as O_PATH, borrowed for the length of the call: it never becomes the directory of another
 * task.  -errno. */
int caller_proc(struct caller *c);
/* The path of the program that it executes, and the first words of its command line as in
 * /proc/PID/cmdline, with a NUL at the end.  The number of bytes of these words, or -errno. */
int caller_program(struct caller *c, char exe[LIMIT_PATH], char *words, size_t size);
/* Its umask, or -errno. */
int caller_umask(struct caller *c);
/* The device number of its controlling terminal, or 0. */
dev_t caller_tty(struct caller *c);
/* True where the hooks are loaded in the caller: its maps name libpale.so.  This reads /proc, so it is used
 * for denials only. */
bool caller_is_hooked(struct caller *c);
/* True where the caller, or a process that it comes of, has confined itself with Landlock: domain.c. */
bool caller_is_confined(struct caller *c);
/*
 * Asked after the verdict and before an act that Landlock may limit: 0 where the supervisor performs it.  For
 * a caller that is confined: RESULT_CONTINUE, or -EACCES where the floor does not hold what the act may
 * become.
 */
int caller_acts(struct caller *c, bool may_truncate);
/* False where the caller is confined, and such a socket would be connected or bound outside of its domain. */
bool caller_may_reach(struct caller *c, bool is_unix);
/* True while the call waits for its answer. */
bool caller_alive(const struct caller *c);
/* True where pid belongs to the session and, if the caller is in a nested run, to that run: a nested run
 * reaches nothing around it.  An orphan reaches only its descendants. */
bool caller_reaches(struct caller *c, pid_t pid);
/*
 * Finds the image that holds in the caller: the session's, or a nested run's by descent.  In a session with
 * nested images, all of them hold in an orphan whose descent is unknown.  A program that the launcher of a
 * nested run executes is judged by the image around: it is the command that was typed.
 */
void caller_find_image(struct caller *c);

/* What follows may block: passes the lead on.  False where too many calls block already: answer EAGAIN. */
bool caller_may_block(struct caller *c);

/* --- places: place.c -------------------------------------------------------------------------------- */

/*
 * A path from the caller, read once, and later held.  base is the directory that a relative path starts
 * from, held if place_base() was called, else -1; r is the resolved place.  place_done() closes both.
 */
struct place {
	int dirfd; /* the argument: a descriptor number of the caller, or AT_FDCWD */
	int base;
	bool foreign;	      /* a magic link of a process outside the session was found on the way */
	bool crossed;	      /* any magic link was found on the way */
	char raw[LIMIT_PATH]; /* the argument as the caller wrote it */
	struct resolved r;
};

/* Reads the path at addr; nothing is looked up yet.  0 or -errno. */
int place_read(struct place *p, struct caller *c, int dirfd, uint64_t addr);
/* The same for a given text ("/proc/self/fd/N").  0 or -ENAMETOOLONG. */
int place_from(struct place *p, int dirfd, const char *path);
/* Holds the directory that raw starts from.  A descriptor, which place_done() closes; AT_FDCWD where raw is
 * absolute; -EBADF, -ENOTDIR, -ESRCH. */
int place_base(struct place *p, struct caller *c);
/*
 * Resolves the path as the kernel would for the caller: /proc/self means the caller.  Holds the base of a
 * relative path. 0 or -errno; -EACCES with p->foreign set where a magic link of a process outside the
 * session is on the way.
 */
int place_resolve(struct place *p, struct caller *c, enum resolve_follow follow);
/*
 * The lexical absolute path, for the near way: its length, or -errno (`..`, too long, unknown): then
 * place_resolve() is needed.  It is the real path if the kernel opens it with RESOLVE_NO_SYMLINKS.  It
 * means the same as the caller's path while the base is held, or if place_stands() is true afterwards.
 */
int place_lexical(struct place *p, struct caller *c, char *buf, size_t size);
/*
 * Where a lexical path begins with a link that a merged /usr leaves in the root ("/lib/x"), the path
 * without that link, in buf; else lexical itself.
 */
const char *place_unmerged(const char *lexical, char *buf, size_t size);
/* True where the directory that a relative path starts from still has the path that place_lexical() put in
 * front. */
bool place_stands(struct place *p, struct caller *c, const char *lexical);
/* The other spelling of a resolved place, which is judged too; NULL where there is no other, or where it is
 * the spelling of a magic link, which does not tell where that leads. */
const char *place_given(const struct place *p);
/* Releases r, so that the path can be resolved again; place_done() releases everything. */
void place_release(struct place *p);
void place_done(struct place *p);
/* True where the place is on procfs, in the directory of a process that does not belong to the session. */
bool place_is_foreign(const struct place *p, struct caller *c);

/* --- verdicts: verdict.c ---------------------------------------------------------------------------- */

/* The verdict of the caller's image.  Nothing is asked or recorded. */
struct decision verdict_of(struct caller *c, const struct request *req);
/*
 * Acts on a verdict: asks the helper where needed (and passes the lead on), records it as via=kernel, and
 * prints a denial on the caller's stderr.  True: allowed.
 */
bool verdict_conclude(struct caller *c, const struct request *req, const char *target, struct decision d);
/* verdict_of() and verdict_conclude(). */
bool verdict_judge(struct caller *c, const struct request *req, const char *target);
/* Records that the act is allowed by an earlier answer of the operator. */
void verdict_granted(struct caller *c, const struct request *req, const char *target, struct decision d,
		     const char *approval);
/* Records that the act is allowed in a narrower form than requested, and prints that. */
void verdict_narrowed(struct caller *c, const struct request *req, const char *target, struct decision d);
/* Denies for a reason that is not a rule; recorded and printed. */
void verdict_refuse(struct caller *c, const struct request *req, const char *target, enum reason why);
/* The same; detail adds to the reason's text. */
void verdict_refuse_with(struct caller *c, const struct request *req, const char *target, enum reason why,
			 const char *detail);
/* The same for acts that libraries try by themselves and can do without: recorded once per process, never
 * printed. */
void verdict_refuse_once(struct caller *c, const struct request *req, const char *target, enum reason why);
/* True the first time that the process calls this with the same op and target. */
bool verdict_is_first(struct caller *c, enum op op, const char *target);
/* Sets the note for the next record of this caller. */
void verdict_note(struct caller *c, enum ring_note note);
/* Records a process that is seen for the first time, to count the processes with and without hooks. */
void verdict_attach(struct caller *c, const char *exe, enum ring_note note);
/*
 * The kernel's own errors, which come before a denial: -ENOENT, -EEXIST, -ENOTEMPTY...; 0 where the policy
 * decides.
 */
int verdict_earlier(const struct decision *d, const struct request *req, const struct resolved *r);

/* --- the handlers, by calls.def ---------------------------------------------------------------------- */

struct answer carry_exec(struct caller *c);   /* exec.c, exec_verify.c */
struct answer carry_open(struct caller *c);   /* open.c */
struct answer carry_unlink(struct caller *c); /* names.c */
struct answer carry_rename(struct caller *c);
struct answer carry_link(struct caller *c);
struct answer carry_make(struct caller *c);
struct answer carry_truncate(struct caller *c);
struct answer carry_chmod(struct caller *c); /* attrs.c */
struct answer carry_chown(struct caller *c);
struct answer carry_utime(struct caller *c);
struct answer carry_xattr(struct caller *c);
struct answer carry_fileattr(struct caller *c);
struct answer carry_look(struct caller *c);    /* looks.c */
struct answer carry_ioctl(struct caller *c);   /* xattrs.c */
struct answer carry_wander(struct caller *c);  /* rename.c */
struct answer carry_prctl(struct caller *c);   /* descent.c */
struct answer carry_clone(struct caller *c);   /* exec_stands.c */
struct answer carry_ruleset(struct caller *c); /* domain.c */
struct answer carry_restrict(struct caller *c);
struct answer carry_connect(struct caller *c); /* connect.c */
struct answer carry_sendto(struct caller *c);  /* sockets.c */
struct answer carry_bind(struct caller *c);
struct answer carry_listen(struct caller *c);
struct answer carry_socket(struct caller *c); /* line.c */
struct answer carry_socketpair(struct caller *c);
struct answer carry_getsockname(struct caller *c); /* line_ends.c */
struct answer carry_getpeername(struct caller *c);
struct answer carry_getsockopt(struct caller *c); /* line_options.c */
struct answer carry_setsockopt(struct caller *c);
struct answer carry_sendmsg(struct caller *c); /* line_send.c */
struct answer carry_sendmmsg(struct caller *c);
struct answer carry_recvfrom(struct caller *c); /* line_recv.c */
struct answer carry_recvmsg(struct caller *c);
struct answer carry_recvmmsg(struct caller *c);
struct answer carry_schedule(struct caller *c);
struct answer carry_kill(struct caller *c); /* signals.c */
struct answer carry_signal(struct caller *c);
struct answer carry_pidfd_signal(struct caller *c);
struct answer carry_fcntl(struct caller *c);
struct answer carry_ipc_get(struct caller *c); /* sysv.c */
struct answer carry_ipc_use(struct caller *c);
struct answer carry_ipc_control(struct caller *c);

#endif
