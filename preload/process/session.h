/* The session's files, by path and mapped: for session.c and init.c alone. */
#ifndef PALE_PRELOAD_SESSION_H
#define PALE_PRELOAD_SESSION_H

#include "internal.h"

#define SESSION_PATH (sizeof session.dir + 16)

/* The path of a file of the session's directory, in path, which is returned; NULL where it does not fit. */
const char *session_path(char path[SESSION_PATH], const char *name);
/* Maps a whole file, and closes the descriptor.  NULL on any failure. */
void *map_fd(long fd, int prot, size_t *ret_size);

#endif
