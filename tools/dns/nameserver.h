/*
 * Name servers, as resolv.conf(5) lists them.  No system calls; async-signal-safe.
 */
#ifndef PALE_NAMESERVER_H
#define PALE_NAMESERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nameserver {
	uint8_t addr[16]; /* canonical, v4 mapped */
	char zone[16];	  /* the interface of a link-local address, else "" */
};
/* The servers of the `nameserver` lines in text, in their order, or the server on this machine where there
 * is no such line.  Returns their number. */
size_t nameserver_list(const char *text, size_t len, struct nameserver *ret, size_t max);

#endif
