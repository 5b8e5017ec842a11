/*
 * What looks like a secret in a text.  The ledger's mask and the judge of an environment share this, so
 * that both know the same shapes.  In doubt it finds one.
 */
#ifndef PALE_SECRET_H
#define PALE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* [at, at + len) is the secret; it may begin after the position that was asked for. */
struct secret_hit {
	size_t at, len;
};

/* True where a secret, or the text that leads to one, begins at text[i]; *ret is then set. */
bool secret_at(const char *text, size_t len, size_t i, struct secret_hit *ret);
/* True where `://` at text[i] belongs to a URL with a password or token that contains no character by
 * which a shell begins another command. */
bool secret_in_url(const char *text, size_t len, size_t i, struct secret_hit *ret);
/* True where text contains a secret. */
bool secret_is_in(const char *text, size_t len);
/* Calls fn for each beginning that secret_at() knows, so that a caller can skip what begins otherwise. */
void secret_leads(void (*fn)(void *ctx, const char *lead, bool any_case), void *ctx);

#endif
