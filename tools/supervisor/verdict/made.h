/* The files that the session made itself: sockets that it bound, and what it made in /dev/shm. */
#ifndef PALE_MADE_H
#define PALE_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct supervisor;

/* 0 or -ENOMEM. */
int made_new(struct supervisor *s);
void made_done(struct supervisor *s);
/* The time before a bind(2). */
struct timespec made_now(void);
/* Notes that the session made a file since then: name in dirfd, or dirfd itself where name is "". */
void made_at(struct supervisor *s, int dirfd, const char *name, const struct timespec *since);
/* True where the held file was made inside the session. */
bool made_here(struct supervisor *s, int file);
/* The same for the socket with this inode; `socket` is any socket. */
bool made_socket(struct supervisor *s, int socket, uint32_t inode);

#endif
