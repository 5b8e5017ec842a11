/*
 * Name servers, as resolv.conf(5) lists them.  Text in, verdict out; async-signal-safe.
 */
#ifndef PALE_NAMESERVER_H
#define PALE_NAMESERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nameserver {
	uint8_t addr[16]; /* canonical, v4 mapped */
	char zone[16];	  /* of a link-local one: its interface; else "" */
};
/* The `nameserver` lines of this text, in their order, or the one on this machine where it has none; how
 * many. */
size_t nameserver_list(const char *text, size_t len, struct nameserver *ret, size_t max);

#endif
