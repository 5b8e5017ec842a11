/* Functions that escaping and printing of records share.  Included by record*.c alone. */
#ifndef PALE_RECORD_IMPL_H
#define PALE_RECORD_IMPL_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the valid UTF-8 sequence at p (left bytes are there) that needs no escape; else 0. */
size_t record_plain_len(const unsigned char *p, size_t left);
/* How many bytes at the start of s need no escape, neither in a record nor in JSON.  Usually nearly all. */
size_t record_plain_run(const char *s, size_t len);
/* True where s is as record_escape() makes it: without any control character. */
bool record_is_escaped(const char *s, size_t len);

#endif
