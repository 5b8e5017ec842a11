/*
 * The session's only resolver: the forwarder (tools/dns/) with the supervisor's judgement, its table of
 * hosts and its records.  Started by the first who needs it.  Private to tools/supervisor/.
 *
 * A question that the policy denies is answered NXDOMAIN and asked of nobody; one that a human must settle
 * waits for that; each is recorded as op resolve, via kernel, in the asker's name.
 */
#ifndef PALE_RESOLVER_H
#define PALE_RESOLVER_H

#include <sys/socket.h>

#include "hosts.h"
#include "tools/base/loop.h"
#include "tools/supervisor/asker.h"

/* The session's loop and table; the loop is started by the first call.  NULL: cannot be had. */
struct loop *session_loop(struct supervisor *s);
struct hosts *session_hosts(struct supervisor *s);

/* In the loop's thread, once.  msg is the answer's. */
typedef void (*resolver_reply)(void *cookie, const uint8_t *msg, size_t len);
/*
 * One datagram that went to a name server.  From the loop's thread.  True: reply will be called, perhaps in
 * here, unless resolver_forget() comes first; false: it was no question, or too many wait: nothing follows.
 */
bool resolver_query(struct supervisor *s, const struct asker *who, const uint8_t *msg, size_t len,
		    resolver_reply reply, void *cookie);
/* The cookie's owner goes away.  From the loop's thread. */
void resolver_forget(struct supervisor *s, void *cookie);

/*
 * A stream that was to be connected to port 53 of somewhere is connected here instead, on loopback.  From any
 * thread.  0 with the address for a socket of that family, or -errno.
 */
int resolver_door(struct supervisor *s, int family, struct sockaddr_storage *ret, socklen_t *ret_len);
/* Who comes by that door from this address (their own end of the connection): others are hung up on. */
int resolver_expect(struct supervisor *s, const struct sockaddr_storage *from, const struct asker *who);

/* Ends the loop, and who asks a human about a name.  False: one would not end, and all must stay.  Called
 * once the workers have ended. */
bool resolver_end(struct supervisor *s);
/* Frees it, the loop and the table, after resolver_end(). */
void resolver_done(struct supervisor *s);

#endif
