/* Stamps: the time, and random ids. */
#ifndef PALE_HELPER_STAMP_H
#define PALE_HELPER_STAMP_H

#include <stddef.h>
#include <stdint.h>

uint64_t clock_boot_ns(void); /* CLOCK_BOOTTIME: for expiry */
/* RFC 3339 UTC with microseconds; no locale, no time zone files. */
void time_format(uint64_t real_ns, char buf[32]);
/* n random bytes as hex (2n+1 chars).  0 or -errno; buf never gets weak random bytes. */
int random_hex(char *buf, size_t n_bytes);

#endif
