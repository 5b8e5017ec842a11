/*
 * Internet addresses as 16 bytes, v4 mapped into ::ffff:0:0/96 (sockaddr.h makes them).  async-signal-safe.
 */
#ifndef PALE_ADDR_H
#define PALE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A v4 prefix of n bits is one of V4_PREFIX + n. */
#define V4_PREFIX 96u

enum addr_class {
	ADDR_PUBLIC,
	ADDR_SITE,    /* an organization's own network: RFC 1918 */
	ADDR_PRIVATE, /* shared, multicast, reserved, documentation, tunnels, private by IPv6 */
	ADDR_LOOPBACK,
	ADDR_LINK /* link-local, and the addresses where clouds serve their metadata */
};

/* Textual v4 ("1.2.3.4", four decimal parts) or v6 address of n bytes, without brackets or zone; false for
 * anything else (ret is then undefined). */
bool addr_parse(const char *text, size_t n, uint8_t ret[16]);
bool addr_is_v4(const uint8_t addr[16]);
/* Clears the bits after the prefix (0 to 128). */
void addr_mask(uint8_t addr[16], unsigned prefix);
enum addr_class addr_classify(const uint8_t addr[16]);
/* NAT64 and v4-compatible addresses become the v4 address that they mean. */
void addr_canonical(uint8_t addr[16]);
/* The unspecified address becomes loopback, which is what a connect to it reaches. */
void addr_reached(uint8_t addr[16]);

#endif
