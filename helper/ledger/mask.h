/*
 * Secrets out of texts before they are written down: values that the launcher told as secret, wherever they
 * stand, and what has the shape of one.  It errs towards masking, since a record also names program, rule and
 * time.  What is asked of a human is never masked: only what is kept.
 */
#ifndef PALE_MASK_H
#define PALE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VALUE_MIN	8 /* a shorter value would mask half of everything */
#define MASK_VALUES_MAX 256

struct mask_value {
	const char *bytes;
	uint16_t len;
	uint16_t next; /* place + 1 of the next one that begins with the same byte, 0: none */
};

struct mask {
	uint64_t pairs[1024]; /* a bit for each two bytes that a secret, or what leads to one, begins with */
	uint16_t first[256];  /* place + 1 of the values that begin with this byte */
	struct mask_value value[MASK_VALUES_MAX];
	size_t n;
	char *bytes; /* of the values; locked, and not in a core */
	size_t size;
};

/* The known shapes, no values. */
void mask_init(struct mask *m);
/* Takes the values, each ended by a NUL, out of a file of that kind.  0 or -errno; too short ones are passed
 * over. */
int mask_learn(struct mask *m, int fd);
void mask_done(struct mask *m);
/* Nothing in the text needs masking, for sure. */
bool mask_is_clean(const struct mask *m, const char *text, size_t len);
/* Overwrites each secret in the text by ***, in place; the new length, never greater.  m may be NULL. */
size_t mask_text(const struct mask *m, char *text, size_t len);
/* The same for what says where a command goes: only the values, and passwords and tokens in URLs.  Whoever
 * names a file or a host could hide it else. */
size_t mask_target(const struct mask *m, char *text, size_t len);

#endif
