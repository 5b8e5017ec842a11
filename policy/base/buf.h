/*
 * Bounded bytes.  struct cursor reads hostile bytes, struct out writes into a fixed range.  Both stay
 * failed after the first failure, so a caller can check once, at the end.  No other code handles raw
 * lengths.  async-signal-safe.
 */
#ifndef PALE_BUF_H
#define PALE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *p;
	size_t left;
	bool failed;
};

struct cursor cursor_of(const void *bytes, size_t len);
uint8_t get_u8(struct cursor *c);
uint16_t get_u16(struct cursor *c);
uint32_t get_u32(struct cursor *c);
/* The next n bytes, borrowed from the cursor's range, or NULL. */
const void *get_bytes(struct cursor *c, size_t n);
/* Reads a u32 length that counts the NUL, then the bytes, which stay borrowed; "" on failure.  A NUL inside
 * the text is a failure. */
const char *get_str(struct cursor *c);

struct out {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

struct out out_of(void *bytes, size_t cap);
void put_u16(struct out *o, uint16_t v);
void put_u32(struct out *o, uint32_t v);
void put_bytes(struct out *o, const void *b, size_t n);
void put_str(struct out *o, const char *s); /* NULL counts as "" */

/* Text: appended without NUL, cut (and failed) when full.  text_end() puts the NUL, always in bounds. */
void text_str(struct out *o, const char *s);
void text_uint(struct out *o, uint64_t v);
void text_hex(struct out *o, uint64_t v, unsigned digits);
/*
 * Untrusted bytes for a terminal: printable ASCII as it is, backslash doubled, every other byte as \xNN
 * (never stripped, never raw: Deno GHSA-m4pq-fv2w-6hrw).  All text for a terminal is escaped here or
 * by print_escaped() of the tools, which leaves words alone that cannot mislead (legible.h).
 * record_escape() differs only in that it keeps UTF-8 for the ledger; when a record is shown, that is
 * escaped too.  record_unescape() undoes both.
 */
void text_escaped(struct out *o, const char *s, size_t n);
const char *text_end(struct out *o);
/* The value of a lower-case hexadecimal digit, or -1. */
int hex_digit(char c);

#endif
