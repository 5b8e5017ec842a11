/*
 * Ledger records: escape, hash, print, read, verify.  One table names the fields in their order,
 * and printing, hashing and reading all walk it, so that none of them can forget a field.
 *
 * The reader is strict, because a verifier that forgives is a hole: a duplicate, missing or
 * unknown member, a wrong type or a line over the limit is no record.
 */
#include "record.h"

#include <errno.h>
#include <jansson.h>
/*
 * SHA-256 and SipHash are all that pale takes from libsodium; they are the same code on every
 * processor and need no sodium_init(), which looks at its features (0.1 ms in a virtual machine).
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

static const char DOMAIN[] = "pale-ledger-1"; /* hashed with its NUL */

enum field_type { FIELD_U64, FIELD_I64, FIELD_STR, FIELD_ARRAY, FIELD_HASH };

/* FIELD_STR is a pointer, FIELD_ARRAY chars in place, FIELD_HASH the same with 64 hex digits. */
static const struct field {
	const char *name;
	enum field_type type;
	size_t off, size;
} fields[] = {
#define FIELD(member, type)                                                                                  \
	{                                                                                                    \
#member, type, offsetof(struct record, member), sizeof(((struct record *)0)->member)         \
	}
	FIELD(seq, FIELD_U64),	    FIELD(time, FIELD_ARRAY), FIELD(session, FIELD_STR),
	FIELD(turn, FIELD_U64),	    FIELD(agent, FIELD_STR),  FIELD(pid, FIELD_I64),
	FIELD(ppid, FIELD_I64),	    FIELD(exe, FIELD_STR),    FIELD(op, FIELD_STR),
	FIELD(target, FIELD_STR),   FIELD(access, FIELD_STR), FIELD(verdict, FIELD_STR),
	FIELD(rule, FIELD_STR),	    FIELD(via, FIELD_STR),    FIELD(level, FIELD_STR),
	FIELD(approval, FIELD_STR), FIELD(detail, FIELD_STR), FIELD(count, FIELD_U64),
	FIELD(prev, FIELD_HASH),    FIELD(hash, FIELD_HASH),
#undef FIELD
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

/* --- escaping --- */

/* Length of the valid UTF-8 sequence at p that may stand as it is, or 0. */
static size_t plain_len(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char mask, lead;
		size_t len;
		uint32_t min;
	} forms[] = { { 0xe0, 0xc0, 2, 0xa0 /* U+0080..9F are controls */ },
		      { 0xf0, 0xe0, 3, 0x800 },
		      { 0xf8, 0xf0, 4, 0x10000 } };

	if (*p < 0x80)
		return *p >= 0x20 && *p != 0x7f && *p != '\\';
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint32_t cp = *p & (unsigned char)~forms[i].mask;

		if ((*p & forms[i].mask) != forms[i].lead)
			continue;
		if (left < forms[i].len)
			return 0;
		for (size_t k = 1; k < forms[i].len; k++) {
			if ((p[k] & 0xc0) != 0x80)
				return 0;
			cp = cp << 6 | (p[k] & 0x3f);
		}
		return cp >= forms[i].min && cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff) ? forms[i].len
											    : 0;
	}
	return 0;
}

/* Nearly all there is: bytes that stand as they are, here as in JSON.  Ends at a NUL at the latest. */
static size_t plain_run(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '\\' && s[n] != '"')
		n++;
	return n;
}

char *record_escape(const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)bytes;
	size_t size, at = 0;
	char *out;

	if (__builtin_mul_overflow(len, 4, &size) || __builtin_add_overflow(size, 1, &size))
		return NULL;
	out = malloc(size);
	if (!out)
		return NULL;
	for (size_t i = 0; i < len;) {
		size_t n = plain_run(bytes + i, len - i);

		if (n == 0)
			n = plain_len(p + i, len - i);
		if (n > 0) {
			memcpy(out + at, p + i, n);
			at += n;
			i += n;
			continue;
		}
		out[at++] = '\\';
		if (p[i] == '\\') {
			out[at++] = '\\';
		} else {
			out[at++] = 'x';
			out[at++] = hex[p[i] >> 4];
			out[at++] = hex[p[i] & 15];
		}
		i++;
	}
	out[at] = '\0';
	return out;
}

size_t record_unescape(char *text)
{
	char *to = text;

	for (const char *s = text; *s;) {
		int high = s[0] == '\\' && s[1] == 'x' ? hex_digit(s[2]) : -1;
		int low = high >= 0 ? hex_digit(s[3]) : -1;

		if (low >= 0) {
			*to++ = (char)(high << 4 | low);
			s += 4;
			continue;
		}
		s += s[0] == '\\' && s[1] == '\\';
		*to++ = *s++;
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* --- hashing --- */

/* Gathers the fields' bytes: the hash takes whole blocks much faster than a few bytes at a time. */
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

/* Decimal digits at to, without a NUL; the byte behind. */
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

void record_hash(struct record *r)
{
	struct hasher h;
	char number[24];

	hash_init(&h);
	hash_bytes(&h, DOMAIN, sizeof(DOMAIN));
	for (size_t i = 0; i < N_FIELDS - 1; i++) {
		const struct field *f = &fields[i];
		const char *text;

		if (f->type == FIELD_U64) {
			hash_field(&h, number,
				   (size_t)(print_unsigned(number, (unsigned long long)member_number(r, f)) -
					    number));
		} else if (f->type == FIELD_I64) {
			hash_field(&h, number, (size_t)(print_signed(number, member_number(r, f)) - number));
		} else {
			text = member_text(r, f);
			hash_field(&h, text, strlen(text));
		}
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

/* How a string's bytes may grow in JSON: \u00XX. */
#define GROWTH 6

/* Appends s between quotes at to; the end, or NULL for what is not as record_escape() makes it. */
static char *print_string(char *to, const char *s)
{
	static const char hex[] = "0123456789abcdef";

	*to++ = '"';
	for (;;) {
		size_t n = plain_run(s, SIZE_MAX);
		unsigned char c;

		memcpy(to, s, n);
		to += n;
		s += n;
		c = (unsigned char)*s;
		if (c == '\0')
			break;
		n = 1;
		if (c < 0x20) {
			to = stpcpy(to, "\\u00");
			*to++ = hex[c >> 4];
			*to++ = hex[c & 15];
			s++;
			continue;
		}
		if (c >= 0x80)
			n = plain_len((const unsigned char *)s, strnlen(s, 4));
		else if (c == '"' || c == '\\')
			*to++ = '\\';
		if (n == 0)
			return NULL;
		while (n-- > 0)
			*to++ = *s++;
	}
	*to++ = '"';
	return to;
}

/* By hand, for speed: this is the price of every record, and the strings are known to be clean. */
char *record_to_line(const struct record *r, size_t *ret_len)
{
	size_t size = 4;
	char *line, *to;

	for (size_t i = 0; i < N_FIELDS; i++) {
		size_t len = is_number(&fields[i]) ? 4 : strlen(member_text(r, &fields[i]));

		if (len > RECORD_LINE_MAX)
			return NULL;
		size += len * GROWTH + strlen(fields[i].name) + 8;
	}
	line = to = malloc(size);
	if (!line)
		return NULL;
	for (size_t i = 0; i < N_FIELDS; i++) {
		to = stpcpy(to, i == 0 ? "{\"" : ",\"");
		to = stpcpy(stpcpy(to, fields[i].name), "\":");
		if (is_number(&fields[i]))
			to = print_signed(to, member_number(r, &fields[i]));
		else
			to = print_string(to, member_text(r, &fields[i]));
		if (!to) {
			free(line);
			return NULL;
		}
	}
	to = stpcpy(to, "}\n");
	*ret_len = (size_t)(to - line);
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
	if (!s || (f->type == FIELD_HASH && !is_hash(s, json_string_length(v))))
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
			*ret_err = "a field of the record has the wrong type or length";
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

/* --- verifying --- */

void record_chain_init(struct record_chain *c)
{
	memset(c, 0, sizeof(*c));
	c->next_seq = 1;
}

/* What is wrong with where r stands in the chain, or NULL. */
static const char *chain_fault(struct record_chain *c, const struct record *r)
{
	if (c->ended)
		return "a record stands behind the session's end";
	if (c->next_seq == 1) {
		if (strlen(r->session) >= sizeof(c->session))
			return "the session's name is too long";
		strcpy(c->session, r->session);
		record_genesis(r->session, c->prev);
	}
	if (strcmp(r->session, c->session) != 0)
		return "the record belongs to another session";
	if (r->seq > c->next_seq)
		return "records are missing before this one, or were swapped (seq jumps ahead)";
	if (r->seq < c->next_seq)
		return "the record was repeated or swapped (seq goes back)";
	if (strcmp(r->prev, c->prev) != 0)
		return "the record before this one was replaced (prev does not match)";
	return NULL;
}

int record_chain_check(struct record_chain *c, const char *line, size_t len, const char **ret_err)
{
	size_t end = len > 0 && line[len - 1] == '\n' ? len - 1 : len;
	struct record_owned o;
	char hash[RECORD_HASH_HEX];
	const char *fault;
	int r;

	c->line++;
	if (end == 0 || line[end - 1] != '}') {
		*ret_err = "the line is cut off: torn by a crash or a full disk, or truncated";
		return -EBADMSG;
	}
	r = record_from_line(line, end, &o, ret_err);
	if (r < 0)
		return r;
	memcpy(hash, o.r.hash, sizeof(hash));
	record_hash(&o.r);
	fault = strcmp(hash, o.r.hash) != 0 ? "the record was edited (its hash does not match)"
					    : chain_fault(c, &o.r);
	if (!fault) {
		c->next_seq++;
		memcpy(c->prev, o.r.hash, sizeof(c->prev));
		c->ended = strcmp(o.r.op, "session/end") == 0;
	}
	record_done(&o);
	*ret_err = fault ? fault : "";
	return fault ? -EBADMSG : 0;
}
