/*
 * What a socket address means: bytes in, canonical destination out.  The preload and the supervisor share
 * this, so that both judge the same spelling.
 *
 * The bytes come from another program, so every length is checked.  An address that is too short or of
 * another family is reported as such and left to the kernel, which refuses it.  No state, no system call;
 * async-signal-safe.
 */
#ifndef PALE_SOCKADDR_H
#define PALE_SOCKADDR_H

#include <netinet/in.h>
#include <sys/un.h>

#include "buf.h"

/*
 * The address and port unchanged, v4 mapped into ::ffff:0:0/96, as bind(2) takes them.  A family that is
 * not AF_INET6 is read as AF_INET, as the kernel reads AF_UNSPEC.  False where it is too short.
 */
bool sockaddr_inet(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port);
/* The same as a destination: the address "any", by which connect(2) reaches this machine, is loopback. */
bool sockaddr_reached(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port);
/* Changes addr to the one spelling of what it reaches: NAT64 and v4-compatible become v4, "any"
 * loopback. */
void sockaddr_meant(uint8_t addr[16]);
/* True where addr is of ADDR_PUBLIC, after sockaddr_meant(). */
bool sockaddr_is_public(const uint8_t addr[16]);
/* "127.0.0.1" or "[fe80:0:0:0:0:0:0:1]": without the :: shorthand, plain and unambiguous. */
void text_inet(struct out *o, const uint8_t addr[16]);

enum sockaddr_name {
	SOCKADDR_NONE,	  /* no name: autobind, or an address that the kernel refuses */
	SOCKADDR_PATH,	  /* a socket file */
	SOCKADDR_ABSTRACT /* "@name", escaped (text_escaped()): it may hold any byte */
};
/* Room for an abstract name with every byte escaped, the @ and the NUL. */
#define SOCKADDR_NAME (4 * sizeof(((struct sockaddr_un *)0)->sun_path) + 2)
/* The name in the unix address of len bytes, in one of the three forms of unix(7). */
enum sockaddr_name sockaddr_unix(const void *sa, size_t len, char name[SOCKADDR_NAME]);

/*
 * True for a socket file through which libc lets a daemon look up names and users (nscd; systemd-resolved's
 * varlink).  Where it gets ENOENT, libc does the lookup itself, and that is judged.
 */
bool sockaddr_is_name_service(const char *path);

#endif
