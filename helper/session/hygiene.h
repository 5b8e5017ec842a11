/* The start-up of a program that may be setuid. */
#ifndef PALE_HELPER_HYGIENE_H
#define PALE_HELPER_HYGIENE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The first call of main(), as in sudo and pkexec.  Returns 0, or the exit code with one sentence in
 * *ret_err.  *ret_owner is the uid of the user that started the helper; *ret_foreign is true where the helper
 * is installed setuid and now runs, for good, as another user.
 */
int hygiene(int argc, uid_t *ret_owner, bool *ret_foreign, const char **ret_err);

#endif
