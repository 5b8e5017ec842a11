/* The name under which the socket behind a file was bound.  Private to tools/supervisor/. */
#ifndef PALE_UNIX_NAME_H
#define PALE_UNIX_NAME_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Called with a name under which a socket was bound, as it was given then: it may be relative.  A negative
 * result ends the search. */
typedef int (*unix_name_fn)(const char *name, void *arg);
/*
 * Calls `found` for each socket that was bound to the file st, as far as the kernel can tell it from others
 * (32 bits of the inode).  0; what `found` returned where that is negative; -errno where the kernel does not
 * say.
 */
int unix_names(const struct stat *st, unix_name_fn found, void *arg);

/* The inode of the socket that has this abstract name; 0 if it is not found or the kernel cannot tell it. */
uint32_t unix_abstract(const struct sockaddr_un *un, socklen_t len);

#endif
