/*
 * Whose is a port of this machine?  What this session bound is its own; whoever listens at another acts
 * outside the fence, so that to be let in there is to be let out.  Private to tools/supervisor/.
 *
 * A socket is known by its cookie (SO_COOKIE), which the kernel never gives twice: noted where the supervisor
 * binds it or lets it listen, and asked for by sock_diag(7) when somebody connects.  So it does not matter
 * which process has it by now, and a port that somebody else took since is not the session's.
 */
#ifndef PALE_PORTS_H
#define PALE_PORTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/base/op.h"

#define PORT_SETS 128u
#define PORT_WAYS 16u

struct own_port {
	uint64_t cookie;
	uint32_t image; /* the number of what held for who bound it */
	uint16_t port;
	bool is_datagram;
	uint8_t addr[16];
};

/* All under the lock but `shares`. */
struct ports {
	pthread_mutex_t lock;
	int diag;	     /* netlink, -1: not opened yet */
	int probe[2];	     /* datagram sockets of IPv4 and IPv6 that never send, likewise */
	uint32_t seq;	     /* of the last question */
	bool is_blind;	     /* this kernel does not tell who listens */
	_Atomic bool shares; /* some socket of the session may share its port (SO_REUSEPORT) */
	unsigned next;	     /* which of a full set gives way */
	struct own_port own[PORT_SETS][PORT_WAYS];
};

enum port_owner { PORT_UNKNOWN, PORT_NOBODYS, PORT_OWN, PORT_OTHERS };

struct port {
	enum port_owner owner;
	uint32_t uid, inode; /* PORT_OTHERS: of the socket; inode 0: not told */
	uint64_t cookie;
};

void ports_init(struct ports *p);
void ports_done(struct ports *p);

/* The session gave that socket its address; image: of who did that. */
void ports_note(struct ports *p, int fd, uint32_t image);
/* It listens now; unbound: it had no address before.  One that came with an address stays who bound it. */
void ports_listens(struct ports *p, int fd, uint32_t image, bool unbound);
/* Who is reached at req's address and port, by whom that image holds.  Some microseconds. */
struct port ports_find(struct ports *p, const struct request *req, uint32_t image);
/* addr is one of this machine's own: loopback, or of its other devices. */
bool ports_is_loopback(const uint8_t addr[16]);
bool ports_is_here(struct ports *p, const uint8_t addr[16]);

/* "PROGRAM (pid N) of user NAME", as far as /proc lets that be seen.  Looks at all processes. */
#define PORT_TEXT 512
const char *port_text(const struct port *port, char buf[PORT_TEXT]);

#endif
