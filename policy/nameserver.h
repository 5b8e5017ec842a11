/*
 * Name servers, as resolv.conf(5) lists them.  Text in, verdict out; async-signal-safe.
 */
#ifndef PALE_NAMESERVER_H
#define PALE_NAMESERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One of the `nameserver` lines in this text leads to addr (16 canonical bytes, v4 mapped).  A text
 * without any means the one on this machine.
 */
bool nameserver_in(const char *text, size_t len, const uint8_t addr[16]);

struct nameserver {
	uint8_t addr[16];
	char zone[16]; /* of a link-local one: its interface; else "" */
};
/* Those lines, or the one on this machine, in their order; how many. */
size_t nameserver_list(const char *text, size_t len, struct nameserver *ret, size_t max);

#endif
