/*
 * Destinations: from a socket address to a judged one, and the names by which addresses were reached.
 * Shared by hook_net.c and hook_resolve.c; private to preload/.
 */
#ifndef PALE_PRELOAD_DESTINATION_H
#define PALE_PRELOAD_DESTINATION_H

#include <sys/socket.h>

/* A destination as it was judged: pass this copy to the kernel, and do not read the caller's bytes
 * again. */
struct net_dest {
	int fd; /* the socket; only for connect */
	socklen_t len;
	struct sockaddr_storage addr;
};

/* With AF_UNSPEC, connect ends an association, and a datagram is sent to an AF_INET address. */
enum net_use { NET_CONNECT, NET_SEND };

/*
 * Copies and judges an address.  0: go on with *ret.  -EACCES: denied, recorded and reported.  Another
 * -errno: as the kernel would return it (no such socket file, not an address).  Bytes that are too short
 * for an address are left to the kernel.  async-signal-safe, vfork-safe, errno kept.
 */
int net_check(const struct sockaddr *addr, socklen_t len, enum net_use use, struct net_dest *ret);

/* Judges a host name before its look-up.  0 (also for NULL); -EACCES: denied; -ENOENT or -ENAMETOOLONG: not
 * a host name. */
int resolve_name_check(const char *name);

#endif
