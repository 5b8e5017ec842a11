/*
 * May a pointer of the caller be read?  A function of libc passes a bad pointer on to the kernel, which
 * returns EFAULT; a hook reads what it points to, and must not crash.  Everything here is async-signal-safe
 * and vfork-safe.
 */
#ifndef PALE_MEMORY_H
#define PALE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* True if n bytes at p can be read; n is at most a page. */
bool memory_has(const void *p, size_t n);
/* True if the path can be read up to its end, or up to the longest that the kernel takes. */
bool memory_has_path(const char *path);
/* True if a vector of words that ends with NULL can be read, and each word.  NULL is an empty vector. */
bool memory_has_words(char *const words[]);

#endif
