/*
 * Two texts by lines: the longest common subsequence of what is left between equal beginnings and ends.
 */
#include <stdint.h>
#include <string.h>

#include "edit.h"

#define CELLS_MAX (4u << 20) /* 8 MiB; beyond, the middle of one text takes the place of the other's */

struct line {
	const char *at;
	size_t len; /* without its newline */
};

struct text {
	struct line *lines;
	size_t n;
};

/* Owned by the caller; on ENOMEM and of no text: no lines. */
static struct text split(const char *s, size_t len)
{
	struct text t = { 0 };
	size_t cap = 0;

	for (const char *at = s, *end = s ? s + len : NULL; at < end;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		if (t.n == cap) {
			struct line *grown = realloc(t.lines, (cap = cap ? cap * 2 : 64) * sizeof(*grown));

			if (!grown)
				break;
			t.lines = grown;
		}
		t.lines[t.n++] = (struct line){ at, (size_t)(stop - at) };
		at = nl ? nl + 1 : end;
	}
	return t;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

struct compare {
	struct text old, new;
	size_t head, tail; /* lines that both begin and end with */
	line_fn *fn;
	void *ctx;
};

static void tell_new(const struct compare *c, char mark, size_t i)
{
	c->fn(c->ctx, mark, (unsigned)i + 1, c->new.lines[i].at, c->new.lines[i].len);
}

static void tell_old(const struct compare *c, size_t i)
{
	c->fn(c->ctx, '-', 0, c->old.lines[i].at, c->old.lines[i].len);
}

static void trim(struct compare *c)
{
	size_t least = c->old.n < c->new.n ? c->old.n : c->new.n;

	while (c->head < least && same(&c->old.lines[c->head], &c->new.lines[c->head]))
		c->head++;
	while (c->tail < least - c->head &&
	       same(&c->old.lines[c->old.n - c->tail - 1], &c->new.lines[c->new.n - c->tail - 1]))
		c->tail++;
}

/* Length of the longest common subsequence of old[i..] and new[j..], at (n + 1) * i + j. */
static uint16_t *lengths(const struct compare *c, size_t m, size_t n)
{
	uint16_t *t = NULL;

	if (m < UINT16_MAX && n < UINT16_MAX && (m + 1) * (n + 1) <= CELLS_MAX)
		t = calloc((m + 1) * (n + 1), sizeof(*t));
	for (size_t i = m; t && i-- > 0;) {
		for (size_t j = n; j-- > 0;) {
			const uint16_t *below = t + (i + 1) * (n + 1), *row = t + i * (n + 1);
			bool eq = same(&c->old.lines[c->head + i], &c->new.lines[c->head + j]);

			t[i * (n + 1) + j] = eq			     ? (uint16_t)(below[j + 1] + 1)
					     : below[j] > row[j + 1] ? below[j]
								     : row[j + 1];
		}
	}
	return t;
}

/* What is gone before what is new. */
static void middle(const struct compare *c)
{
	size_t m = c->old.n - c->head - c->tail, n = c->new.n - c->head - c->tail, i = 0, j = 0;
	_cleanup_free_ uint16_t *t = lengths(c, m, n);

	while (i < m || j < n) {
		if (t && i < m && j < n && same(&c->old.lines[c->head + i], &c->new.lines[c->head + j])) {
			tell_new(c, ' ', c->head + j);
			i++;
			j++;
		} else if (i < m && (!t || j == n || t[(i + 1) * (n + 1) + j] >= t[i * (n + 1) + j + 1])) {
			tell_old(c, c->head + i++);
		} else {
			tell_new(c, '+', c->head + j++);
		}
	}
}

void lines_compare(const char *old, size_t old_len, const char *new, size_t new_len, line_fn *fn, void *ctx)
{
	struct compare c = { split(old, old_len), split(new, new_len), 0, 0, fn, ctx };

	if (old) {
		trim(&c);
		for (size_t i = 0; i < c.head; i++)
			tell_new(&c, ' ', i);
		middle(&c);
	} else {
		c.tail = c.new.n;
	}
	for (size_t i = c.new.n - c.tail; i < c.new.n; i++)
		tell_new(&c, ' ', i);
	free(c.old.lines);
	free(c.new.lines);
}
