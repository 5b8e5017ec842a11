/*
 * The policy of a session: gathered from its files, trusted or not, and made into an image.
 *
 * Pins: which text of a project's policy or .env the operator trusts.
 *
 * A pin is a file named by the SHA-256 of the trusted file's path.  Its first line holds the SHA-256 of the
 * content and the path, in the format of sha256sum(1): any change of the file or of its place ends the trust.
 * Below it stands what of the file counted then, to show what changed; nothing is decided by that.
 */
#ifndef PALE_PINS_H
#define PALE_PINS_H

#include "tools/base/tools.h"

struct dirent;

/* Where the pin of the file `path` lies.  0 or -ENAMETOOLONG. */
int pin_path(const struct dirs *dirs, const char *path, char *buf, size_t size);
/* The operator trusts the file `path` with these very contents. */
bool pin_matches(const struct dirs *dirs, const char *path, const char *text, size_t len);
/* Writes the pin `file` of path, which holds text; counts is the part of it that has an effect.  0 or -errno;
 * -EINVAL for a path with a newline. */
int pin_write(const char *file, const char *path, const char *text, size_t len, const char *counts,
	      size_t counts_len);
/* The pin's own text (the caller must free it), or NULL; *ret_counted points into it at what counted when it
 * was written, NULL: that is not known. */
char *pin_read(const char *file, const char **ret_counted, size_t *ret_len);
/* The path that the pin `file` names, or NULL.  The caller must free it. */
char *pin_names(const char *file);
/* scandir(3): the entry's name is a pin's. */
int pin_is(const struct dirent *e);

#endif
