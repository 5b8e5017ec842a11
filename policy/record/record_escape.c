/* How bytes are escaped in a record, and back: see record.h. */
#include <stdlib.h>
#include <string.h>

#include "policy/base/buf.h"
#include "record.h"
#include "record_impl.h"

size_t record_plain_len(const unsigned char *p, size_t left)
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

/* Not zero where a byte of w equals n, or is below n; the lowest such byte has 0x80 set. */
#define ONES	    0x0101010101010101ull
#define HIGHS	    (0x80 * ONES)
#define EQUAL(w, n) ((((w) ^ (n)*ONES) - ONES) & ~((w) ^ (n)*ONES) & HIGHS)
#define BELOW(w, n) (((w) - (n)*ONES) & ~(w)&HIGHS)

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
}

size_t record_plain_run(const char *s, size_t len)
{
	size_t n = 0;

	for (; len - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
		uint64_t w;

		memcpy(&w, s + n, sizeof(w));
		if (BELOW(w, 0x20) | (w & HIGHS) | EQUAL(w, 0x7f) | EQUAL(w, '\\') | EQUAL(w, '"'))
			break;
	}
	while (n < len && is_plain((unsigned char)s[n]))
		n++;
	return n;
}

bool record_is_escaped(const char *s, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = record_plain_run(s + i, len - i);
		if (n == 0)
			n = s[i] == '\\' ? 1 : record_plain_len((const unsigned char *)s + i, len - i);
		if (n == 0)
			return false;
	}
	return true;
}

char *record_escape_to(char *to, const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < len;) {
		size_t n = record_plain_run(bytes + i, len - i);

		if (n == 0)
			n = record_plain_len(p + i, len - i);
		if (n > 0) {
			memcpy(to, p + i, n);
			to += n;
			i += n;
			continue;
		}
		*to++ = '\\';
		if (p[i] == '\\') {
			*to++ = '\\';
		} else {
			*to++ = 'x';
			*to++ = hex[p[i] >> 4];
			*to++ = hex[p[i] & 15];
		}
		i++;
	}
	*to = '\0';
	return to;
}

char *record_escape(const char *bytes, size_t len)
{
	size_t size;
	char *out;

	if (__builtin_mul_overflow(len, 4, &size) || __builtin_add_overflow(size, 1, &size))
		return NULL;
	out = malloc(size);
	if (out)
		record_escape_to(out, bytes, len);
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
