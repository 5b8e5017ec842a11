/* Words that are not ASCII and may still be shown as themselves, since they cannot pass for others. */
#ifndef PALE_LEGIBLE_H
#define PALE_LEGIBLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The length of the word at s: ASCII letters and digits, and every byte that is not ASCII; 0 where none
 * begins. *ret_legible: all of it is letters of one script that is written from left to right, and at least
 * one of them looks like no Latin letter.
 */
size_t legible_word(const char *s, bool *ret_legible);

#endif
