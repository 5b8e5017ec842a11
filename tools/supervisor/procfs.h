/*
 * procfs, seen on behalf of another process.  Private to the files that resolve and open.
 */
#ifndef PALE_PROCFS_H
#define PALE_PROCFS_H

#include "supervisor.h"

/* "/proc/self/fd/N": the supervisor's own descriptor by its magic link. */
#define PROCFS_LINK_MAX 32
void procfs_own_link(int fd, char buf[PROCFS_LINK_MAX]);
/* What a descriptor of the supervisor is called, NUL-terminated: length or -errno. */
int procfs_fd_path(int fd, char *buf, size_t size);
/* fd lies on procfs, is its root. */
bool procfs_holds(int fd);
bool procfs_is_root(int fd);
/*
 * path, which dirfd is or holds, lies in procfs's directory of a process that is none of the session's.
 * What is not below /proc is nobody's of the session.
 */
bool procfs_is_foreign(struct caller *c, int dirfd, const char *path);
/* /proc/12/fd/3 with an asterisk for the number; false where path is in no process's directory, or too long.
 */
bool procfs_any(const char *path, char *buf, size_t size);
/* N where name in dirfd is the caller's own /proc/PID/fd/N, else -1. */
int procfs_fd_number(struct caller *c, int dirfd, const char *name);

#endif
