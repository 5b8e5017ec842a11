/*
 * What the probes of the network share.
 *
 * They run in a network of their own (netprobe.sh), where one listener (target.py) has all addresses, and
 * every name server's port: it notes each probe's name that reaches it, in whatever it comes.  So a probe
 * sends its own name, and where a sender is not told what became of it, returns STOPPED and leaves the word
 * to the listener.
 */
#ifndef PALE_TESTS_ESCAPES_NETPROBE_H
#define PALE_TESTS_ESCAPES_NETPROBE_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "escape.h"

#define EVIL   "45.33.32.66"   /* no rule names it, nor any name that leads to it */
#define EVIL6  "2600:3c01::66" /* likewise */
#define GOOD   "151.101.1.10"  /* allowed at escape_port; what comes there is no escape */
#define GOOD2  "151.101.1.14"  /* of good.example, which is allowed at port 443 */
#define SERVER "93.184.215.53" /* of resolv.conf */

#define DNS_PORT 53

/* At escape_port.  Of addresses other than loopback's the probe ends with NOT_HERE where they are not. */
struct sockaddr_in v4(const char *host);
struct sockaddr_in6 v6(const char *host);
struct sockaddr_in v4_at(const char *host, unsigned port);
/* The same, outside a network of our own. */
void want_net(void);

int made(int family, int type, int protocol);
/* Connects and says the probe's name. */
int call(int s, const void *addr, socklen_t len);
/* Sends the probe's name in a datagram; what became of it the listener knows. */
int say_to(int s, const void *addr, socklen_t len, int flags);
int say_connected(int s, const void *addr, socklen_t len);

/* A datagram socket; one that is connected to SERVER, to whom it may be. */
int udp(void);
int udp_to_server(void);

/* A page that is shared with children. */
void *shared_page(void);
/* A child of ours that copies now the one, now the other to where (of a shared page), until ended. */
pid_t turn(void *where, const void *one, const void *other, size_t len);
void end_turn(pid_t child);
/* Whether to try again: for some time from the first call, which is told a 0. */
bool still(uint64_t *since);

/* Asks SERVER for the name by a datagram, and waits for what is answered. */
void look_up(const char *name, unsigned type);

#endif
