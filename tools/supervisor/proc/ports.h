/*
 * Tells to which session a port of this machine belongs.  A port that this session bound is its own; a
 * process that listens at another port acts outside the fence, so connecting to it is a way out of the
 * fence.  Private to tools/supervisor/.
 *
 * A socket is known by its cookie (SO_COOKIE), which the kernel never gives twice.  The cookie is noted
 * when the supervisor binds the socket or lets it listen, and looked up by sock_diag(7) when a process
 * connects.  So it does not matter which process has the socket by then, and a port that was taken over by
 * another program is not the session's.
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
	uint32_t image; /* number of the image that held for the process that bound it */
	uint16_t port;
	bool is_datagram;
	uint8_t addr[16];
};

/* All fields but `shares` are under the lock. */
struct ports {
	pthread_mutex_t lock;
	int diag;		  /* netlink, -1: not opened yet */
	int probe[2];		  /* datagram sockets of IPv4 and IPv6 that never send; -1: not opened yet */
	uint32_t seq;		  /* of the last question */
	bool is_blind;		  /* this kernel does not tell which sockets listen */
	_Atomic bool shares;	  /* some socket of the session may share its port (SO_REUSEPORT) */
	unsigned next[PORT_SETS]; /* the next entry to replace when the set is full */
	struct own_port own[PORT_SETS][PORT_WAYS];
};

enum port_owner { PORT_UNKNOWN, PORT_NOBODYS, PORT_OWN, PORT_OTHERS };

struct port {
	enum port_owner owner;
	uint32_t uid, inode; /* PORT_OTHERS: of the socket; inode 0: not known */
	uint64_t cookie;
};

void ports_init(struct ports *p);
void ports_done(struct ports *p);

/* Notes that the session gave the socket its address; image: of the process that did so. */
void ports_note(struct ports *p, int fd, uint32_t image);
/* Notes that the socket listens; unbound: it had no address before.  Otherwise it keeps the image of the
 * process that bound it. */
void ports_listens(struct ports *p, int fd, uint32_t image, bool unbound);
/* Finds the owner of req's address and port, as seen by a process in which `image` holds.  Takes some
 * microseconds. */
struct port ports_find(struct ports *p, const struct request *req, uint32_t image);
/* addr belongs to this machine: to loopback or to another of its devices. */
bool ports_is_loopback(const uint8_t addr[16]);
bool ports_is_here(struct ports *p, const uint8_t addr[16]);

/* "PROGRAM (pid N) of user NAME", as far as /proc shows it.  Reads all processes. */
#define PORT_TEXT 512
const char *port_text(const struct port *port, char buf[PORT_TEXT]);

#endif
