/*
 * Which words may be shown as themselves.
 *
 * A table of what may, not of what may not: what Unicode adds later stays escaped.  So do controls, marks,
 * blanks, signs, ligatures, letters in other widths and styles, letters that look like a sign, and scripts
 * from right to left, which would change the order of what stands beside them.  Chinese characters, hiragana
 * and hangul count as one script, as people mix them; katakana has letters that look like some of these.
 */
#include "legible.h"

#include <stdint.h>

enum script { SCRIPT_NONE, SCRIPT_LATIN, SCRIPT_GREEK, SCRIPT_CYRILLIC, SCRIPT_CJK, SCRIPT_KATAKANA };

static const struct {
	uint32_t first, last;
	enum script script;
} ranges[] = {
	{ 0xc0, 0xd6, SCRIPT_LATIN },
	{ 0xd8, 0xf6, SCRIPT_LATIN },
	{ 0xf8, 0x130, SCRIPT_LATIN },
	{ 0x134, 0x137, SCRIPT_LATIN },
	{ 0x139, 0x13e, SCRIPT_LATIN },
	{ 0x141, 0x148, SCRIPT_LATIN },
	{ 0x14a, 0x17e, SCRIPT_LATIN },
	{ 0x1a0, 0x1a1, SCRIPT_LATIN }, /* Vietnamese */
	{ 0x1af, 0x1b0, SCRIPT_LATIN },
	{ 0x218, 0x21b, SCRIPT_LATIN }, /* Romanian */
	{ 0x386, 0x386, SCRIPT_GREEK },
	{ 0x388, 0x38a, SCRIPT_GREEK },
	{ 0x38c, 0x38c, SCRIPT_GREEK },
	{ 0x38e, 0x3a1, SCRIPT_GREEK },
	{ 0x3a3, 0x3ce, SCRIPT_GREEK },
	{ 0x401, 0x401, SCRIPT_CYRILLIC },
	{ 0x404, 0x404, SCRIPT_CYRILLIC },
	{ 0x406, 0x407, SCRIPT_CYRILLIC }, /* Ukrainian */
	{ 0x410, 0x44f, SCRIPT_CYRILLIC },
	{ 0x451, 0x451, SCRIPT_CYRILLIC },
	{ 0x454, 0x454, SCRIPT_CYRILLIC },
	{ 0x456, 0x457, SCRIPT_CYRILLIC },
	{ 0x490, 0x491, SCRIPT_CYRILLIC },
	{ 0x1e80, 0x1e85, SCRIPT_LATIN }, /* Welsh */
	{ 0x1ea0, 0x1ef9, SCRIPT_LATIN },
	{ 0x3041, 0x3096, SCRIPT_CJK },
	{ 0x30a1, 0x30cd, SCRIPT_KATAKANA },
	{ 0x30cf, 0x30fa, SCRIPT_KATAKANA }, /* U+30CE looks like a slash */
	{ 0x30fc, 0x30fc, SCRIPT_KATAKANA },
	{ 0x3400, 0x4dbf, SCRIPT_CJK },
	{ 0x4e00, 0x4e27, SCRIPT_CJK },
	{ 0x4e29, 0x4e35, SCRIPT_CJK }, /* and 4E28, 4E36, 4E3F strokes */
	{ 0x4e37, 0x4e3e, SCRIPT_CJK },
	{ 0x4e40, 0x56d6, SCRIPT_CJK }, /* and 56D7, 66F0, like 53E3, 65E5 */
	{ 0x56d8, 0x66ef, SCRIPT_CJK },
	{ 0x66f1, 0x9fff, SCRIPT_CJK },
	{ 0xac00, 0xd7a3, SCRIPT_CJK },
};

static enum script script_of(uint32_t cp)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (cp >= ranges[i].first && cp <= ranges[i].last)
			return ranges[i].script;
	return SCRIPT_NONE;
}

/* The letters without a Latin one that looks like them, by their place in the alphabet's block: capitals,
 * then small ones. */
#define BIT(n) (1u << (n))
/* Delta Theta Lambda Xi Pi Sigma Phi Psi; as capitals also Gamma and Omega */
#define GREEK_SMALL (BIT(3) | BIT(7) | BIT(10) | BIT(13) | BIT(15) | BIT(18) | BIT(21) | BIT(23))
#define GREEK_BIG   (BIT(2) | GREEK_SMALL | BIT(24))
/* B D Zh I J L F Ts Ch Sh Shch, the hard sign, Y E Yu Ya, and in capitals G and P */
#define CYRILLIC_SMALL                                                                                       \
	(BIT(1) | BIT(4) | BIT(6) | BIT(8) | BIT(9) | BIT(11) | BIT(20) | BIT(22) | BIT(23) | BIT(24) |      \
	 BIT(25) | BIT(26) | BIT(27) | BIT(29) | BIT(30) | BIT(31))
#define CYRILLIC_BIG (CYRILLIC_SMALL | BIT(3) | BIT(15))

/* Letters of one of katakana, hiragana and Chinese characters that look like one of another. */
static const uint16_t twins[] = { 0x3078, 0x3079, 0x307a, 0x308a, 0x30ab, 0x30bf, 0x30cf, 0x30ed,
				  0x30a8, 0x30c8, 0x30cb, 0x30d8, 0x30d9, 0x30da, 0x30ea, 0x529b,
				  0x5915, 0x516b, 0x53e3, 0x5de5, 0x535c, 0x4e8c, 0x4e00, 0x30fc };

static bool is_twin(uint32_t cp)
{
	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		if (twins[i] == cp)
			return true;
	return false;
}

/* No Latin letter, no letter of another script and no sign looks like it. */
static bool is_distinct(uint32_t cp, enum script script)
{
	const uint32_t first = script == SCRIPT_GREEK ? 0x391 : 0x410;
	const uint32_t big = script == SCRIPT_GREEK ? GREEK_BIG : CYRILLIC_BIG;
	const uint32_t small = script == SCRIPT_GREEK ? GREEK_SMALL : CYRILLIC_SMALL;

	if (script == SCRIPT_LATIN)
		return true;
	if (script == SCRIPT_CJK || script == SCRIPT_KATAKANA)
		return !is_twin(cp);
	if (cp < first || cp >= first + 64)
		return false;
	return (cp - first < 32 ? big : small) & BIT((cp - first) % 32);
}

/* The code point of up to three bytes at *s, which is moved after it; 0 for one that is longer or none. */
static uint32_t next_point(const unsigned char **s)
{
	const unsigned char *p = *s;
	const size_t n = (*p & 0xe0) == 0xc0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : 1;
	uint32_t cp = n == 2 ? *p & 0x1f : *p & 0x0f;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*s = p + 1;
			return 0;
		}
		cp = cp << 6 | (p[i] & 0x3f);
	}
	*s = p + n;
	return n == 1 || cp < (n == 2 ? 0x80u : 0x800u) ? 0 : cp;
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

size_t legible_word(const char *s, bool *ret_legible)
{
	const unsigned char *p = (const unsigned char *)s;
	enum script all = SCRIPT_NONE;
	bool one = true, distinct = false;

	while (*p >= 0x80 || is_digit(*p) || is_letter(*p)) {
		const bool ascii = *p < 0x80;
		uint32_t cp = ascii ? *p : next_point(&p);
		enum script script = ascii ? SCRIPT_LATIN : script_of(cp);

		p += ascii;
		if (ascii && is_digit((unsigned char)cp))
			continue;
		one = one && script && (!all || script == all);
		all = script;
		distinct = distinct || is_distinct(cp, script);
	}
	*ret_legible = one && distinct;
	return (size_t)((const char *)p - s);
}
