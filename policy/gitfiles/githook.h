/*
 * Hooks of git that anybody may write: those that git-lfs installs, by their text.
 */
#ifndef PALE_GITHOOK_H
#define PALE_GITHOOK_H

#include <stdbool.h>
#include <stddef.h>

/* A hook of this name is one of git-lfs's. */
bool githook_is_lfs_name(const char *name);
/* And it says what some version of git-lfs writes there, to the letter. */
bool githook_is_lfs(const char *name, const char *text, size_t len);

#endif
