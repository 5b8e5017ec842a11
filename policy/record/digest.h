/*
 * SHA-256 over parts, each with its length before it: no two lists of parts have the same bytes.  The domain
 * comes first, so that no digest of one kind is valid as another kind.  Pure.
 */
#ifndef PALE_DIGEST_H
#define PALE_DIGEST_H

#include <sodium.h>
#include <stddef.h>

#define DIGEST_HEX (2 * crypto_hash_sha256_BYTES + 1)

struct digest {
	crypto_hash_sha256_state st;
};

void digest_begin(struct digest *d, const char *domain);
void digest_bytes(struct digest *d, const void *bytes, size_t len);
/* NULL counts as "". */
void digest_text(struct digest *d, const char *s);
void digest_end(struct digest *d, char hex[DIGEST_HEX]);
/* The plain SHA-256 of a file's bytes, as sha256sum(1) prints it. */
void sha256_hex(const void *bytes, size_t len, char hex[DIGEST_HEX]);

#endif
