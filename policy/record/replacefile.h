/*
 * Writing a file whole, or not at all: what is kept across sessions survives a full disk and a power cut.
 */
#ifndef PALE_REPLACEFILE_H
#define PALE_REPLACEFILE_H

#include <stddef.h>
#include <sys/stat.h>

/* Writes all of it; 0 or -errno (a write that takes nothing is -ENOSPC). */
int write_all(int fd, const void *bytes, size_t len);
/*
 * Text becomes the file `name` of that directory, on the disk and in one step: a reader finds the old file or
 * the new one, and a full disk leaves the old one.  The new one has the owner and mode of `like`, or, where
 * that is NULL, this mode whatever the umask says.  0 or -errno.
 */
int replace_file(int dir, const char *name, const struct stat *like, mode_t mode, const char *text,
		 size_t len);

#endif
