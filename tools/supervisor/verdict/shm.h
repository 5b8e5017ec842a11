/*
 * POSIX shared memory and semaphores: files in /dev/shm, where all programs of a user meet.  What the
 * session made there is its own; anything else there needs a rule that names it.
 */
#ifndef PALE_SHM_H
#define PALE_SHM_H

#include <stdbool.h>

struct caller;
struct decision;
struct request;

/* True where path is an entry of /dev/shm itself, not below one. */
bool shm_is_entry(const char *path);
/* True where req's path is, or is below, an entry of /dev/shm that the session did not make, and *d allows
 * it by no rule that names a path there. */
bool shm_is_others(struct caller *c, const struct request *req, const struct decision *d);
/* The same for a file that is open already. */
bool shm_is_others_file(struct caller *c, const struct request *req, int fd);

#endif
