/*
 * resolv.conf(5): only its name servers, read as glibc reads them (res_init.c).  The zone after a % is the
 * interface by which a link-local server is reached; it is no part of the address.
 */
#include "nameserver.h"

#include <string.h>

#include "policy/base/addr.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t word_len(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && !is_blank(*p) && *p != '%')
		p++;
	return (size_t)(p - s);
}

static void take_zone(const char *s, const char *end, char *zone, size_t size)
{
	size_t n = 0;

	while (s + n < end && n + 1 < size && !is_blank(s[n])) {
		zone[n] = s[n];
		n++;
	}
	zone[n] = '\0';
}

/* The address on a `nameserver` line; false for any other line. */
static bool line_address(const char *line, const char *end, struct nameserver *ret)
{
	static const char key[] = "nameserver";
	const char *s = line + sizeof(key) - 1;

	if (end - line <= (ptrdiff_t)sizeof(key) || memcmp(line, key, sizeof(key) - 1) != 0 || !is_blank(*s))
		return false;
	while (s < end && is_blank(*s))
		s++;
	if (!addr_parse(s, word_len(s, end), ret->addr))
		return false;
	addr_reached(ret->addr);
	s += word_len(s, end);
	take_zone(s < end && *s == '%' ? s + 1 : end, end, ret->zone, sizeof(ret->zone));
	return true;
}

/* The next server from *at on; *at moves past its line. */
static bool next_server(const char **at, const char *end, struct nameserver *ret)
{
	for (const char *line = *at, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop ? stop + 1 : end;
		if (!line_address(line, stop ? stop : end, ret))
			continue;
		*at = next;
		return true;
	}
	return false;
}

size_t nameserver_list(const char *text, size_t len, struct nameserver *ret, size_t max)
{
	const char *end = text + len;
	size_t n = 0;

	while (n < max && next_server(&text, end, &ret[n]))
		n++;
	if (n == 0 && max > 0) {
		ret[0] = (struct nameserver){ .addr = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } };
		n = 1;
	}
	return n;
}
