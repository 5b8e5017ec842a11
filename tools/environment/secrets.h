/* Values of the environment that must not appear in the ledger. */
#ifndef PALE_SECRETS_H
#define PALE_SECRETS_H

struct environment;

/*
 * Sealed memory with each value ended by a NUL: a descriptor, -ENOENT where there is no such value, -errno.
 */
int secrets_file(const struct environment *env);

#endif
