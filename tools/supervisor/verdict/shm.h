/*
 * POSIX shared memory and semaphores: files in /dev/shm, where all programs of a user meet.  What the session
 * made there is its own; what stood there before, or others made, needs a rule that names it.
 */
#ifndef PALE_SHM_H
#define PALE_SHM_H

#include "tools/supervisor/supervisor.h"

/* path is right in /dev/shm. */
bool shm_is_entry(const char *path);
/* It lies in /dev/shm, below an entry that the session did not make, and was allowed by no rule about it. */
bool shm_is_others(struct caller *c, const struct request *req, const struct decision *d);
/* The same of the very file that was opened there. */
bool shm_is_others_file(struct caller *c, const struct request *req, int fd);

#endif
