/*
 * Sockets of the callers, and the addresses they are given.  Private to endpoint.c, connect.c,
 * connect_unix.c, connect_resolver.c, meant.c, sockets.c, bind.c, patience.c and waiting.c.
 *
 * Everything is done on a duplicate of the caller's descriptor, so a call acts on the socket that was
 * checked, whatever happens to the number meanwhile.  The address family is taken from the socket, never
 * from the address.  The address is copied once.
 */
#ifndef PALE_NET_H
#define PALE_NET_H

#include <sys/socket.h>

#include "policy/base/sockaddr.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/proc/ports.h"

struct stat;
struct supervisor;

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
	/* Performs the call on the held place of a unix address that was judged; NULL: connect to it. */
	int (*reach)(struct caller *c, const struct endpoint *e, const struct sockaddr *sa, socklen_t len);
};

/*
 * Duplicates the socket args[0].  0, -EBADF, -ENOTSOCK, -ESRCH.  endpoint_done() must be called in each
 * case.
 */
int endpoint_take(struct endpoint *e, struct caller *c);
/* Also copies the address at `addr`, of len bytes as the caller says.  Further errors: -EINVAL, -EFAULT. */
int endpoint_take_addr(struct endpoint *e, struct caller *c, uint64_t addr, uint64_t len);
void endpoint_done(struct endpoint *e);
/* An integer option of SOL_SOCKET, or -errno. */
int endpoint_option(const struct endpoint *e, int option);

/* "host:port", or "udp host:port" for a datagram; with the name where there is one.  Returns buf. */
#define INET_TARGET (LIMIT_HOST + 64)
const char *inet_target(const struct request *req, char buf[INET_TARGET]);

/* True for the address that stands for all of a machine's: 0.0.0.0, ::. */
bool inet_is_any(const uint8_t addr[16]);
/* Replaces "any" in a destination by the address as which it is judged: that to which the socket itself is
 * bound, with loopback first. */
void inet_name_machine(void *sa, size_t len);

/* connect(2) to exactly the address that the caller gave. */
struct answer connect_as_said(struct caller *c, const struct endpoint *e);

/* For a family that is not judged: refuses and records. */
struct answer refuse_family(struct caller *c, const struct endpoint *e, enum op op);

/* --- patience.c --- */

/* The destination, and what to do once connected. */
struct connecting {
	int fd; /* the duplicate of the caller's socket */
	const struct sockaddr *sa;
	socklen_t len;
	int file; /* the file that sa names by /proc/self/fd, kept open during the connect; -1: none */
	/* NULL, or called in any thread once connected, for process tgid; its result is that of the
	 * call. */
	int (*then)(struct supervisor *s, pid_t tgid, int fd);
	/* The connect may go on only while the port belongs to the session (ports.h). */
	bool is_own;
	uint32_t image; /* for `then`: of the caller */
};

/*
 * connect(2) on the caller's socket, with the result that the caller's own call would have: a socket that
 * does not block gets EINPROGRESS; one that blocks waits as long as SO_SNDTIMEO says, until a signal
 * arrives that the caller handles (-ERESTARTSYS, by which the caller's kernel restarts the call or says
 * EINTR, as the signal's handler wants), or its death.  A connect that does not end at once is answered
 * later: this function does not wait.  When it returns, the socket's options and flags are as the caller
 * set them.
 */
struct answer connect_patiently(struct caller *c, const struct connecting *to);

/* --- connect_unix.c --- */

struct answer connect_unix(struct caller *c, const struct endpoint *e);

/* --- unix_alias.c --- */

/* True where *d allows a socket by a rule about files outside the workspace: such a rule does not tell
 * which program listens there. */
bool is_strangers(struct caller *c, const struct decision *d);
/* True where the socket st, which *d allows as req's path, was bound under another name that is denied:
 * recorded and printed. */
bool alias_is_denied(struct caller *c, const struct request *req, const struct decision *d,
		     const struct stat *st);

/* --- meant.c --- */

struct meaning {
	struct decision d;
	char name[LIMIT_HOST]; /* the name that decided; "": the address decided */
	char approval[40]; /* of the operator's answer that allowed the look-up of that name and so decided,
			      or "" */
	/* The owner of the port, where that decided: on this machine, and without a rule of the
	 * operator's. */
	struct port port;
};

/* Finds the name by which the inet address in *req was meant, and the policy's verdict.  req->host becomes
 * that of *ret. */
void meaning_find(struct caller *c, struct request *req, struct meaning *ret);
/*
 * Acts on the verdict: asks where needed, records and prints.  An answer to a question holds for the port's
 * owner at that time.  Must not be called for a port without owner, where there is nothing to connect to.
 */
bool meaning_conclude(struct caller *c, struct request *req, const struct meaning *m);

/* --- connect_resolver.c --- */

#define DNS_PORT 53
/* Connects a stream to any name server to the session's own resolver. */
struct answer connect_resolver(struct caller *c, const struct endpoint *e, const struct request *req);

/* --- narrow.c --- */

/*
 * Restricts a stream socket of every address to this machine, where the policy denies the former and allows
 * the latter: recorded and printed.  False: refused.
 */
bool narrow_to_machine(struct caller *c, const struct endpoint *e, uint16_t port);

/* --- bind.c --- */

struct answer bind_unix(struct caller *c, const struct endpoint *e);

#endif
