/* The session's files, by path and mapped: only for session.c and init.c. */
#ifndef PALE_PRELOAD_SESSION_H
#define PALE_PRELOAD_SESSION_H

#include "internal.h"

#define SESSION_PATH (sizeof session.dir + 16)

/* Writes the path of a file in the session's directory to path, and returns it; NULL if it does not fit. */
const char *session_path(char path[SESSION_PATH], const char *name);
/* Maps a whole file, and closes fd in every case.  NULL on any failure. */
void *map_fd(long fd, int prot, size_t *ret_size);

#endif
