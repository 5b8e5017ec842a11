/* Checkpoints: what is signed, how it is written down, and whether it holds. */
#include "checkpoint.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "buf.h"

#define MESSAGE_MAX 512

static const char DOMAIN[] = "pale-checkpoint-1"; /* signed with its NUL */

_Static_assert(CHECKPOINT_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "a public key");
_Static_assert(CHECKPOINT_SEED_BYTES == crypto_sign_SEEDBYTES, "a seed");
_Static_assert(CHECKPOINT_SIG_HEX == 2 * crypto_sign_BYTES + 1, "a signature");

static void put_field(struct out *o, const char *s)
{
	size_t n = strlen(s);

	put_u32(o, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
	put_bytes(o, s, n);
}

/* The signed bytes; their length, 0 where they do not fit. */
static size_t message(const struct checkpoint *c, const char *session, const char *time,
		      uint8_t buf[MESSAGE_MAX])
{
	struct out o = out_of(buf, MESSAGE_MAX), number;
	char count[24];

	number = out_of(count, sizeof(count));
	text_uint(&number, c->count);
	text_end(&number);
	put_bytes(&o, DOMAIN, sizeof(DOMAIN));
	put_field(&o, session);
	put_field(&o, count);
	put_field(&o, c->head);
	put_field(&o, time);
	return o.failed ? 0 : o.len;
}

void checkpoint_key_make(const uint8_t seed[CHECKPOINT_SEED_BYTES], struct checkpoint_key *ret)
{
	(void)crypto_sign_seed_keypair(ret->public, ret->secret, seed);
}

int checkpoint_sign(struct checkpoint *c, const char *session, const char *time,
		    const struct checkpoint_key *key)
{
	uint8_t buf[MESSAGE_MAX], sig[crypto_sign_BYTES];
	size_t len = message(c, session, time, buf);

	if (len == 0)
		return -EMSGSIZE;
	(void)crypto_sign_detached(sig, NULL, buf, len, key->secret);
	checkpoint_key_print(key->public, c->key);
	sodium_bin2hex(c->sig, sizeof(c->sig), sig, sizeof(sig));
	return 0;
}

static bool hex_read(uint8_t *to, size_t n, const char *hex, size_t len)
{
	if (len != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool checkpoint_is_signed(const struct checkpoint *c, const char *session, const char *time)
{
	uint8_t buf[MESSAGE_MAX], sig[crypto_sign_BYTES], key[CHECKPOINT_KEY_BYTES];
	size_t len = message(c, session, time, buf);

	return len > 0 && hex_read(key, sizeof(key), c->key, strlen(c->key)) &&
	       hex_read(sig, sizeof(sig), c->sig, strlen(c->sig)) &&
	       crypto_sign_verify_detached(sig, buf, len, key) == 0;
}

void checkpoint_print(const struct checkpoint *c, char detail[CHECKPOINT_DETAIL])
{
	struct out o = out_of(detail, CHECKPOINT_DETAIL);

	text_str(&o, "count=");
	text_uint(&o, c->count);
	text_str(&o, " head=");
	text_str(&o, c->head);
	if (c->sig[0]) {
		text_str(&o, " key=");
		text_str(&o, c->key);
		text_str(&o, " sig=");
		text_str(&o, c->sig);
	} else {
		text_str(&o, " not sealed");
	}
	text_end(&o);
}

/* The hex digits behind `word`; *at moves behind them. */
static bool take_hex(const char **at, const char *word, char *to, size_t size)
{
	size_t lead = strlen(word), n;

	if (strncmp(*at, word, lead) != 0)
		return false;
	*at += lead;
	n = strspn(*at, "0123456789abcdef");
	if (n != size - 1)
		return false;
	memcpy(to, *at, n);
	to[n] = '\0';
	*at += n;
	return true;
}

/* Decimal digits as they are printed: no sign, no leading zero. */
static bool take_count(const char **at, uint64_t *ret)
{
	size_t n = strspn(*at, "0123456789");
	uint64_t v = 0;

	if (n == 0 || n > 19 || (n > 1 && **at == '0'))
		return false;
	for (; n > 0; n--)
		v = v * 10 + (uint64_t)(*(*at)++ - '0');
	*ret = v;
	return true;
}

int checkpoint_parse(const char *detail, struct checkpoint *ret)
{
	struct checkpoint c = { 0 };
	const char *at = detail;

	if (strncmp(at, "count=", 6) != 0)
		return -EBADMSG;
	at += 6;
	if (!take_count(&at, &c.count) || !take_hex(&at, " head=", c.head, sizeof(c.head)))
		return -EBADMSG;
	if (strcmp(at, " not sealed") != 0 && (!take_hex(&at, " key=", c.key, sizeof(c.key)) ||
					       !take_hex(&at, " sig=", c.sig, sizeof(c.sig)) || *at != '\0'))
		return -EBADMSG;
	*ret = c;
	return 0;
}

int checkpoint_key_parse(const char *text, size_t len, uint8_t key[CHECKPOINT_KEY_BYTES])
{
	if (len > 0 && text[len - 1] == '\n')
		len--;
	return hex_read(key, CHECKPOINT_KEY_BYTES, text, len) ? 0 : -EBADMSG;
}

void checkpoint_key_print(const uint8_t key[CHECKPOINT_KEY_BYTES], char hex[CHECKPOINT_KEY_HEX])
{
	sodium_bin2hex(hex, CHECKPOINT_KEY_HEX, key, CHECKPOINT_KEY_BYTES);
}
