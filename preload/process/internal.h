/*
 * The process that the preload is in: its session, its files, and system calls without libc.
 *
 * This header is private to the preload.  The preload runs inside other programs, so these rules hold:
 *   - It uses no heap, stdio, locks, getenv or thread-local storage, and no public libc name that is
 *     hooked.  It uses raw system calls (raw.h), mem* and str* of its own (string.c), and the libc functions
 *     in struct real.
 *   - A vfork child shares its memory with its parent: what is written here must be right for the parent
 *     too, and nothing may be held across an exec.
 *   - errno belongs to the program: a hook sets it only when it fails.
 *   - Before the constructor has run (state BOOT) every hook passes through.
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

struct dl_phdr_info;
struct mount_attr;

/* resolv.h renames some of the functions that are hooked. */
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
#include "memory.h"
#include "raw.h"

#pragma GCC poison malloc calloc realloc free getenv setenv putenv unsetenv strdup strndup asprintf
#pragma GCC poison printf fprintf snprintf sprintf pthread_mutex_lock

/* Paths up to this length are handled on the stack.  Longer ones take a slower way through scratch memory,
 * so that a hook fits on a small signal stack. */
#define NEAR_PATH 512

#define EXPORT __attribute__((visibility("default")))

/* BOOT: not initialised, pass through.  LIVE: judging.  OFF: not in a session, pass through.  BROKEN: in a
 * session whose image or ring cannot be used; every call that needs a verdict is denied. */
enum state { STATE_BOOT, STATE_LIVE, STATE_OFF, STATE_BROKEN };

struct session {
	_Atomic int state;
	struct image img;	 /* mapped at the start; level, pass and flags are the same in all images */
	const struct image *now; /* the image that judges: see image_now() */
	struct ring_header *ring;
	bool in_valgrind;  /* valgrind lacks newer system calls */
	char dir[256];	   /* PALE_SESSION_DIR */
	char env_dir[300]; /* "PALE_SESSION_DIR=..." for the environment of children */
	uint32_t image;	   /* number of the image of this process */
	const char *self;  /* path of libpale.so, as the loader keeps it; "" if unknown */
	char exe[1024];	   /* program of this process, "" if unknown */
};
extern struct session session;

/* The state of this process; BOOT if a hook runs before our constructor. */
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

/* The session's level: what judges calls besides the hooks.  LEVEL_HOOKS (the hooks alone) if it is not
 * known. */
static inline enum level level_now(void)
{
	return state_now() == STATE_LIVE ? (enum level)session.img.h->level : LEVEL_HOOKS;
}

/*
 * True if the hook has to judge a call.  At level strict only the supervisor judges: the hook makes the
 * call with the caller's own arguments.  (The look-up of a host name is not a system call: it is judged in
 * every session.)
 */
static inline bool judging(void)
{
	return in_session() && level_now() != LEVEL_STRICT;
}

/* True if only the hooks judge: level hooks. */
static inline bool judging_alone(void)
{
	return in_session() && level_now() == LEVEL_HOOKS;
}

/* --- libc functions that a hook calls, resolved once by the constructor (real.c) ---------------- */

struct real {
#define REAL(name, ret, args) ret(*name) args;
#include "real.def"
#undef REAL
};
extern struct real real;
/* Another preloaded object stands between the preload and libc, and must see the calls on names and owners
 * (next.c). */
extern bool real_interposed;
void real_init(void);

/* --- the process and its files: sys.c ----------------------------------------------------------- */

extern const struct resolve_sys sys_self; /* the resolver's system calls, for this process */
int sys_close(int fd);
/* "/proc/self/fd/N" */
void sys_fd_link(int fd, char *buf, size_t size);
/* Allocates what belongs to this process alone (process.h).  Called once, by the constructor. */
void process_init(void);
/* The memos of the evaluator, or NULL. */
struct eval_memo *sys_memos(void);
/* True if the process is the child of a fork and has not recorded anything yet. */
bool sys_pid_is_new(void);
/* pid of this process without a system call in the common case (a page that fork wipes). */
int32_t sys_pid(void);
/* The value of the variable with this name of n bytes, or NULL. */
const char *env_value(char *const envp[], const char *name, size_t n);
/* Maps the image with this number in the session's directory, read-only; the caller may munmap it.  Returns
 * 0 or -errno (see image_open). */
int session_image(uint32_t number, struct image *ret);
/*
 * Maps the image that replaced the current one.  NULL if it cannot be mapped, if another thread is mapping
 * it, or if too many old images are mapped already (a thread may still read an old one, so none is
 * unmapped).  async-signal-safe, vfork-safe.
 */
const struct image *image_renew(void);
/* The image that judges now.  If the session's image is broken, it denies.  NULL: a newer image exists that
 * this process does not have; the supervisor or the helper does. */
static inline const struct image *image_now(void)
{
	const struct image *img = __atomic_load_n(&session.now, __ATOMIC_ACQUIRE);

	return img->h && image_is_superseded(img) ? image_renew() : img;
}
/* Scratch memory for a slow path, from mmap, so that a small signal stack is enough.  NULL on failure. */
void *scratch_get(size_t size);
void scratch_put(void *p, size_t size);
/*
 * Copies the caller's path to own, since another thread or process that shares the memory may change it
 * between the check and the act.  NULL if it does not fit.
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
 * Writes the lexical absolute path of (dirfd, path) to buf.  It is the real path if no component is a
 * symbolic link.  The path of the directory comes from the kernel (getcwd), or from a cache that is valid
 * while the session's counts of renames and of changed working directories stay the same; for a descriptor
 * statx is compared as well.  Returns the length or -errno.
 */
int sys_lexical(int dirfd, const char *path, char *buf, size_t size);
/*
 * Opens the regular file that a program's path names, through the gate, and writes its real path to near;
 * the open proves that path.  Returns a descriptor that the caller must close.  -ENOENT and -ENOTDIR are
 * the kernel's answer; after any other -errno nothing is known about the file.  async-signal-safe,
 * vfork-safe.
 */
int sys_open_real(int dirfd, const char *path, unsigned flags, char near[NEAR_PATH]);
/* True if no other thread exists, as far as glibc knows. */
bool sys_is_alone(void);
/*
 * Makes chdir or fchdir (nr) and counts it, so that a cached path of a working directory becomes invalid.
 * Returns the kernel's result.  async-signal-safe, vfork-safe.
 */
long sys_wander(long nr, long where);
/*
 * Called before and after a rename, to count it.  begun is what sys_move_begin() returned.  from and to are
 * the real paths of both ends, or NULL if they are not known; if the working directory is below neither,
 * its cached path stays valid.
 */
uint64_t sys_move_begin(void);
void sys_move_end(uint64_t begun, bool done, const char *from, const char *to);
/* True if libc is glibc.  Under another libc (musl) the preload stays in state BOOT. */
bool sys_libc_is_known(void);
/*
 * Holds the directory that a relative path starts at, since another thread, a child that shares directories
 * or descriptors (clone(2), CLONE_FS, CLONE_FILES) or a signal handler may change it between the check and
 * the act.  Returns dirfd itself if the path is absolute or the directory cannot be held; the caller must
 * close any other descriptor.
 */
int sys_anchor(int dirfd, const char *path);
/*
 * The lexical absolute path for the near way: path itself if it is normalised already, else buf.  NULL if
 * it does not fit, if the directory is not known, or if path contains `..`, which only a walk can follow (a
 * directory may move while the kernel goes up).
 */
const char *sys_near(int dirfd, const char *path, char *buf, size_t size);
/*
 * Judges req, made of (dirfd, path), by its lexical path.  True if it is allowed; req->path is then where
 * the path leads, in buf (NEAR_PATH bytes) or path itself.
 */
bool near_allows(struct request *req, int dirfd, const char *path, char *buf, struct decision *ret);

/* --- the judgement: check.c --------------------------------------------------------------------- */

/*
 * A judged place to act on: *at(dirfd, name).  name points into own, near or the scratch memory that
 * spot_done() frees, so no other thread changes it in between.  The structure is large, so only what must
 * be cleared is (UNINITIALIZED).
 */
struct spot {
	int dirfd;
	bool owned;
	bool anchored;
	int anchor; /* from sys_anchor(), held until the act is done */
	bool magic; /* the last component is a /proc magic link: follow it, without O_NOFOLLOW */
	const char *name;
	const char *whole; /* the path that the near way judged; name is its tail */
	struct resolved *scratch;
	/* The allowed target, whose record is open from the check until spot_done(); NULL: no record is
	 * open. */
	const char *target;
	struct ring_hold hold;
	char own[NEAR_PATH]; /* the caller's path as it was when it was judged */
	char near[NEAR_PATH];
};

/* The set of the session's processes, as a hook can know it.  NULL above level hooks, where the supervisor
 * knows it better. */
const struct pids *pids_judged(void);

/* What a check returns besides -errno. */
enum {
	CHECK_ACT,   /* allowed: act on the judged place */
	CHECK_PLAIN, /* not denied here: make the plain call with the caller's own arguments */
};

/*
 * Judges op on (dirfd, path).  CHECK_ACT: allowed, *ret is where to act.  -errno: denied (-EACCES, reported
 * and recorded), or the path does not resolve.  CHECK_PLAIN: nothing is judged here (outside a session, at
 * level strict), or, above level hooks, the verdict is ask, the place cannot be held, or Landlock does not
 * restrict the call, so that it must not pass the gate.  follow says whether the operation follows a
 * symbolic link in the last component.
 */
int check_path(struct spot *ret, enum op op, int dirfd, const char *path, enum resolve_follow follow);
/* The last component of path if it is an ordinary name, else NULL ("", "x/", ".", "a/.."). */
const char *plain_last(const char *path);
/* st_mode of (dirfd, name), 0 if it does not exist.  A last symbolic link is not followed. */
unsigned mode_of(int dirfd, const char *name);

/*
 * Checks the second place of a call that has two, like check_access(), without following a last symbolic
 * link.  If it lies in the directory that the first spot holds, that descriptor is used.  *first must
 * outlive *ret.
 */
int check_beside(struct spot *ret, const struct spot *first, enum op op, unsigned access, int dirfd,
		 const char *path);
/* Like check_path(), with the access given (open: read, write or both). */
int check_access(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		 enum resolve_follow follow);
/* Frees what a check holds, after -errno too, and records what it allowed. */
void spot_done(struct spot *s);
/* Called after the act on a judged place, with its result r.  Returns r, or CHECK_PLAIN if the gate refused
 * the act. */
long spot_did(struct spot *s, long r);
/* Judges an act that is then done with the caller's own arguments and not through the gate: 0 or -errno.
 * The supervisor records it; at level hooks the record is made here. */
int check_only(enum op op, unsigned access, int dirfd, const char *path, enum resolve_follow follow);

/*
 * One call on one name, from judgement to record.  nr is the *at system call, word holds its arguments
 * after (dirfd, path) (symlinkat: the target, which comes first).
 */
struct name_call {
	enum op op;
	enum resolve_follow follow;
	int dirfd;
	const char *path;
	long nr;
	long word[3];
	/* Makes the call in place of the system call nr; NULL: the system call is made. */
	long (*act)(const struct name_call *c, int dirfd, const char *name);
};
/* The kernel's result, -errno on failure. */
long name_call(const struct name_call *c);

/*
 * Carries out the verdict on a request.  CHECK_ACT: allowed, to be recorded when it is done.
 * CHECK_RECORDED: allowed by the operator's answer, and recorded.  CHECK_PLAIN: left to the supervisor.
 * -EACCES: denied, recorded and reported.  -ENOENT: denied and recorded; the target must look absent.
 */
#define CHECK_RECORDED 2
struct decision verdict_of(const struct request *req);
int conclude(const struct request *req, const char *target, const struct decision *verdict);

/* True if opening it again gives only what the process has already: it has no name in the file system, or
 * is an own descriptor. */
bool check_is_own(const struct resolved *r, unsigned access);

/* The whole of open: judges, holds the place and opens it.  Returns a descriptor or -errno. */
int check_open(int dirfd, const char *path, int flags, unsigned mode);

/*
 * Judges a finished canonical request: evaluates it, asks the helper if the verdict is ask, records it, and
 * reports a denial on stderr.  target is the text for people (path, argv line, host:port).  True: go on.
 * Above level hooks that means: make the plain call with the caller's own arguments, which the supervisor
 * asks about, performs and records; only a denial ends here.  (The look-up of a host name is not a system
 * call, so it is handled here.)  async-signal-safe, vfork-safe, errno kept.
 */
bool judge(const struct request *req, const char *target);
/* Records and reports a denial that the caller has decided, with its reason in d.  why adds text to it; ""
 * adds none. */
void refuse(const struct request *req, const char *target, struct decision d, const char *why);

/* --- records, reports and questions: log*.c, say.c, ask*.c --------------------------------------- */

void log_decision(const struct request *req, const char *target, const struct decision *d,
		  const char *approval);
/* Records a denial and returns its id, 0 if it has none.  Sets *is_quiet if it must not be reported now. */
uint32_t log_denied(const struct request *req, const char *target, const struct decision *d,
		    const char *approval, const char *why, bool *is_quiet);
/* Starts the record before an act, and ring_end() completes it afterwards: if the process is killed in
 * between, the decision is still recorded. */
void log_begin(const struct request *req, const char *target, const struct decision *d, const char *approval,
	       struct ring_hold *ret);
/* Puts rec, with the present time, into the ring, like log_begin(). */
void log_record(struct ring_record *rec, struct ring_hold *ret);
/* Records that the hooks are in this process. */
void log_attach(void);
/* Remembers which file stderr is.  Called once, by the constructor. */
void say_init(void);
/* Writes text as a line where a denial would be reported. */
void say_text(const char *text);
/* Records a denial and reports it: one line on stderr, once per rule and target in this process (for an
 * exec, unless it repeats the last one).  why is the operator's answer, or more about the reason. */
void deny(const struct request *req, const char *target, const struct decision *d, const char *approval,
	  const char *why);

/* Tells the agent that the operator is being asked. */
void say_asking(const struct request *req, const char *target);

struct answer {
	enum verdict verdict;
	enum reason reason;
	char text[256];
	char approval[40];
};
/* Asks the helper and waits for the answer; tells the agent if that takes long.  If the helper cannot be
 * reached, the answer is a denial (REASON_NOBODY). */
void ask_helper(const struct request *req, const char *target, uint32_t rule, struct answer *ret);
/* A connection to the helper, or -errno.  The caller must close it. */
int ask_connect(void);
/* Gets the ring from the helper, at level hooks, where no supervisor gives it out.  Returns a descriptor
 * that the caller must close, or -errno.  For the constructor. */
long ask_ring(void);
/* Wakes the helper by a connection without a question. */
void ask_kick(void);

/* --- the child's environment: envp.c ----------------------------------------------------------- */

/* Memory for one exec, on the caller's stack; map is used if that does not suffice. */
struct env_arena {
	char *fixed[512];
	char text[LIMIT_PATH + 512];
	char image[32];
	void *map;
	size_t map_size;
};
/* True if envp has the preload first, and this session and image: there is nothing to repair. */
bool env_is_intact(char *const envp[]);
/*
 * Returns envp with LD_PRELOAD starting with libpale.so (other entries are kept after it), this session's
 * directory, and this process's image, or the image that envp names if that lies inside it.  envp itself is
 * never modified: a vfork child shares it with its parent.  If envp is intact, it is returned.  Else the
 * vector is valid until env_done() or the exec.  NULL when out of memory.  async-signal-safe, vfork-safe.
 */
char **env_repair(struct env_arena *arena, char *const envp[]);
void env_done(struct env_arena *arena);

/* --- results in libc's form ---------------------------------------------------------------------- */

static inline int fail(long neg_errno)
{
	errno = (int)-neg_errno;
	return -1;
}

/* A raw result in libc's form: -1 and errno, or the value. */
static inline long libc_result(long r)
{
	if (r < 0 && r > -4096)
		return fail(r);
	return r;
}

#endif
