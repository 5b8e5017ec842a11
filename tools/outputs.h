/*
 * The agent's standard output and error, written to files beside where they go: [session] logs.
 */
#ifndef PALE_OUTPUTS_H
#define PALE_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>

/* --- outputs_place.c --- */

/* Writes down that the logs of session id are dir/ID.stdout and dir/ID.stderr.  0 or -errno. */
int outputs_note(const char *id, const char *dir);
/* The logs of session id without their ending: 0, -ENOENT, -errno. */
int outputs_find(const char *id, char ret[PATH_MAX]);
/* The logs of session id in dir were made by pale: it was written down. */
bool outputs_is_ours(const char *id, const char *dir);
/* They are gone. */
void outputs_forget(const char *id);

#endif
