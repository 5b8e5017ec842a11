/*
 * Writes a file whole or not at all, so that files kept across sessions survive a full disk and a power
 * cut.
 */
#ifndef PALE_REPLACEFILE_H
#define PALE_REPLACEFILE_H

#include <stddef.h>
#include <sys/stat.h>

/* Writes all bytes.  0 or -errno (a write of 0 bytes is -ENOSPC). */
int write_all(int fd, const void *bytes, size_t len);
/*
 * Replaces the file `name` of the directory dir with text, in one step and synced to the disk: a reader
 * finds the old file or the new one, and a full disk leaves the old one.  The new file has the owner and
 * mode of `like`; where that is NULL, it has the given mode, whatever the umask is.  0 or -errno.
 */
int replace_file(int dir, const char *name, const struct stat *like, mode_t mode, const char *text,
		 size_t len);

#endif
