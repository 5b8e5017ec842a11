/*
 * The sessions of an installation whose helper runs as a user of its own: found by directories that root made
 * for that user.  Who he is root says: the owner of PLACE_RUNTIME.
 */
#ifndef PALE_FOREIGN_H
#define PALE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* No directory above path can be changed by anybody but root. */
bool dir_chain_is_roots(const char *path);
/* The user whom PLACE_RUNTIME was made for.  0, -ENOENT (no such installation), -EPERM (it is not sound). */
int foreign_uid(uid_t *ret);
/* Directory that holds this user's runtime directories, ledgers.  0 or -ENAMETOOLONG. */
int foreign_runtime(char *buf, size_t size);
int foreign_sessions(char *buf, size_t size);
/* 0 where dir is a directory (no link) of that user, below PLACE_RUNTIME, that nobody else writes; or -errno.
 */
int foreign_check_dir(const char *dir);
/*
 * 0 where the server of the connected socket fd, whose file is in directory dir, is who must be there:
 * ourselves, or in a directory of that user he.  -EPERM or -errno.
 */
int foreign_check_server(int fd, const char *dir);

#endif
