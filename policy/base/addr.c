/*
 * Internet addresses: parse, mask, classify.
 *
 * Guarantees: one spelling per address; the lenient ones (octal, hex, short forms), which programs read
 * differently, are refused.  It must not allocate or use libc's resolver.
 */
#include "addr.h"

#include <string.h>

#include "buf.h"

/*
 * The ranges that are not public, the narrower ones first: the special-purpose registries of IANA (RFC 6890
 * and its updates), and the addresses where clouds serve their metadata.  A tunnel's address is not public
 * either: it leads to the v4 address inside.
 */
static const struct {
	uint8_t addr[16];
	uint8_t prefix, class;
} ranges[] = {
#define V4(a, b, c, d)                                                                                       \
	{                                                                                                    \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d                                         \
	}
	{ V4(127, 0, 0, 0), 104, ADDR_LOOPBACK },
	{ V4(169, 254, 0, 0), 112, ADDR_LINK },	    /* with 169.254.169.254 and 169.254.170.2 */
	{ V4(100, 100, 100, 200), 128, ADDR_LINK }, /* metadata: Alibaba */
	{ V4(168, 63, 129, 16), 128, ADDR_LINK },   /* Azure */
	{ V4(192, 0, 0, 192), 128, ADDR_LINK },	    /* Oracle */
	{ V4(0, 0, 0, 0), 104, ADDR_PRIVATE },	    /* this network */
	{ V4(10, 0, 0, 0), 104, ADDR_SITE },
	{ V4(100, 64, 0, 0), 106, ADDR_PRIVATE }, /* shared by a carrier's customers */
	{ V4(172, 16, 0, 0), 108, ADDR_SITE },
	{ V4(192, 0, 0, 0), 120, ADDR_PRIVATE },   /* protocol assignments */
	{ V4(192, 0, 2, 0), 120, ADDR_PRIVATE },   /* documentation */
	{ V4(192, 88, 99, 0), 120, ADDR_PRIVATE }, /* relays of 6to4 */
	{ V4(192, 168, 0, 0), 112, ADDR_SITE },
	{ V4(198, 18, 0, 0), 111, ADDR_PRIVATE },   /* benchmarks */
	{ V4(198, 51, 100, 0), 120, ADDR_PRIVATE }, /* documentation */
	{ V4(203, 0, 113, 0), 120, ADDR_PRIVATE },  /* documentation */
	{ V4(224, 0, 0, 0), 99, ADDR_PRIVATE },	    /* multicast, reserved, broadcast */
	{ { [15] = 1 }, 128, ADDR_LOOPBACK },
	{ { 0 }, 8, ADDR_PRIVATE },			  /* neither v4 nor ::1; with 64:ff9b:1::/48 */
	{ { 0x01, 0x00 }, 8, ADDR_PRIVATE },		  /* 100::/64 discards */
	{ { 0x20, 0x01, 0x00, 0x00 }, 32, ADDR_PRIVATE }, /* Teredo */
	{ { 0x20, 0x01, 0x00, 0x02 }, 48, ADDR_PRIVATE }, /* benchmarks */
	{ { 0x20, 0x01, 0x00, 0x10 }, 28, ADDR_PRIVATE }, /* ORCHID: these identify keys, not hosts */
	{ { 0x20, 0x01, 0x00, 0x20 }, 28, ADDR_PRIVATE }, /* ORCHIDv2 */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, ADDR_PRIVATE }, /* documentation */
	{ { 0x20, 0x02 }, 16, ADDR_PRIVATE },		  /* 6to4 */
	{ { 0x3f, 0xff }, 20, ADDR_PRIVATE },		  /* documentation */
	{ { 0x5f, 0x00 }, 16, ADDR_PRIVATE },		  /* segments of a route */
	{ { 0xfd, 0x00, 0x0e, 0xc2 }, 32, ADDR_LINK },	  /* metadata: fd00:ec2::254 */
	{ { 0xfd, 0x20, 0x00, 0xce }, 32, ADDR_LINK },	  /* fd20:ce::254 */
	{ { 0xfe, 0x80 }, 10, ADDR_LINK },
	{ { 0xfe, 0xc0 }, 10, ADDR_PRIVATE }, /* site-local */
	{ { 0xfc, 0x00 }, 7, ADDR_PRIVATE },  /* unique local */
	{ { 0xff, 0x00 }, 8, ADDR_PRIVATE },  /* multicast */
#undef V4
};

static const uint8_t v4_head[12] = { [10] = 0xff, [11] = 0xff };

bool addr_is_v4(const uint8_t addr[16])
{
	return memcmp(addr, v4_head, sizeof(v4_head)) == 0;
}

void addr_mask(uint8_t addr[16], unsigned prefix)
{
	for (unsigned i = 0; i < 16; i++) {
		unsigned keep = prefix > i * 8 ? prefix - i * 8 : 0;

		if (keep < 8)
			addr[i] &= (uint8_t)(0xff00u >> keep);
	}
}

static bool in_prefix(const uint8_t addr[16], const uint8_t net[16], unsigned prefix)
{
	uint8_t a[16];

	memcpy(a, addr, sizeof(a));
	addr_mask(a, prefix);
	return memcmp(a, net, sizeof(a)) == 0;
}

enum addr_class addr_classify(const uint8_t addr[16])
{
	bool v4 = addr_is_v4(addr);

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (v4 == (ranges[i].prefix >= V4_PREFIX && addr_is_v4(ranges[i].addr)) &&
		    in_prefix(addr, ranges[i].addr, ranges[i].prefix))
			return (enum addr_class)ranges[i].class;
	return ADDR_PUBLIC;
}

/* Four decimal parts and nothing else: programs read octal, hex and short forms differently. */
static bool parse_v4(const char *s, size_t n, uint8_t ret[4])
{
	const char *end = s + n;

	for (unsigned part = 0; part < 4; part++) {
		unsigned v = 0, digits = 0;

		for (; s < end && *s >= '0' && *s <= '9' && digits < 4; s++, digits++)
			v = v * 10 + (unsigned)(*s - '0');
		if (digits == 0 || digits > 3 || v > 255 || (digits > 1 && s[-(int)digits] == '0'))
			return false;
		ret[part] = (uint8_t)v;
		if (part < 3 && (s >= end || *s++ != '.'))
			return false;
	}
	return s == end;
}

static int hex_value(char c)
{
	return hex_digit(c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c);
}

struct v6_parser {
	uint8_t out[16];
	unsigned n;
	int gap; /* where `::` stands, -1 = nowhere */
};

/* Reads one group, or the v4 tail.  Returns the text after it, or NULL. */
static const char *parse_group(struct v6_parser *p, const char *s, const char *end)
{
	const char *start = s;
	unsigned v = 0;

	for (; s < end && hex_value(*s) >= 0 && s - start < 5; s++)
		v = v << 4 | (unsigned)hex_value(*s);
	if (s < end && *s == '.') {
		if (p->n > 12 || !parse_v4(start, (size_t)(end - start), p->out + p->n))
			return NULL;
		p->n += 4;
		return end;
	}
	if (s == start || s - start > 4 || p->n > 14)
		return NULL;
	p->out[p->n++] = (uint8_t)(v >> 8);
	p->out[p->n++] = (uint8_t)v;
	return s;
}

static bool parse_v6(const char *s, size_t n, uint8_t ret[16])
{
	struct v6_parser p = { .gap = -1 };
	const char *end = s + n;
	size_t tail;

	if (n < 2 || (s[0] == ':' && s[1] != ':'))
		return false;
	while (s && s < end) {
		if (end - s >= 2 && s[0] == ':' && s[1] == ':') {
			if (p.gap >= 0)
				return false;
			p.gap = (int)p.n;
			s += 2;
			continue;
		}
		if (*s == ':' && (p.n == 0 || p.gap == (int)p.n || ++s == end))
			return false;
		s = parse_group(&p, s, end);
	}
	if (!s || (p.gap < 0 ? p.n != 16 : p.n > 14))
		return false;
	memset(ret, 0, 16);
	tail = p.gap < 0 ? 0 : p.n - (size_t)p.gap;
	memcpy(ret, p.out, p.n - tail);
	memcpy(ret + 16 - tail, p.out + p.n - tail, tail);
	return true;
}

bool addr_parse(const char *text, size_t n, uint8_t ret[16])
{
	uint8_t v4[4];

	if (memchr(text, ':', n))
		return parse_v6(text, n, ret);
	if (!parse_v4(text, n, v4))
		return false;
	memcpy(ret, v4_head, sizeof(v4_head));
	memcpy(ret + 12, v4, sizeof(v4));
	return true;
}

void addr_canonical(uint8_t addr[16])
{
	static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b }, zero[12];
	bool compatible = memcmp(addr, zero, 12) == 0 && memcmp(addr + 12, zero, 2) != 0;

	if (compatible || memcmp(addr, nat64, 12) == 0)
		memcpy(addr, v4_head, sizeof(v4_head));
}

void addr_reached(uint8_t addr[16])
{
	static const uint8_t zero[16], loopback[4] = { 127, 0, 0, 1 };

	if (memcmp(addr, zero, 16) == 0)
		addr[15] = 1;
	else if (addr_is_v4(addr) && memcmp(addr + 12, zero, 4) == 0)
		memcpy(addr + 12, loopback, 4);
}
