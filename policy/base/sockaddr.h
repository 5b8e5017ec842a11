/*
 * What a socket address says: bytes in, canonical destination out.  The same for the preload and
 * the supervisor, so that both judge one spelling.
 *
 * The bytes are somebody else's, so every length is checked; what is too short or of another family
 * is told as such and left to the kernel, which refuses it.  No state, no system call;
 * async-signal-safe.
 */
#ifndef PALE_SOCKADDR_H
#define PALE_SOCKADDR_H

#include <netinet/in.h>
#include <sys/un.h>

#include "buf.h"

/*
 * The address and port as they stand, v4 mapped into ::ffff:0:0/96: what bind(2) is given.  A family
 * that is not AF_INET6 is read as AF_INET, as the kernel reads AF_UNSPEC.  False where it is too short.
 */
bool sockaddr_inet(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port);
/* The same as a destination: "any", by which connect(2) reaches this very machine, is loopback. */
bool sockaddr_reached(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port);
/* The one spelling of what is reached by addr, in place: NAT64 and v4-compatible become v4, "any" loopback.
 */
void sockaddr_meant(uint8_t addr[16]);
/* Not loopback, link-local, private or of the like. */
bool sockaddr_is_public(const uint8_t addr[16]);
/* "127.0.0.1" or "[fe80:0:0:0:0:0:0:1]": without the :: shorthand, plain and unambiguous. */
void text_inet(struct out *o, const uint8_t addr[16]);

enum sockaddr_name {
	SOCKADDR_NONE,	  /* no name: autobind, or what the kernel refuses */
	SOCKADDR_PATH,	  /* a socket file */
	SOCKADDR_ABSTRACT /* "@name", escaped as for people: it may hold any byte */
};
/* Every byte of an abstract name escaped, the @ and the NUL. */
#define SOCKADDR_NAME (4 * sizeof(((struct sockaddr_un *)0)->sun_path) + 2)
/* The name in the unix address of len bytes, as unix(7) tells its three forms apart. */
enum sockaddr_name sockaddr_unix(const void *sa, size_t len, char name[SOCKADDR_NAME]);

/*
 * A socket file by which libc has a daemon look up names and users (nscd; systemd-resolved's varlink):
 * answered ENOENT, libc does the work itself, where it is judged.
 */
bool sockaddr_is_name_service(const char *path);

#endif
