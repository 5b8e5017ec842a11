/*
 * What a call does to the file it names, and what the kernel says of that file before it comes to
 * rights: the same for the preload and the supervisor, who look at the file each in their own way.
 *
 * A look is told as the st_mode of what lies at the held place, 0 where nothing does.  No state, no
 * system call; async-signal-safe.
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
/* The operation that such an access is recorded as. */
enum op open_op(unsigned access);
/* A new inode comes of it, where there is none: O_CREAT or O_TMPFILE. */
bool open_creates(int flags);
/*
 * What open(2) says of a file of this mode before it asks for rights (do_open() of fs/namei.c): -ENOENT,
 * -EEXIST, -EISDIR, -ENOTDIR, -ELOOP for a symbolic link; or 0 with the access that is left to judge in
 * *ret_access (O_CREAT of what exists creates nothing).
 */
int open_existence(int flags, unsigned mode, unsigned *ret_access);
/*
 * The same for an operation on a directory entry: a denied unlink of nothing is -ENOENT, a denied
 * mkdir of something -EEXIST (mkdir -p lives on that).  0 where the answer is up to the policy.
 */
int op_existence(enum op op, unsigned access, unsigned mode);

/*
 * What a rename does to a file at its target besides writing it, by the st_mode of its source (0: none).  A
 * regular file brings another content, as an editor does that saves; anything else (a link, a socket) takes
 * the file away.
 */
unsigned rename_takes(unsigned mode);

#endif
