/*
 * DNS over TCP (RFC 7766) for those who were announced: a listener on loopback of each family.  Who comes
 * unannounced is not read from and is hung up on, but for a second in which he may still be announced.
 */
#ifndef PALE_DNS_DOOR_H
#define PALE_DNS_DOOR_H

#include <sys/socket.h>

#include "forwarder.h"

#define DOOR_STREAMS_MAX  256u
#define DOOR_EXPECTED_MAX 256u
#define DOOR_GRACE_NS	  1000000000ull	 /* for an announcement */
#define DOOR_IDLE_NS	  10000000000ull /* for the next question */
#define DOOR_UNSENT_MAX	  (256u << 10)	 /* bytes that a client does not take */

struct door;
/* who_size: of the announced, which door_expect() copies.  NULL: no memory. */
struct door *door_new(struct loop *l, struct forwarder *f, size_t who_size);
/* The loop runs no more. */
void door_free(struct door *d);
/* Where it stands, for a socket of the family; made by the first call.  From any thread.  0 or -errno. */
int door_address(struct door *d, int family, struct sockaddr_storage *ret, socklen_t *ret_len);
/* From any thread.  0; -EAFNOSUPPORT. */
int door_expect(struct door *d, const struct sockaddr_storage *from, const void *who);

#endif
