/* What the launcher's environment and .env files say about the policy. */
#ifndef PALE_DOTENV_H
#define PALE_DOTENV_H

#include <stdbool.h>
#include <stddef.h>

struct bundle;
struct diags;
struct dirs;

/* Adds to b what the launcher's environment and .env files say about the policy.  0 or -ENOMEM;
 * findings. */
int dotenv_gather(struct bundle *b, const struct dirs *dirs, struct diags *d);
/* True where the file mentions such a variable. */
bool dotenv_mentions(const char *path);
/* Calls fn for each .env file that counts, whether it exists or not, until fn returns other than 0; returns
 * that. */
int dotenv_each(const struct bundle *b, int (*fn)(void *ctx, const char *path), void *ctx);
/* True where no agent could have written this .env, or the operator trusts this very text. */
bool dotenv_is_trusted(const struct bundle *b, const struct dirs *dirs, const char *path, const char *text,
		       size_t len);

#endif
