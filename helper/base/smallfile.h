/* Small files that are made, and the names in a directory. */
#ifndef PALE_HELPER_SMALLFILE_H
#define PALE_HELPER_SMALLFILE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates a new file of the given mode with these bytes; never overwrites. 0 or -errno. */
int file_create(int dirfd, const char *name, mode_t mode, const void *bytes, size_t len);
/* Removes a file and what is in it, unless it has another name: a process that has it open keeps nothing. */
void file_drop(int dirfd, const char *name);
/* For readdir, by dir_next(); NULL where it cannot be read. */
DIR *dir_open(int dirfd, const char *path);
/* The next name that does not begin with a dot; NULL at the end and of NULL. */
const char *dir_next(DIR *dir);

#endif
