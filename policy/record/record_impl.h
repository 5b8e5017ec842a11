/* What escaping and printing of records share.  Included by record*.c alone. */
#ifndef PALE_RECORD_IMPL_H
#define PALE_RECORD_IMPL_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the valid UTF-8 sequence at p, of which left bytes are there, that may stand as it is; or 0. */
size_t record_plain_len(const unsigned char *p, size_t left);
/* How many bytes of s, nearly all as a rule, stand as they are, in a record as in JSON. */
size_t record_plain_run(const char *s, size_t len);
/* Every byte of s is as record_escape() leaves it: no control character of any kind. */
bool record_is_escaped(const char *s, size_t len);

#endif
