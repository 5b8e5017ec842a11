/* Macros that every room may use: the elements of an array, what is freed at the end of a block. */
#ifndef PALE_UTIL_H
#define PALE_UTIL_H

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

#endif
