/*
 * Removes secrets from texts before they are written down: values that the launcher declared as secret,
 * wherever they stand, and texts that have the form of a secret.  In doubt a text is masked, since a record
 * also names program, rule and time.  The command, path or host of a question is not masked for a human;
 * its variables and its aim are (shown.c).
 */
#ifndef PALE_MASK_H
#define PALE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VALUE_MIN	8 /* a shorter value would occur in too many texts */
#define MASK_VALUES_MAX 256

struct mask_value {
	const char *bytes;
	uint16_t len;
	uint16_t next; /* index + 1 of the next value that begins with the same byte, 0: no more */
};

struct mask {
	uint64_t pairs[1024]; /* a bit for each two bytes that a secret, or a text before it, begins with */
	uint16_t first[256];  /* index + 1 of the first value that begins with this byte */
	struct mask_value value[MASK_VALUES_MAX];
	size_t n;
	char *bytes; /* holds the values; locked in memory, and not in a core */
	size_t size;
};

/* Sets the known forms of secrets, without values. */
void mask_init(struct mask *m);
/* Reads values, each ended by a NUL, from the file; skips those that are too short.  0 or -errno. */
int mask_learn(struct mask *m, int fd);
void mask_done(struct mask *m);
/* True where the text certainly holds no secret. */
bool mask_is_clean(const struct mask *m, const char *text, size_t len);
/* Replaces each secret in the text by ***, in place.  The new length, never greater; m may be NULL. */
size_t mask_text(const struct mask *m, char *text, size_t len);
/*
 * The same for a text that says what a call acts on: replaces only the values, and passwords and tokens in
 * URLs.  Otherwise a process could hide the name of a file or a host by its form.
 */
size_t mask_target(const struct mask *m, char *text, size_t len);

#endif
