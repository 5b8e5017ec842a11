/*
 * Destinations: from a socket address to a judged one, and the names that addresses were reached
 * by.  Shared by hook_net.c and hook_resolve.c; private to preload/.
 */
#ifndef PALE_PRELOAD_NET_H
#define PALE_PRELOAD_NET_H

#include "preload/process/internal.h"

/* A destination as it was judged: hand this copy to the kernel, never the caller's bytes again. */
struct net_dest {
	int fd; /* of the socket; only for connect */
	socklen_t len;
	struct sockaddr_storage addr;
};

/* In connect AF_UNSPEC dissolves an association; a datagram sent to it is sent to an AF_INET address. */
enum net_use { NET_CONNECT, NET_SEND };

/*
 * Copies and judges an address.  0: go on with *ret; -EACCES: denied, recorded and said; -errno as
 * the kernel would give it (no such socket file, not an address).  What is too short to be an
 * address is left to the kernel.  async-signal-safe, vfork-safe, errno kept.
 */
int net_check(const struct sockaddr *addr, socklen_t len, enum net_use use, struct net_dest *ret);

/* Judges a host name about to be looked up.  0 (also for NULL), -EACCES denied, -ENOENT or -ENAMETOOLONG
 * for what is none. */
int resolve_name_check(const char *name);

#endif
