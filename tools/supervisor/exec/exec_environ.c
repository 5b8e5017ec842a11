/*
 * The loader of glibc (2.26 to 2.38) writes into the environment that the kernel gave it: where an item of
 * GLIBC_TUNABLES names a tunable, the colon after it becomes a NUL (parse_tunables() in elf/dl-tunables.c). A
 * program that is looked at later has that environment, and an honest one must not be taken for a changed
 * one.
 *
 * So a colon or a NUL between two items of GLIBC_TUNABLES counts as the same.  An item is empty or begins
 * with "glibc.", the name of no variable that means anything: nothing else may come in or be lost in this
 * way.
 */
#include "exec_environ.h"

#include <string.h>

static const char variable[] = "GLIBC_TUNABLES=", item[] = "glibc.";

#define NOT_HERE sizeof(variable) /* until the next entry */

static void hash(struct environ_sum *e, const char *bytes, size_t len)
{
	crypto_generichash_update(&e->hash, (const unsigned char *)bytes, len);
}

void environ_sum_begin(struct environ_sum *e)
{
	*e = (struct environ_sum){ 0 };
	crypto_generichash_init(&e->hash, NULL, 0, sizeof(struct exec_sum));
}

/* Any entries up to the value of that variable: how many bytes were taken. */
static size_t add_entries(struct environ_sum *e, const char *b, size_t len)
{
	size_t n = 0;

	while (n < len && !e->in_tunables) {
		if (b[n] == '\0')
			e->at = 0;
		else
			e->at = e->at < NOT_HERE && b[n] == variable[e->at] ? e->at + 1 : NOT_HERE;
		e->in_tunables = e->at == sizeof(variable) - 1;
		n++;
	}
	hash(e, b, n);
	return n;
}

/* The rest of an item, and the separator after it. */
static size_t add_item(struct environ_sum *e, const char *b, size_t len)
{
	size_t n = 0;

	while (n < len && b[n] != ':' && b[n] != '\0')
		n++;
	hash(e, b, n);
	if (n == len)
		return n;
	e->holds = true;
	e->separator = b[n];
	e->at = 0;
	return n + 1;
}

static void release(struct environ_sum *e, char separator)
{
	hash(e, &separator, 1);
	hash(e, item, e->at);
	e->holds = false;
}

/* The byte after a separator, or after the beginning of an item: 0 where it is neither, but another entry. */
static size_t add_beginning(struct environ_sum *e, char c)
{
	if (c == item[e->at]) {
		e->at++;
		if (e->at == sizeof(item) - 1)
			release(e, '\0');
		return 1;
	}
	if (e->at == 0 && (c == ':' || c == '\0')) {
		release(e, '\0');
		e->holds = true;
		e->separator = c;
		return 1;
	}
	release(e, e->separator);
	e->in_tunables = false;
	e->at = e->separator == '\0' && e->at == 0 ? 0 : NOT_HERE;
	return 0;
}

void environ_sum_add(struct environ_sum *e, const char *b, size_t len)
{
	for (size_t i = 0; i < len;) {
		if (!e->in_tunables)
			i += add_entries(e, b + i, len - i);
		else if (!e->holds)
			i += add_item(e, b + i, len - i);
		else
			i += add_beginning(e, b[i]);
	}
}

struct exec_sum environ_sum_end(struct environ_sum *e)
{
	struct exec_sum ret;

	if (e->holds)
		release(e, e->separator);
	crypto_generichash_final(&e->hash, ret.bytes, sizeof(ret.bytes));
	return ret;
}
