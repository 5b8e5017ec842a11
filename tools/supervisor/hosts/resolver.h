/*
 * The session's only resolver: the forwarder (tools/dns/) with the supervisor's judgement, its table of
 * hosts and its records.  Started at the first use.  Private to tools/supervisor/.
 *
 * A question that the policy denies is answered NXDOMAIN and not forwarded; one that the operator must
 * decide waits for that.  Each is recorded as op resolve, via kernel, in the asker's name.
 */
#ifndef PALE_RESOLVER_H
#define PALE_RESOLVER_H

#include <sys/socket.h>

#include "tools/base/loop.h"
#include "tools/supervisor/asker.h"

#include "hosts.h"

/* The session's loop and its table of hosts; the first call starts the loop.  NULL: not available. */
struct loop *session_loop(struct supervisor *s);
struct hosts *session_hosts(struct supervisor *s);

/* Called once, in the loop's thread.  msg belongs to the forwarder's answer and is valid during the call
 * only. */
typedef void (*resolver_reply)(void *cookie, const uint8_t *msg, size_t len);
/*
 * Handles one datagram that was sent to a name server.  From the loop's thread.  True: reply will be
 * called, perhaps before this returns, unless resolver_forget() is called first.  False: it was not a
 * question, or too many wait; reply is not called.
 */
bool resolver_query(struct supervisor *s, const struct asker *who, const uint8_t *msg, size_t len,
		    resolver_reply reply, void *cookie);
/* Ends all calls of reply for this cookie.  From the loop's thread. */
void resolver_forget(struct supervisor *s, void *cookie);

/*
 * The address on loopback to which a stream to port 53 of any host is connected instead.  From any thread.
 * 0 with the address for a socket of that family, or -errno.
 */
int resolver_door(struct supervisor *s, int family, struct sockaddr_storage *ret, socklen_t *ret_len);
/* Announces the process that will connect to this address from `from` (its own end of the connection):
 * other connections are closed. */
int resolver_expect(struct supervisor *s, const struct sockaddr_storage *from, const struct asker *who);

/* Ends the loop and the threads that ask the operator about a name.  False: one did not end, and nothing
 * may be freed.  Called once the workers have ended. */
bool resolver_end(struct supervisor *s);
/* Frees the resolver, the loop and the table, after resolver_end(). */
void resolver_done(struct supervisor *s);

#endif
