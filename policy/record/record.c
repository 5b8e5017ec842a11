/*
 * Ledger records: hash, print, read.  One table names the fields in their order, and printing,
 * hashing and reading all walk it, so that none of them can omit a field.
 *
 * The reader is strict, because a lenient verifier could accept a forged line: it refuses a
 * duplicate, missing or unknown member, a wrong type, and a line over the limit.
 */
#include "record.h"

#include <errno.h>
#include <jansson.h>
/*
 * Of libsodium this file uses only SHA-256.  It is the same code on every processor and does not need
 * sodium_init(), which takes 0.1 ms in a virtual machine to detect the processor's features.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "record_impl.h"

static const char DOMAIN[] = "pale-ledger-1"; /* hashed with its NUL */

enum field_type { FIELD_U64, FIELD_I64, FIELD_STR, FIELD_ARRAY, FIELD_HASH };

/* FIELD_STR is a pointer, FIELD_ARRAY chars in place, FIELD_HASH the same with 64 hex digits. */
static const struct field {
	const char *name, *key; /* key: the text before the value in the line, `,"name":` */
	size_t key_len;
	enum field_type type;
	size_t off, size;
} fields[] = {
#define KEY(member) ",\"" #member "\":"
#define FIELD(member, type)                                                                                  \
	{                                                                                                    \
#member, KEY(member), sizeof(KEY(member)) - 1, type, offsetof(struct record, member),        \
			sizeof(((struct record *)0)->member)                                                 \
	}
	FIELD(seq, FIELD_U64),	    FIELD(time, FIELD_ARRAY), FIELD(session, FIELD_STR),
	FIELD(turn, FIELD_U64),	    FIELD(agent, FIELD_STR),  FIELD(pid, FIELD_I64),
	FIELD(ppid, FIELD_I64),	    FIELD(exe, FIELD_STR),    FIELD(op, FIELD_STR),
	FIELD(target, FIELD_STR),   FIELD(access, FIELD_STR), FIELD(verdict, FIELD_STR),
	FIELD(rule, FIELD_STR),	    FIELD(via, FIELD_STR),    FIELD(level, FIELD_STR),
	FIELD(approval, FIELD_STR), FIELD(detail, FIELD_STR), FIELD(count, FIELD_U64),
	FIELD(prev, FIELD_HASH),    FIELD(hash, FIELD_HASH),
#undef FIELD
#undef KEY
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static void *member(const struct record *r, const struct field *f)
{
	return (char *)r + f->off;
}

/* The text of a string field, "" for NULL. */
static const char *member_text(const struct record *r, const struct field *f)
{
	const char *s;

	if (f->type != FIELD_STR)
		return member(r, f);
	memcpy(&s, member(r, f), sizeof(s));
	return s ? s : "";
}

static long long member_number(const struct record *r, const struct field *f)
{
	long long n;

	memcpy(&n, member(r, f), sizeof(n));
	return n;
}

static bool is_number(const struct field *f)
{
	return f->type == FIELD_U64 || f->type == FIELD_I64;
}

/* --- hashing --- */

/* Collects the fields' bytes: the hash takes whole blocks much faster than a few bytes at a time. */
struct hasher {
	crypto_hash_sha256_state st;
	unsigned char buf[1024];
	size_t len;
};

static void hash_init(struct hasher *h)
{
	crypto_hash_sha256_init(&h->st);
	h->len = 0;
}

static void hash_bytes(struct hasher *h, const void *bytes, size_t n)
{
	if (n > sizeof(h->buf) - h->len) {
		crypto_hash_sha256_update(&h->st, h->buf, h->len);
		h->len = 0;
	}
	if (n > sizeof(h->buf)) {
		crypto_hash_sha256_update(&h->st, bytes, n);
		return;
	}
	memcpy(h->buf + h->len, bytes, n);
	h->len += n;
}

static void hash_field(struct hasher *h, const void *bytes, size_t len)
{
	const unsigned char prefix[4] = { (unsigned char)len, (unsigned char)(len >> 8),
					  (unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	hash_bytes(h, prefix, sizeof(prefix));
	hash_bytes(h, bytes, len);
}

static void hash_hex(struct hasher *h, char hex[RECORD_HASH_HEX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256_update(&h->st, h->buf, h->len);
	crypto_hash_sha256_final(&h->st, digest);
	sodium_bin2hex(hex, RECORD_HASH_HEX, digest, sizeof(digest));
}

/* Writes decimal digits at to, without a NUL.  Returns their end. */
static char *print_unsigned(char *to, unsigned long long n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + (sizeof(digits) - at);
}

static char *print_signed(char *to, long long n)
{
	if (n >= 0)
		return print_unsigned(to, (unsigned long long)n);
	*to++ = '-';
	return print_unsigned(to, 0 - (unsigned long long)n);
}

/* The bytes of a field that are hashed: its text, or its digits in `number`. */
static const char *field_bytes(const struct record *r, const struct field *f, char number[24],
			       size_t *ret_len)
{
	const char *text = number;

	if (f->type == FIELD_U64)
		*ret_len = (size_t)(print_unsigned(number, (unsigned long long)member_number(r, f)) - number);
	else if (f->type == FIELD_I64)
		*ret_len = (size_t)(print_signed(number, member_number(r, f)) - number);
	else
		*ret_len = strlen(text = member_text(r, f));
	return text;
}

void record_hash(struct record *r)
{
	struct hasher h;
	char number[24];

	hash_init(&h);
	hash_bytes(&h, DOMAIN, sizeof(DOMAIN));
	for (size_t i = 0; i < N_FIELDS - 1; i++) {
		size_t len;
		const char *bytes = field_bytes(r, &fields[i], number, &len);

		hash_field(&h, bytes, len);
	}
	hash_hex(&h, r->hash);
}

void record_genesis(const char *session, char prev[RECORD_HASH_HEX])
{
	struct hasher h;

	hash_init(&h);
	hash_bytes(&h, DOMAIN, sizeof(DOMAIN));
	hash_bytes(&h, session, strlen(session));
	hash_hex(&h, prev);
}

/* --- printing --- */

/* The bytes that one byte of a string may become in JSON: \u00XX. */
#define GROWTH 6

/* Prints the byte at s, which JSON escapes, or the UTF-8 sequence that begins there.  Returns the end, or
 * NULL where record_escape() does not make such bytes. */
static char *print_special(char *to, const char **s, size_t left)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)**s;
	size_t n = 1;

	if (c < 0x20) {
		to = stpcpy(to, "\\u00");
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
		(*s)++;
		return to;
	}
	if (c >= 0x80)
		n = record_plain_len((const unsigned char *)*s, left);
	else if (c == '"' || c == '\\')
		*to++ = '\\';
	if (n == 0)
		return NULL;
	while (n-- > 0)
		*to++ = *(*s)++;
	return to;
}

/* Prints s between quotes at to.  Returns the end, or NULL as above. */
static char *print_string(char *to, const char *s, size_t len)
{
	const char *end = s + len;

	*to++ = '"';
	while (s < end) {
		size_t n = record_plain_run(s, (size_t)(end - s));

		memcpy(to, s, n);
		to += n;
		s += n;
		if (s < end && !(to = print_special(to, &s, (size_t)(end - s))))
			return NULL;
	}
	*to++ = '"';
	return to;
}

static char *print_field(char *to, const struct field *f, const char *bytes, size_t len)
{
	memcpy(to, f->key, f->key_len);
	to += f->key_len;
	if (!is_number(f))
		return print_string(to, bytes, len);
	memcpy(to, bytes, len);
	return to + len;
}

size_t record_room(const struct record *r)
{
	size_t size = 4;

	for (size_t i = 0; i < N_FIELDS; i++) {
		size_t len = is_number(&fields[i])	    ? 4
			     : fields[i].type == FIELD_HASH ? RECORD_HASH_HEX
							    : strlen(member_text(r, &fields[i]));

		if (len > RECORD_LINE_MAX)
			return 0;
		size += len * GROWTH + fields[i].key_len + 2;
	}
	return size;
}

/* Without a JSON library, for speed: this runs for every record, and the strings are already escaped. */
static char *print_record(struct record *r, char *to, struct hasher *h)
{
	char number[24], *start = to;

	for (size_t i = 0; i < N_FIELDS; i++) {
		size_t len;
		const char *bytes;

		if (h && i == N_FIELDS - 1)
			hash_hex(h, r->hash);
		bytes = field_bytes(r, &fields[i], number, &len);
		if (h && i < N_FIELDS - 1)
			hash_field(h, bytes, len);
		to = print_field(to, &fields[i], bytes, len);
		if (!to)
			return NULL;
	}
	*start = '{';
	*to++ = '}';
	*to++ = '\n';
	return to;
}

char *record_finish(struct record *r, char *to)
{
	struct hasher h;

	hash_init(&h);
	hash_bytes(&h, DOMAIN, sizeof(DOMAIN));
	return print_record(r, to, &h);
}

char *record_to_line(const struct record *r, size_t *ret_len)
{
	struct record copy = *r;
	size_t size = record_room(r);
	char *line = size > 0 ? malloc(size) : NULL, *end;

	if (!line)
		return NULL;
	end = print_record(&copy, line, NULL);
	if (!end) {
		free(line);
		return NULL;
	}
	*ret_len = (size_t)(end - line);
	*end = '\0';
	return line;
}

/* --- reading --- */

static bool is_hash(const char *s, size_t len)
{
	return len == RECORD_HASH_HEX - 1 && strspn(s, "0123456789abcdef") == len;
}

/* Stores a member's value; false where type or length is wrong. */
static bool read_field(struct record *r, const struct field *f, const json_t *v)
{
	const char *s = json_string_value(v);

	if (is_number(f)) {
		json_int_t n = json_integer_value(v);

		if (!json_is_integer(v) || (f->type == FIELD_U64 && n < 0))
			return false;
		memcpy(member(r, f), &n, f->size);
		return true;
	}
	/* The helper writes no control character; a line with one is refused, so that no tool prints it. */
	if (!s || !record_is_escaped(s, json_string_length(v)))
		return false;
	if (f->type == FIELD_HASH && !is_hash(s, json_string_length(v)))
		return false;
	if (f->type == FIELD_STR) {
		memcpy(member(r, f), &s, f->size);
		return true;
	}
	if (json_string_length(v) >= f->size)
		return false;
	memcpy(member(r, f), s, json_string_length(v) + 1);
	return true;
}

int record_from_line(const char *line, size_t len, struct record_owned *ret, const char **ret_err)
{
	struct record r = { 0 };
	json_t *root;

	*ret_err = "the line is longer than any record";
	if (len > RECORD_LINE_MAX)
		return -EBADMSG;
	*ret_err = "the line is no record: not one JSON object";
	root = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!root || !json_is_object(root))
		goto bad;
	*ret_err = "the record lacks a field or has an unknown one";
	if (json_object_size(root) != N_FIELDS)
		goto bad;
	for (size_t i = 0; i < N_FIELDS; i++) {
		const json_t *v = json_object_get(root, fields[i].name);

		if (!v)
			goto bad;
		if (!read_field(&r, &fields[i], v)) {
			*ret_err =
				"a field of the record has the wrong type or length, or a control character";
			goto bad;
		}
	}
	ret->r = r;
	ret->owner = root;
	*ret_err = "";
	return 0;
bad:
	json_decref(root);
	return -EBADMSG;
}

void record_done(struct record_owned *r)
{
	json_decref(r->owner);
	r->owner = NULL;
}
