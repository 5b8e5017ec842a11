/*
 * The mem* and str* functions of libpale.so, hidden: calls of them are bound when this object is linked.  The
 * names of libc would be bound to the first object that has them.  A sanitizer puts them into the program
 * itself: its functions crash until its own constructor has run, and ours runs before all others.
 *
 * Strings are read byte by byte: whole words would be read beyond their end, which valgrind reports.
 */
#include <stdint.h>
#include <string.h>

/* Or the compiler makes a loop that copies, fills or measures a call of the function that the loop stands in.
 */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* Forwards, so ret may overlap the end of what lies behind it: memmove relies on that. */
void *memcpy(void *ret, const void *src, size_t n)
{
	unsigned char *to = ret;
	const unsigned char *from = src;

	for (; n >= sizeof(word); n -= sizeof(word), to += sizeof(word), from += sizeof(word))
		*(word *)to = *(const word *)from;
	while (n--)
		*to++ = *from++;
	return ret;
}

void *memmove(void *ret, const void *src, size_t n)
{
	unsigned char *to = ret;
	const unsigned char *from = src;

	if ((uintptr_t)to <= (uintptr_t)from)
		return memcpy(ret, src, n);
	while (n--)
		to[n] = from[n];
	return ret;
}

void *memset(void *ret, int c, size_t n)
{
	unsigned char *to = ret;

	while (n--)
		*to++ = (unsigned char)c;
	return ret;
}

int memcmp(const void *left, const void *right, size_t n)
{
	const unsigned char *a = left, *b = right;

	for (; n >= sizeof(word) && *(const word *)a == *(const word *)b; n -= sizeof(word))
		a += sizeof(word), b += sizeof(word);
	for (; n; n--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

void *memchr(const void *in, int c, size_t n)
{
	for (const unsigned char *s = in; n--; s++)
		if (*s == (unsigned char)c)
			return (void *)s;
	return NULL;
}

void *memrchr(const void *in, int c, size_t n)
{
	const unsigned char *s = in;

	while (n--)
		if (s[n] == (unsigned char)c)
			return (void *)(s + n);
	return NULL;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	while (*a == *b && *a)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

/* Of ASCII alone: only names of hosts are compared so. */
int strcasecmp(const char *a, const char *b)
{
	unsigned char x, y;

	do {
		x = (unsigned char)*a++, y = (unsigned char)*b++;
		x |= x >= 'A' && x <= 'Z' ? 0x20 : 0;
		y |= y >= 'A' && y <= 'Z' ? 0x20 : 0;
	} while (x == y && x);
	return x - y;
}

char *strchr(const char *s, int c)
{
	while (*s != (char)c)
		if (!*s++)
			return NULL;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	return memrchr(s, c, strlen(s) + 1);
}

size_t strcspn(const char *s, const char *none)
{
	size_t n = 0;

	while (s[n] && !strchr(none, s[n]))
		n++;
	return n;
}

size_t strspn(const char *s, const char *all)
{
	size_t n = 0;

	while (s[n] && strchr(all, s[n]))
		n++;
	return n;
}

char *strstr(const char *s, const char *part)
{
	size_t n = strlen(part);

	for (; strncmp(s, part, n) != 0; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *strcpy(char *ret, const char *src)
{
	return memcpy(ret, src, strlen(src) + 1);
}
