/*
 * Pins: the text of a project's policy or .env that the operator trusts.
 *
 * A pin is a file named by the SHA-256 of the trusted file's path.  Its first line holds the SHA-256 of the
 * content and the path, in the format of sha256sum(1): any change of the file or its place ends the trust.
 * The rest is the part of the file that counted then, to show what changed; it decides nothing.
 */
#ifndef PALE_PINS_H
#define PALE_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/paths.h"

struct dirent;

/* The path of the pin for the file `path`.  0 or -ENAMETOOLONG. */
int pin_path(const struct dirs *dirs, const char *path, char *buf, size_t size);
/* True where the operator trusts the file `path` with exactly this content. */
bool pin_matches(const struct dirs *dirs, const char *path, const char *text, size_t len);
/* Writes the pin `file` for path, whose content is text; counts is the part of it that has an effect.  0 or
 * -errno; -EINVAL for a path with a newline. */
int pin_write(const char *file, const char *path, const char *text, size_t len, const char *counts,
	      size_t counts_len);
/* The pin's own text (the caller must free it), or NULL.  *ret_counted points into it, at the part that
 * counted when the pin was written; NULL where that is not known. */
char *pin_read(const char *file, const char **ret_counted, size_t *ret_len);
/* The path that the pin `file` names, or NULL.  The caller must free it. */
char *pin_names(const char *file);
/* For scandir(3): the entry's name is that of a pin. */
int pin_is(const struct dirent *e);

#endif
