/*
 * The process that the preload is in: its session, its files, and system calls without libc.
 *
 * The private contract of the preload.
 *
 * The rules of this world, because it runs inside other people's programs:
 *   - no heap, stdio, locks, getenv, TLS of our own, no public libc name that is hooked: raw
 *     system calls (raw.h), mem* and str*, or the libc functions in struct real;
 *   - a vfork child shares our memory with its parent: nothing that is written here may be wrong
 *     for the parent, and nothing may be held across an exec;
 *   - errno is the program's: hooks set it only to fail;
 *   - before the constructor ran (state BOOT) every hook passes through.
 */
#ifndef PALE_INTERNAL_H
#define PALE_INTERNAL_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <resolv.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wordexp.h>

struct mount_attr;

/* resolv.h renames some of what we hook. */
#undef res_query
#undef res_search
#undef res_nquery
#undef res_nsearch
#undef res_querydomain
#undef res_send
#undef res_nsend

#include "policy/base/buf.h"
#include "policy/base/fileop.h"
#include "policy/file/resolve.h"
#include "policy/judge/eval.h"
#include "policy/wire/ring.h"
#include "raw.h"

#pragma GCC poison malloc calloc realloc free getenv setenv putenv unsetenv strdup strndup asprintf
#pragma GCC poison printf fprintf snprintf sprintf pthread_mutex_lock

/* Paths up to this long are handled on the stack; longer ones take the slow way through scratch memory,
 * so that a hook fits on a small signal stack. */
#define NEAR_PATH 512

#define EXPORT __attribute__((visibility("default")))

/* BOOT: not initialised, pass through.  LIVE: judging.  OFF: not in a session, pass through.
 * BROKEN: in a session whose image or ring cannot be used: everything that needs a verdict is denied. */
enum state { STATE_BOOT, STATE_LIVE, STATE_OFF, STATE_BROKEN };

struct session {
	_Atomic int state;
	struct image img;	 /* as this program found it: level, pass and flags are the same in all */
	const struct image *now; /* by which it is judged: image_now() */
	struct ring_header *ring;
	bool in_valgrind;  /* which knows older kernels only */
	char dir[256];	   /* PALE_SESSION_DIR */
	char env_dir[300]; /* "PALE_SESSION_DIR=..." as put into children */
	uint32_t image;	   /* number of the image that holds here */
	const char *self;  /* path of libpale.so, as the loader keeps it; "" if unknown */
	char exe[1024];	   /* program of this process, "" if unknown */
};
extern struct session session;

/* The state of this process; BOOT where a hook runs before our constructor. */
static inline int state_now(void)
{
	return __atomic_load_n((const int *)&session.state, __ATOMIC_RELAXED);
}

/* True inside a session (LIVE or BROKEN). */
static inline bool in_session(void)
{
	int s = state_now();

	return s == STATE_LIVE || s == STATE_BROKEN;
}

/* What stands behind the hooks; where that cannot be told nothing does. */
static inline enum level level_now(void)
{
	return state_now() == STATE_LIVE ? (enum level)session.img.h->level : LEVEL_HOOKS;
}

/*
 * True where the hook has to judge a call.  At level strict the supervisor alone does: the call goes down
 * with the caller's own words.  (Names to be looked up are no call: they are judged in any session.)
 */
static inline bool judging(void)
{
	return in_session() && level_now() != LEVEL_STRICT;
}

/* The same where nobody judges after us: level hooks. */
static inline bool judging_alone(void)
{
	return in_session() && level_now() == LEVEL_HOOKS;
}

/* --- libc functions that a hook hands on to, resolved once by the constructor (real.c) --------- */

struct real {
#define REAL(name, ret, args) ret(*name) args;
#include "real.def"
#undef REAL
};
extern struct real real;
/* Another preload's object stands between us and libc, and hears of names and owners (next.c). */
extern bool real_interposed;
void real_init(void);

/* --- where is it: sys.c ------------------------------------------------------------------------ */

extern const struct resolve_sys sys_self; /* the resolver's system calls, for this process */
int sys_close(int fd);
/* "/proc/self/fd/N" */
void sys_fd_link(int fd, char *buf, size_t size);
/* Sets up what belongs to this process alone (process.h); called once, by the constructor. */
void process_init(void);
/* The memos of the evaluator, or NULL. */
struct eval_memo *sys_memos(void);
/* The process is the child of a fork and has not recorded anything yet. */
bool sys_pid_is_new(void);
/* pid of this process without a system call in the common case (a page that fork wipes). */
int32_t sys_pid(void);
/* The value of the variable with this name of n bytes, or NULL. */
const char *env_value(char *const envp[], const char *name, size_t n);
/* The image with this number in the session's directory, mapped read-only for good or until munmap.  0 or
 * -errno (image_open). */
int session_image(uint32_t number, struct image *ret);
/*
 * Maps the image that took the old one's place.  NULL where it cannot, where another thread is at it, or
 * where that was so often already that no more old ones shall stay mapped (a thread may still read them).
 * async-signal-safe, vfork-safe.
 */
const struct image *image_renew(void);
/* The image that judges now; one that denies where this session's is broken.  NULL: there is a newer one that
 * we do not have; whoever is behind us does. */
static inline const struct image *image_now(void)
{
	const struct image *img = __atomic_load_n(&session.now, __ATOMIC_ACQUIRE);

	return img->h && image_is_superseded(img) ? image_renew() : img;
}
/* Scratch memory for a slow path: mmap'ed, so that a small signal stack is enough.  NULL on failure. */
void *scratch_get(size_t size);
void scratch_put(void *p, size_t size);
/*
 * The caller's words as they are now, in own: another thread, or whoever shares their memory, may change
 * them between the look and the act.  NULL where they do not fit.
 */
static inline const char *path_own(const char *path, char own[NEAR_PATH])
{
	size_t n = strlen(path);

	if (n >= NEAR_PATH)
		return NULL;
	memcpy(own, path, n);
	own[n] = '\0';
	return own;
}
/*
 * Lexical absolute path of (dirfd, path) in buf: exact where no component is a symbolic link.
 * The directory is asked of the kernel (getcwd), or remembered and proven by the session's counts of
 * renames and changed working directories, a descriptor's by statx too.  Length or -errno.
 */
int sys_lexical(int dirfd, const char *path, char *buf, size_t size);
/*
 * Opens the plain file that a program's path names, through the gate; near gets its real path, proven by
 * the open.  A descriptor; -ENOENT and -ENOTDIR are the kernel's; any other -errno: no more is known.
 * async-signal-safe, vfork-safe.
 */
int sys_open_real(int dirfd, const char *path, unsigned flags, char near[NEAR_PATH]);
/* No other thread was ever started, as far as glibc tells. */
bool sys_is_alone(void);
/*
 * chdir or fchdir (nr), counted, so that a remembered path of a working directory ends.  The kernel's
 * result.  async-signal-safe, vfork-safe.
 */
long sys_wander(long nr, long where);
/*
 * Around a rename, likewise.  begun is what sys_move_begin() returned; from and to are the real paths
 * of both ends, or NULL where they are not known: where our working directory is below neither, its
 * path stays true.
 */
uint64_t sys_move_begin(void);
void sys_move_end(uint64_t begun, bool done, const char *from, const char *to);
/* Ours is glibc.  Under another libc (musl) the preload stays in state BOOT. */
bool sys_libc_is_known(void);
/*
 * The directory that a relative path starts at, held: a thread, a child that shares its parent's directories
 * or descriptors (clone(2), CLONE_FS, CLONE_FILES), or the handler of a signal may change it between the look
 * and the act.  dirfd itself where the path is absolute or it cannot be held; anything else is the caller's
 * to close.
 */
int sys_anchor(int dirfd, const char *path);
/*
 * The same for the near way: path itself where it is lexical already, else buf, NULL where it
 * does not fit, cannot be told, or goes through `..`, which only a walk can follow (a directory
 * may move while the kernel goes up).
 */
const char *sys_near(int dirfd, const char *path, char *buf, size_t size);
/*
 * The near way's verdict on req, made of (dirfd, path): true where it allows; req->path is then where
 * the path leads, in buf (NEAR_PATH bytes) or path itself.
 */
bool near_allows(struct request *req, int dirfd, const char *path, char *buf, struct decision *ret);

/* --- may it: check.c --------------------------------------------------------------------------- */

/*
 * A judged place to act on: *at(dirfd, name).  name points into own, near or the scratch memory that
 * spot_done() gives back, so nobody changes it in between.  Large: what need not be cleared is not
 * (UNINITIALIZED).
 */
struct spot {
	int dirfd;
	bool owned;
	bool anchored;
	int anchor; /* sys_anchor()'s, held until the act is done */
	bool magic; /* the last component is a /proc magic link: follow it, do not O_NOFOLLOW */
	const char *name;
	const char *whole; /* the near way's judged path, of which name is the tail */
	struct resolved *scratch;
	/* What is allowed there, and recorded from the check to spot_done(); NULL: nothing. */
	const char *target;
	struct ring_hold hold;
	char own[NEAR_PATH]; /* the caller's path as it was when it was judged */
	char near[NEAR_PATH];
};

/* Which processes are the session's, as far as a hook can tell.  NULL where a supervisor knows it better. */
const struct pids *pids_judged(void);

/* What a check says besides -errno. */
enum {
	CHECK_ACT,   /* allowed: act on what was judged */
	CHECK_PLAIN, /* not denied here: make the plain call with the caller's own words */
};

/*
 * Judges op on (dirfd, path).  CHECK_ACT: allowed, *ret is where to act; -errno: denied (-EACCES,
 * said and recorded) or does not resolve.  CHECK_PLAIN: outside a session, where there is nothing to
 * judge, and at level full what is asked, what cannot be held, and what Landlock does not bound
 * and so may not pass the gate.  follow says whether the operation would follow a last symbolic link.
 */
int check_path(struct spot *ret, enum op op, int dirfd, const char *path, enum resolve_follow follow);
/* The last component of path where it is an ordinary name, else NULL ("", "x/", ".", "a/.."). */
const char *plain_last(const char *path);
/* st_mode of what lies there, 0 where nothing does.  A last symbolic link is not followed. */
unsigned mode_of(int dirfd, const char *name);

/*
 * The second place of a call with two, an entry: as check_access, but where it lies in the very
 * directory that the first spot holds, nothing is held anew.  *first must outlive *ret.
 */
int check_beside(struct spot *ret, const struct spot *first, enum op op, unsigned access, int dirfd,
		 const char *path);
/* As check_path, with the access told (open: read, write or both). */
int check_access(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		 enum resolve_follow follow);
/* Gives back what a check holds, after -errno too, and records what it allowed. */
void spot_done(struct spot *s);
/* The act on a judged place is done with r: that, or CHECK_PLAIN where the gate refused it. */
long spot_did(struct spot *s, long r);
/* Judges what is then done with the caller's own words, past the gate: 0 or -errno.  Whoever is below
 * records it; at level hooks nobody is. */
int check_only(enum op op, unsigned access, int dirfd, const char *path, enum resolve_follow follow);

/*
 * One call on one name, from judgement to record.  nr is the *at call, word what it has behind
 * (dirfd, path) (symlinkat: its target first).
 */
struct name_call {
	enum op op;
	enum resolve_follow follow;
	int dirfd;
	const char *path;
	long nr;
	long word[3];
	/* Acts where the system call is not the way, NULL where it is. */
	long (*act)(const struct name_call *c, int dirfd, const char *name);
};
/* The kernel's result, -errno on failure. */
long name_call(const struct name_call *c);

/*
 * What follows from the verdict on a request.  CHECK_ACT: allowed, to be recorded when it is done;
 * CHECK_RECORDED: allowed by a human, recorded; CHECK_PLAIN: left to the supervisor; -EACCES: denied,
 * recorded and said.
 */
#define CHECK_RECORDED 2
struct decision verdict_of(const struct request *req);
int conclude(const struct request *req, const char *target, const struct decision *verdict);

/* Opening it anew gives what the process has: what has no name belongs to nobody else. */
bool check_is_own(const struct resolved *r, unsigned access);

/* The whole of open: judged, held, done.  fd or -errno. */
int check_open(int dirfd, const char *path, int flags, unsigned mode);

/*
 * Judges a finished canonical request: evaluates, asks the helper where the verdict is ask,
 * records, and on denial says so on stderr.  target is what people read (path, argv line,
 * host:port).  True = go on.  At level full that means: make the plain call, with the caller's own
 * words; the supervisor asks, performs and records it, so only a denial ends here.  (But for a
 * look-up of a name, which is no call.)  async-signal-safe, vfork-safe, errno kept.
 */
bool judge(const struct request *req, const char *target);
/* Judged already (by the caller, with reason): records and says a denial, with why in words where not "". */
void refuse(const struct request *req, const char *target, struct decision d, const char *why);

/* --- write it down, say it, ask: log*.c, say.c, ask*.c ------------------------------------------- */

void log_decision(const struct request *req, const char *target, const struct decision *d,
		  const char *approval);
/* The id under which it is recorded, 0: none.  *is_quiet is set where nothing is to be said of it now. */
uint32_t log_denied(const struct request *req, const char *target, const struct decision *d,
		    const char *approval, const char *why, bool *is_quiet);
/* The same around an act, which ring_end() completes: who is killed in it has told what was decided. */
void log_begin(const struct request *req, const char *target, const struct decision *d, const char *approval,
	       struct ring_hold *ret);
/* Of this very moment, as log_begin(). */
void log_record(struct ring_record *rec, struct ring_hold *ret);
/* attach.c: the hooks are in this process. */
void log_attach(void);
/* Remembers what stderr is; called once, by the constructor. */
void say_init(void);
/* A line of its own, where a denial would be said. */
void say_text(const char *text);
/* Records it and says it: one stderr line, once per rule and target in this process (always for exec).  why
 * is what a human answered, or more of the reason. */
void deny(const struct request *req, const char *target, const struct decision *d, const char *approval,
	  const char *why);

/* Tells the agent that a human is being asked. */
void say_asking(const struct request *req, const char *target);

struct answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};
/* Asks the helper and waits, of which the agent is told.  An unreachable helper denies (REASON_NOBODY). */
void ask_helper(const struct request *req, const char *target, uint32_t rule, struct answer *ret);
/* A connection to the helper, or -errno.  The caller must close it. */
int ask_connect(void);
/* The descriptor of the ring, where no supervisor hands it out; or -errno.  For the constructor. */
long ask_ring(void);
/* Wakes the helper by a connection that asks nothing. */
void ask_kick(void);

/* --- the child's environment: envp.c ----------------------------------------------------------- */

/* Memory for one exec: on the caller's stack, mmap'ed where that does not suffice. */
struct env_arena {
	char *fixed[512];
	char text[LIMIT_PATH + 512];
	char image[32];
	void *map;
	size_t map_size;
};
/* envp holds the preload first, our session and our image: nothing to repair. */
bool env_is_intact(char *const envp[]);
/*
 * envp with LD_PRELOAD starting with our object (other entries kept behind it), our session
 * directory and our image, or one inside ours where it names such a one.  envp itself is never modified: a
 * vfork child shares it with its parent.  Returns envp where it is intact, a vector valid until env_done() or
 * exec else, NULL when out of memory. async-signal-safe, vfork-safe.
 */
char **env_repair(struct env_arena *arena, char *const envp[]);
void env_done(struct env_arena *arena);

/* --- prototypes of all hooks, so that the definitions are checked against the table ------------ */

static inline int fail(long neg_errno)
{
	errno = (int)-neg_errno;
	return -1;
}

/* A raw result as libc gives it: -1 and errno, or the value. */
static inline long libc_result(long r)
{
	if (r < 0 && r > -4096)
		return fail(r);
	return r;
}

#endif
