/*
 * The supervisor: performs, after judging them by the session's own policy image, the system calls
 * that did not come through the hooks.
 *
 *   notify    the loop: receive, dispatch by calls.def, answer once; threads and the watchdog
 *   caller    the process that asks: its memory, directories, descriptors, umask, image
 *   place     from its (dirfd, path) to a held place, by the one resolver
 *   verdict   judge, ask, record, say
 *   open files entries exec net connect datagrams ipc git   one room for each family of calls
 *
 * Threads: one thread, the leader, waits for notifications and serves each to its end.  Before it
 * does what may block (a FIFO, a connect, a question to a human) it passes the lead on by
 * caller_may_block(), so somebody else receives while it waits.  What blocks without being expected to
 * (a slow file system) is seen by supervisor_tick(), which makes a new leader.
 *
 * One answer: a handler *returns* its answer and the loop alone sends it, so no path through a
 * handler can answer twice or not at all.  A call whose caller died is given up: the tick interrupts
 * the thread that serves it (EINTR).  A connect(2) that waits for a network is handed over to the one
 * thread that waits for all of them, and is that thread's to answer from then on.
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
	struct ring_header *kernel_ring; /* the supervisor's own, which no process of the session can reach */
	const char *session_dir;	 /* runtime directory */
	const char *preload;		 /* path of libpale.so */
	int preload_fd;			 /* what stood there as the session began, for each new process */
	int moves_fd; /* the file that counts and locks the renames of all sessions: moves.h; 0: none */
	const struct floor *floor;
	uint8_t nonce[WIRE_NONCE];
	struct git_home git;
	const char *const *environment; /* of the agent */
	pid_t root;			/* the agent */
	dev_t terminal;			/* the session's own, 0: it has none */
	bool draws;			/* a known agent: nothing is said there */
	bool tells_exe; /* the helper is another user, who cannot look at our processes' programs */
};

struct supervisor;
/* All that needs no listener, which may not be there yet.  setup's pointers outlive it.  0 or -errno. */
int supervisor_prepare(const struct supervisor_setup *setup, struct supervisor **ret);
/* Takes over the listener and starts serving.  0, or -errno and s is gone, the listener is not; -errno in the
 * listener's place is handed back so. */
int supervisor_serve(struct supervisor *s, int listener);
/* Both.  0 or -errno. */
int supervisor_start(const struct supervisor_setup *setup, int listener, struct supervisor **ret);
/* Each 100 ms, from the main thread: gives up calls of the dead, replaces a leader that is stuck. */
void supervisor_tick(struct supervisor *s);
/* Readable when somebody who waits in an open(2) has ended: then supervisor_waiter_gone().  -1 without s. */
int supervisor_waiters(const struct supervisor *s);
/* Gives up the calls of those at once.  From the main thread. */
void supervisor_waiter_gone(struct supervisor *s);
/* The helper says that process pid lives under image `number` from now on.  0 or -errno. */
int supervisor_narrowed(struct supervisor *s, pid_t pid, uint32_t number);
/*
 * The helper has left images for the session and its nested runs beside those that hold: they judge from
 * the next call on.  0, or -errno and all stays as it was; *ret_performs: the floor does not hold all that is
 * kept from being read, so that each such open is performed.  From the main thread.
 */
int supervisor_reload(struct supervisor *s, bool *ret_performs);
/* Stops serving: what is still asked gets ENOSYS.  Joins the threads, bounded. */
void supervisor_stop(struct supervisor *s);

/* --- answers -------------------------------------------------------------------------------------------- */

/* LATER: the call is handed over, and whoever it is handed to answers it (patience.c). */
enum answer_kind { ANSWER_ERRNO, ANSWER_VALUE, ANSWER_FD, ANSWER_CONTINUE, ANSWER_LATER };

struct caller;
struct waiting; /* a call that nobody's thread waits for: patience.c */

/* Zeroed it is an error without a number, which the loop sends as EPERM. */
struct answer {
	enum answer_kind kind;
	int error;		 /* ERRNO: positive */
	long value;		 /* VALUE */
	int fd;			 /* FD: injected, then closed by the loop */
	bool cloexec;		 /* FD */
	struct waiting *waiting; /* LATER: the loop's to hand over, or to drop */
	/* Called by the same thread right after the answer was sent, by it or by the watchdog, or NULL; the
	 * call waits no more. */
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

/* The kernel performs it: only where the verdict stands on registers, or where the floor holds the same
 * bound. */
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
	struct image image; /* what holds in that process */
	uint32_t image_number;
	bool is_orphan;	     /* every image holds, image_number is 0 */
	bool is_stand_in;    /* no call waits: what is done in a process's name later (asker.h) */
	int err;	     /* its standard error, borrowed, where it may be gone by now; 0: look there */
	enum ring_note note; /* of the next record */
	struct worker *worker;
	struct proc *proc;	   /* NULL: not looked up yet */
	struct waiting *resumed;   /* it was served before, and has waited since; else NULL */
	struct approved *approved; /* what a human approved of it: record.c; NULL: nothing was asked */
	const struct git_at *at;   /* what is held of the name that is being judged; NULL: nothing */
	bool git_turn;		   /* no other call is served that bears on what git obeys: git.c */
	bool git_late;		   /* it is written first and judged then, by git_late_rule: git_late.c */
	bool git_late_new;	   /* and is not there yet */
	uint32_t git_late_rule;
	char git_why[256]; /* git_move()'s reason */
};

/* The directory that a name is in, or where only that is held, the object itself; -1: not held. */
struct git_at {
	int dir, object;
	bool is_open; /* it is opened, by this name */
	bool is_new;  /* and made by that */
};

/* Approvals that one call was done under: both ends of a rename have their own. */
#define APPROVED_MAX 4
struct approved {
	enum op op;
	char id[APPROVED_MAX][40];
	size_t n;
};

/* What the session was set up with. */
const struct supervisor_setup *session_setup(const struct supervisor *s);
/*
 * Memory for the length of the call, of this thread: not cleared, given back by itself.  NULL beyond
 * CALLER_SCRATCH in all, which has room for the longest command line and for what five scripts, one
 * the interpreter of the other, make of it.
 */
#define CALLER_SCRATCH (10u << 20)
void *caller_scratch(struct caller *c, size_t size);

/* Every reading function checks afterwards that the call still waits: what it read is the caller's own. */

/* len bytes at addr.  0, -EFAULT, -ESRCH (it is gone), -EPERM (not to be read: a program without read
 * permission is not dumpable). */
int caller_read(struct caller *c, uint64_t addr, void *buf, size_t len);
/* A string: its length, -ENAMETOOLONG (not terminated within size), or as caller_read(). */
int caller_string(struct caller *c, uint64_t addr, char *buf, size_t size);
/* Its working directory (AT_FDCWD) or directory descriptor, O_PATH; the caller of this closes it.  -EBADF,
 * -ENOTDIR, -ESRCH. */
int caller_dir(struct caller *c, int dirfd);
/* A duplicate of its descriptor (pidfd_getfd, Linux 5.6): the same open file.  -EBADF. */
int caller_fd(struct caller *c, int fd);
pid_t caller_tgid(struct caller *c);
/* /proc/TID held O_PATH, borrowed for the length of the call: it never becomes another task's.  -errno. */
int caller_proc(struct caller *c);
/* The path of the file that it executes, and the first words of its command line as /proc/PID/cmdline has
 * them, with a NUL behind.  How many bytes these are, or -errno. */
int caller_program(struct caller *c, char exe[LIMIT_PATH], char *words, size_t size);
/* Its umask, -errno. */
int caller_umask(struct caller *c);
/* Its controlling terminal's device number, 0 where it has none. */
dev_t caller_tty(struct caller *c);
/* The hooks are loaded in it: its maps name libpale.so.  Costs a look: only for what is denied. */
bool caller_is_hooked(struct caller *c);
/* The call still waits. */
bool caller_alive(const struct caller *c);
/* session_has_pid(pid), and where the caller is in a nested run, so is pid: what that starts reaches nothing
 * around it. Of an orphan only its descendants do. */
bool caller_reaches(struct caller *c, pid_t pid);
/*
 * Finds the image that holds in the caller: the session's, or a nested run's by descent.  An orphan of
 * whom nobody knows where it comes from, in a session that has nested images, is held by each of them.
 * What a nested run's launcher executes is judged by the image around: it is the typed command.
 */
void caller_find_image(struct caller *c);

/* What follows may block: the lead is passed on.  False where too many do already: answer EAGAIN. */
bool caller_may_block(struct caller *c);

/* --- where: place.c --- */

/*
 * A path of the caller's, read once, and later held.  base is the directory a relative path starts
 * from, held where somebody needed it (place_base()), else -1; r the place.  Both closed by place_done().
 */
struct place {
	int dirfd; /* the argument, a number of the caller's */
	int base;
	bool foreign;	      /* the walk came to a magic link of a process that is none of the session's */
	bool crossed;	      /* it came to a magic link at all */
	char raw[LIMIT_PATH]; /* the argument to the letter */
	struct resolved r;
};

/* Reads the path at addr; nothing is looked up yet.  0 or -errno. */
int place_read(struct place *p, struct caller *c, int dirfd, uint64_t addr);
/* The same for a text that is known ("/proc/self/fd/N").  0 or -ENAMETOOLONG. */
int place_from(struct place *p, int dirfd, const char *path);
/* Holds the directory that raw starts from: a descriptor that place_done() closes, AT_FDCWD where raw is
 * absolute, -EBADF, -ENOTDIR, -ESRCH. */
int place_base(struct place *p, struct caller *c);
/*
 * Resolves it as the caller would: /proc/self is its own.  A relative path's base is held from then on.
 * 0 or -errno; -EACCES and foreign where a magic link of a foreign process is on the way.
 */
int place_resolve(struct place *p, struct caller *c, enum resolve_follow follow);
/*
 * The lexical absolute path, for the near way: its length, or -errno (`..`, too long, unknown): then
 * resolve.  It is the real one where the kernel walks it with RESOLVE_NO_SYMLINKS, and means what the
 * caller's words mean while its base is held or place_stands().
 */
int place_lexical(struct place *p, struct caller *c, char *buf, size_t size);
/*
 * Where a lexical path begins with a link that a merged /usr leaves in the root ("/lib/x"), what it is
 * called behind that, in buf; else itself.
 */
const char *place_unmerged(const char *lexical, char *buf, size_t size);
/* The directory that a relative path starts from is still called what place_lexical() put in front. */
bool place_stands(struct place *p, struct caller *c, const char *lexical);
/* The other spelling of a resolved place that is judged too, NULL where there is none, or where it says
 * nothing of what a magic link leads to. */
const char *place_given(const struct place *p);
/* Lets r go, to resolve anew; place_done() lets go of all. */
void place_release(struct place *p);
void place_done(struct place *p);
/* The place lies on procfs in the directory of a process that is none of the session's. */
bool place_is_foreign(const struct place *p, struct caller *c);

/* --- may it: verdict.c ------------------------------------------------------------------------------- */

/* The caller's image's verdict.  Nothing is asked or recorded. */
struct decision verdict_of(struct caller *c, const struct request *req);
/*
 * What follows from a verdict: the helper is asked (the lead is passed on), it is recorded as via=kernel,
 * a denial is said on the caller's stderr.  True = allowed.
 */
bool verdict_conclude(struct caller *c, const struct request *req, const char *target, struct decision d);
/* Both. */
bool verdict_judge(struct caller *c, const struct request *req, const char *target);
/* Allowed, by what a human has said before; recorded. */
void verdict_granted(struct caller *c, const struct request *req, const char *target, struct decision d,
		     const char *approval);
/* Allowed, but as something smaller than was asked for: recorded and said. */
void verdict_narrowed(struct caller *c, const struct request *req, const char *target, struct decision d);
/* Denied for a reason that is no rule; recorded and said. */
void verdict_refuse(struct caller *c, const struct request *req, const char *target, enum reason why);
/* The same for what libraries try by themselves and do without: recorded once a process, never said. */
void verdict_refuse_once(struct caller *c, const struct request *req, const char *target, enum reason why);
/* True the first time that the process is asked about with these. */
bool verdict_is_first(struct caller *c, enum op op, const char *target);
/* A note for the record that is written next for this caller. */
void verdict_note(struct caller *c, enum ring_note note);
/* A process seen for the first time, for the count of who is hooked and who is not. */
void verdict_attach(struct caller *c, const char *exe, enum ring_note note);
/*
 * The kernel's own answers come before a denial: -ENOENT, -EEXIST, -ENOTEMPTY..., 0 where it is up to
 * the policy.
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
