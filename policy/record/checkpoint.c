/* Checkpoints: the signed bytes, the text form, and verification; see checkpoint.h. */
#include "checkpoint.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "policy/base/buf.h"

#define MESSAGE_MAX 512

/* The first signed bytes, with their NUL: [0] for a checkpoint without an owner, [1] with one. */
static const char DOMAINS[2][18] = { "pale-checkpoint-1", "pale-checkpoint-2" };

_Static_assert(CHECKPOINT_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "a public key");
_Static_assert(CHECKPOINT_SEED_BYTES == crypto_sign_SEEDBYTES, "a seed");
_Static_assert(CHECKPOINT_SIG_HEX == 2 * crypto_sign_BYTES + 1, "a signature");

static void put_field(struct out *o, const char *s)
{
	size_t n = strlen(s);

	put_u32(o, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
	put_bytes(o, s, n);
}

static void put_number(struct out *o, uint64_t n)
{
	char digits[24];
	struct out number = out_of(digits, sizeof(digits));

	text_uint(&number, n);
	text_end(&number);
	put_field(o, digits);
}

/* Writes the bytes to sign into buf.  Their length, 0 where they do not fit. */
static size_t message(const struct checkpoint *c, const char *session, const char *time,
		      uint8_t buf[MESSAGE_MAX])
{
	struct out o = out_of(buf, MESSAGE_MAX);

	put_bytes(&o, DOMAINS[c->has_owner], sizeof(DOMAINS[0]));
	put_field(&o, session);
	put_number(&o, c->count);
	put_field(&o, c->head);
	put_field(&o, time);
	if (c->has_owner)
		put_number(&o, c->owner);
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
	if (c->has_owner) {
		text_str(&o, " owner=");
		text_uint(&o, c->owner);
	}
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

/* Reads `word` and the hexadecimal digits after it; *at moves past them. */
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

/* Reads `word` and the uid after it, where they come next; *at moves past them. */
static bool take_owner(const char **at, const char *word, uint32_t *ret)
{
	const char *digits = *at + strlen(word);
	uint64_t uid;

	if (strncmp(*at, word, strlen(word)) != 0 || !take_count(&digits, &uid) || uid > UINT32_MAX)
		return false;
	*at = digits;
	*ret = (uint32_t)uid;
	return true;
}

bool checkpoint_owner(const char *detail, uint32_t *ret)
{
	static const char observing[] = "; observing";
	const char *at = detail + strcspn(detail, ";");

	if (strncmp(at, observing, strlen(observing)) == 0)
		at += strlen(observing);
	return strncmp(detail, "level=", 6) == 0 && take_owner(&at, "; owner=", ret) && *at == ';';
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
	c.has_owner = take_owner(&at, " owner=", &c.owner);
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
