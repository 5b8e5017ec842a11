/*
 * procfs, seen on behalf of another process.  Private to the files that resolve and open.
 */
#ifndef PALE_PROCFS_H
#define PALE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct caller;

/* "/proc/self/fd/N": the supervisor's own descriptor by its magic link. */
#define PROCFS_LINK_MAX 32
void procfs_own_link(int fd, char buf[PROCFS_LINK_MAX]);
/* The path of one of the supervisor's descriptors, NUL-terminated: its length or -errno. */
int procfs_fd_path(int fd, char *buf, size_t size);
/* True where fd is on procfs and is its root. */
bool procfs_holds(int fd);
bool procfs_is_root(int fd);
/*
 * True where path lies in procfs's directory of a process that does not belong to the session; dirfd is its
 * directory, or the object itself.  What is not below /proc does not belong to the session.
 */
bool procfs_is_foreign(struct caller *c, int dirfd, const char *path);
/* The process, or the task, in whose directory of /proc path lies, or 0; dirfd as above. */
pid_t procfs_pid(int dirfd, const char *path);
/* Copies path to buf with an asterisk in place of the process number in it ("/proc/12/fd/3"); false where
 * path is in no process directory, or too long. */
bool procfs_any(const char *path, char *buf, size_t size);
/* N where name in dirfd is the caller's own /proc/PID/fd/N, else -1. */
int procfs_fd_number(struct caller *c, int dirfd, const char *name);

#endif
