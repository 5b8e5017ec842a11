/*
 * Bounded reading and writing of bytes and text.
 *
 * Guarantees: nothing is read past a cursor's end or written past an out's capacity; after the
 * first failure every call does nothing and returns zero.  It must not allocate, or call anything but
 * memcpy, memchr and strlen.
 */
#include "buf.h"

#include <string.h>

struct cursor cursor_of(const void *bytes, size_t len)
{
	return (struct cursor){ .p = bytes, .left = bytes ? len : 0, .failed = !bytes && len > 0 };
}

const void *get_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->failed || n > c->left || !p) {
		c->failed = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static void get_into(struct cursor *c, void *v, size_t n)
{
	const void *p = get_bytes(c, n);

	if (p)
		memcpy(v, p, n);
}

uint8_t get_u8(struct cursor *c)
{
	uint8_t v = 0;

	get_into(c, &v, sizeof(v));
	return v;
}

uint16_t get_u16(struct cursor *c)
{
	uint16_t v = 0;

	get_into(c, &v, sizeof(v));
	return v;
}

uint32_t get_u32(struct cursor *c)
{
	uint32_t v = 0;

	get_into(c, &v, sizeof(v));
	return v;
}

const char *get_str(struct cursor *c)
{
	size_t n = get_u32(c);
	const char *s = get_bytes(c, n);

	if (!s || n == 0 || memchr(s, '\0', n) != s + n - 1) {
		c->failed = true;
		return "";
	}
	return s;
}

struct out out_of(void *bytes, size_t cap)
{
	return (struct out){ .p = bytes, .cap = bytes ? cap : 0 };
}

void put_bytes(struct out *o, const void *b, size_t n)
{
	if (o->failed || n > o->cap - o->len) {
		o->failed = true;
		return;
	}
	if (n > 0)
		memcpy(o->p + o->len, b, n);
	o->len += n;
}

void put_u16(struct out *o, uint16_t v)
{
	put_bytes(o, &v, sizeof(v));
}

void put_u32(struct out *o, uint32_t v)
{
	put_bytes(o, &v, sizeof(v));
}

void put_str(struct out *o, const char *s)
{
	size_t n = strlen(s ? s : "") + 1;

	if (n > UINT32_MAX) {
		o->failed = true;
		return;
	}
	put_u32(o, (uint32_t)n);
	put_bytes(o, s ? s : "", n);
}

/* One byte stays free for the NUL of text_end(). */
static void text_bytes(struct out *o, const char *s, size_t n)
{
	size_t room = o->cap > o->len ? o->cap - o->len - 1 : 0;

	if (o->failed)
		return;
	if (n > room) {
		o->failed = true;
		n = room;
	}
	if (n > 0)
		memcpy(o->p + o->len, s, n);
	o->len += n;
}

void text_str(struct out *o, const char *s)
{
	if (s)
		text_bytes(o, s, strlen(s));
}

void text_uint(struct out *o, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	text_bytes(o, digits + i, sizeof(digits) - i);
}

void text_hex(struct out *o, uint64_t v, unsigned digits)
{
	static const char hex[] = "0123456789abcdef";
	char s[16];

	if (digits > sizeof(s))
		digits = sizeof(s);
	for (unsigned i = digits; i > 0; i--, v >>= 4)
		s[i - 1] = hex[v & 15];
	text_bytes(o, s, digits);
}

static void text_escape(struct out *o, unsigned char ch)
{
	static const char hex[] = "0123456789abcdef";
	const char s[4] = { '\\', ch == '\\' ? '\\' : 'x', hex[ch >> 4], hex[ch & 15] };
	size_t n = ch == '\\' ? 2 : 4;

	/* An escape is written whole or not at all: half of it would mean something else. */
	if (o->cap <= o->len || n > o->cap - o->len - 1) {
		o->failed = true;
		return;
	}
	text_bytes(o, s, n);
}

void text_escaped(struct out *o, const char *s, size_t n)
{
	for (size_t i = 0; i < n && !o->failed; i++) {
		unsigned char ch = (unsigned char)s[i];

		if (ch < 0x20 || ch >= 0x7f || ch == '\\')
			text_escape(o, ch);
		else
			text_bytes(o, s + i, 1);
	}
}

const char *text_end(struct out *o)
{
	if (o->cap == 0)
		return "";
	o->p[o->len < o->cap ? o->len : o->cap - 1] = '\0';
	return (const char *)o->p;
}

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
