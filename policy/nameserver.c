/*
 * resolv.conf(5): only its name servers, read as glibc reads them (res_init.c), but for the zone
 * behind a %, which says by which interface a link-local one is reached and not who it is.
 */
#include "nameserver.h"

#include <string.h>

#include "addr.h"

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

/* The address on a line; false where it is no such line. */
static bool line_address(const char *line, const char *end, uint8_t ret[16])
{
	static const char key[] = "nameserver";
	const char *s = line + sizeof(key) - 1;

	if (end - line <= (ptrdiff_t)sizeof(key) || memcmp(line, key, sizeof(key) - 1) != 0 || !is_blank(*s))
		return false;
	while (s < end && is_blank(*s))
		s++;
	if (!addr_parse(s, word_len(s, end), ret))
		return false;
	addr_reached(ret);
	return true;
}

bool nameserver_in(const char *text, size_t len, const uint8_t addr[16])
{
	static const uint8_t here[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	const char *end = text + len, *line = text, *next;
	bool any = false;

	for (; line < end; line = next + 1) {
		uint8_t server[16];

		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			next = end;
		if (!line_address(line, next, server))
			continue;
		if (memcmp(server, addr, sizeof(server)) == 0)
			return true;
		any = true;
	}
	return !any && memcmp(addr, here, sizeof(here)) == 0;
}
