/*
 * DNS over TCP (RFC 7766) for announced clients: a listener on loopback of each family.  Nothing is read
 * from a client that is not announced; its connection is closed unless the announcement comes within a
 * second.
 */
#ifndef PALE_DNS_DOOR_H
#define PALE_DNS_DOOR_H

#include <sys/socket.h>

#include "forwarder.h"

#define DOOR_STREAMS_MAX  256u
#define DOOR_EXPECTED_MAX 256u
#define DOOR_GRACE_NS	  1000000000ull	 /* to be announced */
#define DOOR_IDLE_NS	  10000000000ull /* until the next question */
#define DOOR_UNSENT_MAX	  (256u << 10)	 /* bytes that a client has not received yet */

struct door;
/* who_size: the bytes that door_expect() copies for each client.  NULL where there is no memory. */
struct door *door_new(struct loop *l, struct forwarder *f, size_t who_size);
/* The loop must have ended. */
void door_free(struct door *d);
/*
 * The address of the listener for this family, which the first call makes.  From any thread.  0 or -errno.
 */
int door_address(struct door *d, int family, struct sockaddr_storage *ret, socklen_t *ret_len);
/* Announces the client that connects from this address.  From any thread.  0 or -EAFNOSUPPORT. */
int door_expect(struct door *d, const struct sockaddr_storage *from, const void *who);

#endif
