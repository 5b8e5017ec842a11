/*
 * What a call does to the file it names, and what the kernel answers about that file before it checks
 * permissions.  The preload and the supervisor share this, but each looks at the file in its own way.
 *
 * `mode` is the st_mode of the file at the held place, 0 where there is none.  No state, no system call;
 * async-signal-safe.
 */
#ifndef PALE_FILEOP_H
#define PALE_FILEOP_H

#include "op.h"

/* The flags that open(2) knows (fcntl.h of Linux 6.12, VALID_OPEN_FLAGS): it ignores others, openat2(2)
 * refuses them. */
#define OPEN_FLAGS                                                                                           \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC | O_ASYNC |     \
	 O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_SYNC | O_PATH |       \
	 O_TMPFILE)

/* What open(2) with these flags does to its file. */
unsigned open_access(int flags);
/* The operation as which such an access is recorded. */
enum op open_op(unsigned access);
/* True where the open creates an inode if there is none: O_CREAT or O_TMPFILE. */
bool open_creates(int flags);
/*
 * What open(2) returns for a file of this mode before it checks permissions (do_open() of fs/namei.c):
 * -ENOENT, -EEXIST, -EISDIR, -ENOTDIR, -ELOOP for a symbolic link; or 0, with the access that is left to
 * judge in *ret_access (O_CREAT of a file that exists creates nothing).
 */
int open_existence(int flags, unsigned mode, unsigned *ret_access);
/*
 * The same for an operation on a directory entry: a denied unlink of a missing name is -ENOENT, a denied
 * mkdir of an existing one is -EEXIST (mkdir -p needs that).  0 where the policy decides.  path is the
 * real path: nothing can be made below /proc.
 */
int op_existence(enum op op, unsigned access, unsigned mode, const char *path);

/* The mode for access(2) with which the kernel is asked whether ordinary permissions allow the operation on a
 * file that exists; F_OK where they do not tell. */
int access_mode(enum op op, unsigned access);

/* True for an operation that can make a new name. */
bool op_makes(enum op op);

/*
 * What a rename does to a file at its target besides writing it, by the st_mode of its source (0: none).  A
 * regular file only replaces the content, as when an editor saves; anything else (a link, a socket) removes
 * the file.
 */
unsigned rename_takes(unsigned mode);

#endif
