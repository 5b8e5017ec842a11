/* Digests of lists of parts: see digest.h. */
#include "digest.h"

#include <string.h>

void digest_begin(struct digest *d, const char *domain)
{
	crypto_hash_sha256_init(&d->st);
	crypto_hash_sha256_update(&d->st, (const unsigned char *)domain, strlen(domain) + 1);
}

void digest_bytes(struct digest *d, const void *bytes, size_t len)
{
	const unsigned char prefix[4] = { (unsigned char)len, (unsigned char)(len >> 8),
					  (unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	crypto_hash_sha256_update(&d->st, prefix, sizeof(prefix));
	crypto_hash_sha256_update(&d->st, bytes, len);
}

void digest_text(struct digest *d, const char *s)
{
	digest_bytes(d, s ? s : "", s ? strlen(s) : 0);
}

void digest_end(struct digest *d, char hex[DIGEST_HEX])
{
	unsigned char sum[crypto_hash_sha256_BYTES];

	crypto_hash_sha256_final(&d->st, sum);
	sodium_bin2hex(hex, DIGEST_HEX, sum, sizeof(sum));
}

void sha256_hex(const void *bytes, size_t len, char hex[DIGEST_HEX])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, bytes, len);
	sodium_bin2hex(hex, DIGEST_HEX, hash, sizeof(hash));
}
