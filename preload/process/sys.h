/*
 * The process that the preload is in: its session, its files, and system calls without libc.
 *
 * The preload runs inside other programs, so these rules hold:
 *   - It uses no heap, stdio, locks, getenv or thread-local storage, and no public libc name that is
 *     hooked.  It uses raw system calls (raw.h), mem* and str* of its own (string.c), and the libc functions
 *     in struct real.
 *   - A vfork child shares its memory with its parent: what is written here must be right for the parent
 *     too, and nothing may be held across an exec.
 *   - errno belongs to the program: a hook sets it only when it fails.
 *   - Before the constructor has run (state BOOT) every hook passes through.
 */
#ifndef PALE_PRELOAD_SYS_H
#define PALE_PRELOAD_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "policy/base/op.h"
#include "policy/file/resolve.h"

#include "banned.h"

struct eval_memo;

/* Paths up to this length are handled on the stack.  Longer ones take a slower way through scratch memory,
 * so that a hook fits on a small signal stack. */
#define NEAR_PATH 512

#define EXPORT __attribute__((visibility("default")))

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

#endif
