/*
 * The sessions of an installation whose helper runs as a user of its own: found by directories that root
 * made for that user.  The owner of PLACE_RUNTIME is that user.
 */
#ifndef PALE_FOREIGN_H
#define PALE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True where only root can change the directories above path. */
bool dir_chain_is_roots(const char *path);
/* The user that PLACE_RUNTIME was made for.  0, -ENOENT (no such installation), -EPERM (its owner or mode
 * is wrong). */
int foreign_uid(uid_t *ret);
/* The directory that holds this user's runtime directories, and the one that holds the ledgers.  0 or
 * -ENAMETOOLONG. */
int foreign_runtime(char *buf, size_t size);
int foreign_sessions(char *buf, size_t size);
/* 0 where dir is a directory (no link) of that user below PLACE_RUNTIME that no other user may write; or
 * -errno. */
int foreign_check_dir(const char *dir);
/* Checks the server of the connected socket fd, whose file lies in directory dir: it must run as this user
 * or, where dir belongs to the helper's user, as that user.  0, -EPERM or -errno. */
int foreign_check_server(int fd, const char *dir);

#endif
