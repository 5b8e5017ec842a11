/* Removes secrets from texts; see mask.h. */
#include "mask.h"

#include <unistd.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "policy/record/secret.h"

#define VALUES_MAX (256u << 10)
#define PREFIX_MIN 6 /* a value that the text's end cuts off is masked from this length on */

static bool find_value(const struct mask *m, const char *text, size_t len, size_t i, struct secret_hit *ret)
{
	const char *p = text + i;
	size_t left = len - i;

	for (uint16_t k = m->first[(unsigned char)*p]; k != 0; k = m->value[k - 1].next) {
		const struct mask_value *v = &m->value[k - 1];
		size_t n = v->len < left ? v->len : left;

		if ((n == v->len || n >= PREFIX_MIN) && memcmp(p, v->bytes, n) == 0) {
			*ret = (struct secret_hit){ i, n };
			return true;
		}
	}
	return false;
}

static bool is_start(const struct mask *m, const char *p)
{
	unsigned pair = (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];

	return m->pairs[pair / 64] >> pair % 64 & 1;
}

/* The next secret from i on: a value, or what `at` finds. */
static bool find_next(const struct mask *m, const char *text, size_t len, size_t i, struct secret_hit *ret,
		      bool (*at)(const char *text, size_t len, size_t i, struct secret_hit *ret))
{
	for (; i + 1 < len; i++)
		if (is_start(m, text + i) && (find_value(m, text, len, i, ret) || at(text, len, i, ret)))
			return true;
	return false;
}

bool mask_is_clean(const struct mask *m, const char *text, size_t len)
{
	struct secret_hit hit;

	return !m || !find_next(m, text, len, 0, &hit, secret_at);
}

static size_t mask_found(const struct mask *m, char *text, size_t len,
			 bool (*at)(const char *text, size_t len, size_t i, struct secret_hit *ret))
{
	struct secret_hit hit;
	size_t i = 0;

	while (m && find_next(m, text, len, i, &hit, at)) {
		size_t stars = hit.len < 3 ? hit.len : 3, behind = hit.at + hit.len;

		memset(text + hit.at, '*', stars);
		memmove(text + hit.at + stars, text + behind, len - behind);
		len -= hit.len - stars;
		i = hit.at + stars;
	}
	return len;
}

size_t mask_text(const struct mask *m, char *text, size_t len)
{
	return mask_found(m, text, len, secret_at);
}

size_t mask_target(const struct mask *m, char *text, size_t len)
{
	return mask_found(m, text, len, secret_in_url);
}

/* --- what is searched for --- */

static void add_pair(struct mask *m, unsigned char a, unsigned char b)
{
	unsigned pair = (unsigned)a << 8 | b;

	m->pairs[pair / 64] |= 1ull << pair % 64;
}

static void add_lead(void *ctx, const char *lead, bool any_case)
{
	struct mask *m = ctx;
	const unsigned char a = (unsigned char)lead[0], b = (unsigned char)lead[1];

	add_pair(m, a, b);
	if (!any_case)
		return;
	add_pair(m, (unsigned char)toupper(a), b);
	add_pair(m, a, (unsigned char)toupper(b));
	add_pair(m, (unsigned char)toupper(a), (unsigned char)toupper(b));
}

void mask_init(struct mask *m)
{
	memset(m, 0, sizeof(*m));
	secret_leads(add_lead, m);
}

static void add_value(struct mask *m, const char *bytes, size_t len)
{
	struct mask_value *v = &m->value[m->n];
	uint16_t *link = &m->first[(unsigned char)bytes[0]];

	if (len < MASK_VALUE_MIN || len > UINT16_MAX || m->n == MASK_VALUES_MAX)
		return;
	/* Longer values first: a value may be the beginning of another. */
	while (*link && m->value[*link - 1].len > len)
		link = &m->value[*link - 1].next;
	*v = (struct mask_value){ .bytes = bytes, .len = (uint16_t)len, .next = *link };
	*link = (uint16_t)++m->n;
	add_pair(m, (unsigned char)bytes[0], (unsigned char)bytes[1]);
}

int mask_learn(struct mask *m, int fd)
{
	struct stat st;
	size_t size;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > (off_t)VALUES_MAX)
		return -EINVAL;
	size = (size_t)st.st_size;
	m->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->bytes == MAP_FAILED) {
		m->bytes = NULL;
		return -ENOMEM;
	}
	m->size = size;
	(void)madvise(m->bytes, size, MADV_DONTDUMP);
	(void)mlock(m->bytes, size);
	if (pread(fd, m->bytes, size, 0) != (ssize_t)size || m->bytes[size - 1] != '\0')
		return -EINVAL;
	for (size_t at = 0; at < size; at += strlen(m->bytes + at) + 1)
		add_value(m, m->bytes + at, strlen(m->bytes + at));
	return 0;
}

void mask_done(struct mask *m)
{
	if (!m->bytes)
		return;
	explicit_bzero(m->bytes, m->size);
	(void)munmap(m->bytes, m->size);
	mask_init(m);
}
