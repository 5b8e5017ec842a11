/*
 * What more than one program asks of the kernel alike, and what a block releases at its end.
 *
 * The time, locks, reads of whole small files, sending of descriptors, and resource limits.  Nothing here
 * runs in the preload.
 */
#ifndef PALE_SYSTEM_H
#define PALE_SYSTEM_H

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_MS 1000000ull
#define NS_S  1000000000ull

uint64_t clock_ns(clockid_t id);

/* CLOCK_MONOTONIC, which stands still while the machine sleeps: a writer is not late because of that. */
static inline uint64_t clock_awake_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t clock_awake_ms(void)
{
	return (int64_t)(clock_awake_ns() / NS_MS);
}

/* CLOCK_REALTIME: for records. */
static inline uint64_t clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Locks a file (flock(2)), and waits wait_ms at most while another process has it: 0, -EWOULDBLOCK, -errno.
 */
#define LOCK_MOMENT_MS 100 /* for a lock that nothing holds longer than it works on the file */
int file_lock(int fd, unsigned wait_ms);
/* Reads up to size bytes, fewer at the end of the file, from the offset `from` (-1: fd's own offset).
 * Their number or -errno. */
ssize_t read_up_to(int fd, void *buf, size_t size, off_t from);
/* Reads up to size-1 bytes of a small file (procfs) and appends a NUL.  Their number or -errno. */
ssize_t file_read_small(int dirfd, const char *path, char *buf, size_t size);
/* The same for the file `name` of /proc/PID. */
ssize_t proc_read_small(pid_t pid, const char *name, char *buf, size_t size);
/* Sends one packet with n descriptors, at most SEND_FDS_MAX.  flags as for sendmsg(2).  0 or -errno. */
#define SEND_FDS_MAX 4
int send_fds(int fd, const void *bytes, size_t len, const int *fds, size_t n, int flags);
/*
 * Starts a program with no signal blocked or ignored, whatever this thread has.  files: what its descriptors
 * become; flags: more of posix_spawnattr_setflags(3), as POSIX_SPAWN_SETPGROUP for a process group of its
 * own. 0 or -errno.
 */
int spawn_plainly(pid_t *ret, const char *program, const posix_spawn_file_actions_t *files, short flags,
		  char *const argv[], char *const envp[]);
/*
 * Checks that no resource limit of this process is too low for a session; `raise` first raises a soft limit
 * as far as is needed and the hard one permits.  0, or -EPERM or another -errno with *ret_err set to a static
 * sentence that names the limit.
 */
int limits_check(bool raise, const char **ret_err);

#endif
