/*
 * Sockets of the callers, and the addresses they are given.  Private to endpoint.c, connect.c,
 * connect_unix.c, connect_resolver.c, meant.c, sockets.c, bind.c, patience.c and waiting.c.
 *
 * Everything is done on a duplicate of the caller's descriptor, so what was looked at is what is acted
 * on whatever happens to the number meanwhile; what family the socket is of says the socket, never
 * the address.  The address is copied once.
 */
#ifndef PALE_NET_H
#define PALE_NET_H

#include <sys/socket.h>

#include "policy/base/sockaddr.h"
#include "tools/supervisor/proc/ports.h"
#include "tools/supervisor/supervisor.h"

/* --- endpoint.c --- */

struct endpoint {
	int fd;	    /* the duplicate */
	int domain; /* SO_DOMAIN */
	socklen_t len;
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_storage all;
	} addr; /* zero behind len */
	/* What is done with the held place of a unix address that was judged; NULL: it is connected to. */
	int (*reach)(struct caller *c, const struct endpoint *e, const struct sockaddr *sa, socklen_t len);
};

/*
 * Duplicates the socket args[0].  0, -EBADF, -ENOTSOCK, -ESRCH; endpoint_done() in each case.
 */
int endpoint_take(struct endpoint *e, struct caller *c);
/* As well copies the address at `addr`, which the caller says to be len bytes long.  Also -EINVAL, -EFAULT.
 */
int endpoint_take_addr(struct endpoint *e, struct caller *c, uint64_t addr, uint64_t len);
void endpoint_done(struct endpoint *e);
/* An integer option of SOL_SOCKET, or -errno. */
int endpoint_option(const struct endpoint *e, int option);

/* "host:port", "udp host:port" of a datagram; the name where there is one.  Returns buf. */
#define INET_TARGET (LIMIT_HOST + 64)
const char *inet_target(const struct request *req, char buf[INET_TARGET]);

/* The address that stands for all of a machine's: 0.0.0.0, ::. */
bool inet_is_any(const uint8_t addr[16]);
/* In its place in a destination, of which "any" is the address that the socket itself is bound to, the one
 * that it is judged as: loopback's first. */
void inet_name_machine(void *sa, size_t len);

/* connect(2) to the very address that the caller said. */
struct answer connect_as_said(struct caller *c, const struct endpoint *e);

/* Of a family that nothing judges: refused and recorded. */
struct answer refuse_family(struct caller *c, const struct endpoint *e, enum op op);

/* --- patience.c --- */

/* Where to, and what to do there. */
struct connecting {
	int fd; /* the duplicate of the caller's socket */
	const struct sockaddr *sa;
	socklen_t len;
	int file; /* what sa names by /proc/self/fd, kept while it takes; -1: nothing */
	/* Called in some thread once the connection stands, for process tgid; its result is the call's. NULL.
	 */
	int (*then)(struct supervisor *s, pid_t tgid, int fd);
	/* It may only go on while the session's own are reached there (ports.h). */
	bool is_own;
	uint32_t image; /* then: of the caller */
};

/*
 * connect(2) on the caller's socket as the caller itself would live it: a socket that does not block
 * gets EINPROGRESS, one that does waits for as long as SO_SNDTIMEO says, until a signal arrives that it
 * handles (-ERESTARTSYS, by which the caller's kernel restarts the call or says EINTR, as the signal's
 * handler wants), or its death.  What does not end at once is answered later: nobody waits here.  The
 * socket's options and flags are the caller's own again when this returns.
 */
struct answer connect_patiently(struct caller *c, const struct connecting *to);

/* --- connect_unix.c --- */

struct answer connect_unix(struct caller *c, const struct endpoint *e);

/* --- unix_alias.c --- */

/* *d allows a socket by a rule about files outside the workspace, which says nothing of who listens there. */
bool is_strangers(struct caller *c, const struct decision *d);
/* The socket st, which *d lets be reached as req's path, was bound under another name that is denied:
 * recorded and said. */
bool alias_is_denied(struct caller *c, const struct request *req, const struct decision *d,
		     const struct stat *st);

/* --- meant.c --- */

struct meaning {
	struct decision d;
	char name[LIMIT_HOST]; /* the name that decided, "": the address did */
	char approval[40];     /* of the human who let that name be looked up and so decided, or "" */
	/* Who is reached there, where that decided: on this machine, and no rule of the operator's spoke. */
	struct port port;
};

/* By which name the inet address in *req was meant, and what the policy says of it.  req->host becomes ret's.
 */
void meaning_find(struct caller *c, struct request *req, struct meaning *ret);
/*
 * Concludes it: asked where it must be, recorded and told.  A yes is for who listened when it was asked.
 * Not for a port that is nobody's, where there is nothing to connect to.
 */
bool meaning_conclude(struct caller *c, struct request *req, const struct meaning *m);

/* --- connect_resolver.c --- */

#define DNS_PORT 53
/* A stream to a name server, whichever it names, ends at the session's own. */
struct answer connect_resolver(struct caller *c, const struct endpoint *e, const struct request *req);

/* --- made.c --- */

/* What time it is before a bind(2). */
struct timespec made_now(void);
/* The session made what is there, since then: name in dirfd, or "", dirfd itself. */
void made_at(struct supervisor *s, int dirfd, const char *name, const struct timespec *since);
/* What is held was made inside the session. */
bool made_here(struct supervisor *s, int file);

/* --- narrow.c --- */

/*
 * A stream socket of every address, which the policy does not let be one of every address, becomes one of
 * this machine where it lets it be that: recorded and said.  False: it is refused.
 */
bool narrow_to_machine(struct caller *c, const struct endpoint *e, uint16_t port);

/* --- bind.c --- */

struct answer bind_unix(struct caller *c, const struct endpoint *e);

#endif
