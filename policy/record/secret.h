/*
 * What looks like a secret in a text: shared by the ledger's mask and by the judge of an environment, so that
 * both know the same shapes.  It errs towards finding one.
 */
#ifndef PALE_SECRET_H
#define PALE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* [at, at + len) is the secret; at may lie behind where was looked. */
struct secret_hit {
	size_t at, len;
};

/* A secret, or what leads to one, begins at text[i]. */
bool secret_at(const char *text, size_t len, size_t i, struct secret_hit *ret);
/* A URL with a password or token begins around text[i], and no command of a shell is in that. */
bool secret_in_url(const char *text, size_t len, size_t i, struct secret_hit *ret);
/* There is one anywhere in text. */
bool secret_is_in(const char *text, size_t len);
/* Calls fn for each beginning that secret_at() knows, so that a caller can skip what begins otherwise. */
void secret_leads(void (*fn)(void *ctx, const char *lead, bool any_case), void *ctx);

#endif
