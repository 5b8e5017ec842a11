/*
 * DNS messages read by hand (RFC 1035, 4.1), independently of ldns: what the fuzzers hold the results
 * against.
 */
#ifndef PALE_FUZZ_DNS_WALK_H
#define PALE_FUZZ_DNS_WALK_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

static inline unsigned at16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* A name in full, lower case, in wire form. */
struct walk_name {
	size_t n;
	uint8_t wire[256];
};

/* The name at `at`, pointers followed backwards; where it ends in the message, 0: it is none. */
static inline size_t walk_name(const uint8_t *msg, size_t len, size_t at, struct walk_name *ret)
{
	size_t end = 0, limit = at;

	ret->n = 0;
	while (at < len) {
		uint8_t c = msg[at];

		if (c >= 0xc0) {
			if (at + 2 > len)
				return 0;
			end = end ? end : at + 2;
			at = at16(msg + at) & 0x3fff;
			if (at >= limit)
				return 0;
			limit = at;
			continue;
		}
		if (c > 63 || at + 1 + c > len || ret->n + 1 + c > 255)
			return 0;
		for (size_t i = 0; i <= c; i++)
			ret->wire[ret->n++] = (uint8_t)(i ? tolower(msg[at + i]) : c);
		at += 1u + c;
		if (c == 0)
			return end ? end : at;
	}
	return 0;
}

static inline bool walk_equal(const struct walk_name *a, const struct walk_name *b)
{
	return a->n == b->n && memcmp(a->wire, b->wire, a->n) == 0;
}

struct walk_record {
	struct walk_name owner;
	unsigned section; /* 1 answer, 2 authority, 3 additional */
	unsigned type, n_data;
	size_t data; /* where in the message */
};

typedef void (*walk_fn)(void *cookie, const uint8_t *msg, size_t len, const struct walk_record *r);

/* Every record; what we wrote ends exactly where its last record does. */
static inline void walk(const uint8_t *msg, size_t len, walk_fn fn, void *cookie)
{
	struct walk_record r;
	size_t at = 12;

	REQUIRE(len >= 12);
	for (unsigned i = 0; i < at16(msg + 4); i++) {
		at = walk_name(msg, len, at, &r.owner);
		REQUIRE(at && at + 4 <= len);
		at += 4;
	}
	for (r.section = 1; r.section <= 3; r.section++)
		for (unsigned i = 0; i < at16(msg + 4 + 2 * r.section); i++) {
			at = walk_name(msg, len, at, &r.owner);
			REQUIRE(at && at + 10 <= len);
			r.type = at16(msg + at);
			r.n_data = at16(msg + at + 8);
			r.data = at + 10;
			REQUIRE(r.n_data <= len - r.data);
			at = r.data + r.n_data;
			if (fn)
				fn(cookie, msg, len, &r);
		}
	REQUIRE(at == len);
}

/* As long as the bytes and no longer, so that one too many is seen. */
static inline uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *p = malloc(size ? size : 1);

	REQUIRE(p);
	memcpy(p, data, size);
	return p;
}

#endif
