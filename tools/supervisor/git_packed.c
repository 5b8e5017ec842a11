/*
 * packed-refs: its form, and what is in it; see git.h.
 *
 * git searches a file that says it is sorted by halves and takes any line that it meets; one that is out of
 * order, or that has a name twice, is read differently by whoever reads it from the top.
 */
#include <ctype.h>
#include <string.h>

#include "policy/path.h"
#include "tools/supervisor/git.h"

#define SHA1_HEX   40
#define SHA256_HEX 64
#define HEADER	   "# pack-refs with:"

/* How many hexadecimal digits s begins with, where they are an object's name; else 0. */
static size_t object_name(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isxdigit((unsigned char)s[n]))
		n++;
	return n == SHA1_HEX || n == SHA256_HEX ? n : 0;
}

static bool is_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f)
			return false;
	return len > 0;
}

/* Byte order, a shorter name before what begins with it. */
static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return r ? r : (a_len > b_len) - (a_len < b_len);
}

/* Where the name is that follows the object's in a line of n bytes; 0: it is no such line. */
static size_t name_at(const char *line, size_t n)
{
	size_t digits = object_name(line, n);

	return digits && line[digits] == ' ' && is_name(line + digits + 1, n - digits - 1) ? digits + 1 : 0;
}

bool git_packed_is_sound(const char *text, size_t len)
{
	const char *before = "", *end = text + len;
	size_t before_len = 0;
	bool peels = false; /* the line before may be a tag's */

	for (const char *p = text, *stop; p < end; p = stop + 1) {
		size_t n, at;

		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			return false;
		n = (size_t)(stop - p);
		if (p == text && n >= strlen(HEADER) && memcmp(p, HEADER, strlen(HEADER)) == 0)
			continue;
		/* What the tag above it leads to. */
		if (peels && *p == '^' && n > 1 && object_name(p + 1, n - 1) == n - 1) {
			peels = false;
			continue;
		}
		at = name_at(p, n);
		if (at == 0 || compare(before, before_len, p + at, n - at) >= 0)
			return false;
		before = p + at;
		before_len = n - at;
		peels = true;
	}
	return true;
}

bool git_packed_next(const char **at, const char *end, const char **ret, size_t *ret_len)
{
	for (const char *p = *at, *stop, *space; p < end; p = *at) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		*at = stop + 1;
		space = *p == '#' || *p == '^' ? NULL : memchr(p, ' ', (size_t)(stop - p));
		if (!space)
			continue;
		*ret = space + 1;
		*ret_len = (size_t)(stop - space - 1);
		return true;
	}
	return false;
}

size_t git_packed_value(const char *text, size_t len, const char *name, const char **ret)
{
	const char *end = text + len;
	size_t n = strlen(name);

	for (const char *p = text; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p)), *space;

		stop = stop ? stop : end;
		space = *p == '#' ? NULL : memchr(p, ' ', (size_t)(stop - p));
		if (space && (size_t)(stop - space) == 1 + n && memcmp(space + 1, name, n) == 0) {
			*ret = p;
			return (size_t)(space - p);
		}
		p = stop + 1;
	}
	return 0;
}
